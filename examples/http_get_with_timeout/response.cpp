// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Strict where a guess would change where the body ends.

#include "response.hpp"

#include <algorithm>
#include <charconv>

namespace http {
namespace {

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
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

response parse_status(std::string_view line) {
    const std::string_view version = next(line, " "), status = next(line, " ");
    if (!version.starts_with("HTTP/1.") || status.size() != 3) throw bad_response{"this is not HTTP/1.1"};
    response answer;
    answer.status = static_cast<int>(number(status, 10, "status"));
    answer.reason = line;
    return answer;
}

} // namespace

response parse_head(std::string_view text) {
    response answer = parse_status(next(text, "\r\n"));
    for (std::string_view line = next(text, "\r\n"); !line.empty(); line = next(text, "\r\n")) {
        const std::string_view name = next(line, ":"), value = trimmed(line);
        if (same(name, "content-length")) {
            const std::uint64_t length = number(value, 10, "length");
            if (answer.length.value_or(length) != length) throw bad_response{"it has two lengths"};
            answer.length = length;
        } else if (same(name, "transfer-encoding")) {
            if (!same(value, "chunked")) throw bad_response{"its encoding is none that was asked for"};
            answer.chunked = true;
        }
    }
    if (answer.status == 204 || answer.status == 304) { // never have a body
        answer.length = 0;
        answer.chunked = false;
    }
    return answer;
}

std::uint64_t parse_chunk_size(std::string_view line) { return number(trimmed(next(line, ";")), 16, "chunk's size"); }

} // namespace http
