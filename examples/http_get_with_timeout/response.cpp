// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Strict where a guess would change where the body ends.

#include "response.hpp"

#include <algorithm>
#include <charconv>

namespace http {
namespace {

// Also of the breaks of a folded line.
std::string_view trimmed(std::string_view text) {
    constexpr std::string_view space = " \t\r\n";
    const auto first = text.find_first_not_of(space);
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(space) + 1 - first);
}

bool same(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return std::ranges::equal(a, b, {}, lower, lower);
}

std::uint64_t number(std::string_view text, int base, const char* what) {
    std::uint64_t value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{} || rest != text.data() + text.size())
        throw bad_response{"its " + std::string{what} + " is '" + std::string{text.substr(0, 40)} + "'"};
    return value;
}

// Splits off the text before `delimiter`, which goes, too.
std::string_view next(std::string_view& text, std::string_view delimiter) {
    const auto end = std::min(text.find(delimiter), text.size());
    const auto part = text.substr(0, end);
    text.remove_prefix(std::min(end + delimiter.size(), text.size()));
    return part;
}

// A line, and those that continue it: they begin with a space.
std::string_view next_field(std::string_view& text) {
    std::size_t end = text.find("\r\n");
    while (end != 0 && end != text.npos &&
           (text.substr(end).starts_with("\r\n ") || text.substr(end).starts_with("\r\n\t")))
        end = text.find("\r\n", end + 2);
    const auto field = text.substr(0, end);
    text.remove_prefix(std::min(field.size() + 2, text.size()));
    return field;
}

// The name of a field is a token (RFC 9110, 5.6.2). "Content-Length : 5" is none: what one reader takes for the length,
// another one does not.
bool is_token(std::string_view name) {
    return !name.empty() && std::ranges::all_of(name, [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
               std::string_view{"!#$%&'*+-.^_`|~"}.find(c) != std::string_view::npos;
    });
}

// A break that is not that of a line, which others may take for one; but for those of a folded line.
bool has_stray_break(std::string_view text) {
    using namespace std::string_view_literals;
    for (auto at = text.find_first_of("\r\n\0"sv); at != text.npos; at = text.find_first_of("\r\n\0"sv, at + 2))
        if (!text.substr(at).starts_with("\r\n")) return true;
    return false;
}

response parse_status(std::string_view line, std::string_view& version) {
    version = next(line, " ");
    const std::string_view status = next(line, " ");
    if (has_stray_break(line)) throw bad_response{"its first line has a break within"};
    if ((version != "HTTP/1.1" && version != "HTTP/1.0") || status.size() != 3)
        throw bad_response{"this is not HTTP/1.1"};
    response answer;
    answer.status = static_cast<int>(number(status, 10, "status"));
    if (answer.status < 100) throw bad_response{"its status is below 100"};
    answer.reason = line;
    return answer;
}

} // namespace

response parse_head(std::string_view text) {
    std::string_view version;
    response answer = parse_status(next(text, "\r\n"), version);
    for (std::string_view field = next_field(text); !field.empty(); field = next_field(text)) {
        if (has_stray_break(field)) throw bad_response{"a line of its header has a break within"};
        const bool has_value = field.find(':') != field.npos;
        const std::string_view name = next(field, ":"), value = trimmed(field);
        if (!has_value || !is_token(name)) throw bad_response{"a line of its header is no field"};
        if (same(name, "content-length")) {
            if (answer.length) throw bad_response{"it has two lengths"};
            answer.length = number(value, 10, "length");
        } else if (same(name, "transfer-encoding")) {
            if (answer.chunked || !same(value, "chunked"))
                throw bad_response{"its encoding is none that was asked for"};
            answer.chunked = true;
        }
    }
    // Where two readers can disagree, the end of the body is a matter of luck (RFC 9112, 6.1 and 6.3).
    if (answer.chunked && answer.length) throw bad_response{"it has chunks and a length"};
    if (answer.chunked && version == "HTTP/1.0") throw bad_response{"HTTP/1.0 has no chunks"};
    if (answer.status == 204 || answer.status == 304) { // never have a body
        answer.length = 0;
        answer.chunked = false;
    }
    return answer;
}

std::uint64_t parse_chunk_size(std::string_view line) {
    if (has_stray_break(line)) throw bad_response{"the line before a chunk has a break within"};
    const std::string_view size = next(line, ";");
    return number(size.substr(0, size.find_last_not_of(" \t") + 1), 16, "chunk's size");
}

} // namespace http
