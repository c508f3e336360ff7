// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "http_url.hpp"

#include <cogwheel/detail/constant_name.hpp>
#include <cogwheel/durable/http_callback.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

namespace {

constexpr std::size_t max_task_body = std::size_t{512} << 10; // durable_task::max_body

// The largest request, encoded, is a task's body.
static_assert(http_callback::max_body + http_callback::max_url + http_callback::max_header_bytes +
                  http_callback::max_content_type + 5 * (4 + 2 * http_callback::max_headers) + 16 <=
              max_task_body);

constexpr std::string_view magic = "cwh\x01"; // the last byte is the version

constexpr char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }
constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) noexcept { return lower(c) >= 'a' && lower(c) <= 'z'; }
constexpr bool is_hex(char c) noexcept { return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f'); }

bool all_of(std::string_view text, bool (*f)(char) noexcept) noexcept {
    return std::all_of(text.begin(), text.end(), f);
}

bool is_token(std::string_view text) noexcept {
    return !text.empty() && all_of(text, [](char c) noexcept {
        return is_digit(c) || is_letter(c) || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
    });
}

// RFC 9110: visible characters, spaces, tabs, and bytes above 0x7f.
bool is_field_value(std::string_view text) noexcept {
    return all_of(text,
                  [](char c) noexcept { return (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) || c == '\t'; });
}

bool same_name(std::string_view a, std::string_view lower_case) noexcept {
    return std::equal(a.begin(), a.end(), lower_case.begin(), lower_case.end(),
                      [](char x, char y) { return lower(x) == y; });
}

bool is_reserved(std::string_view name) noexcept {
    constexpr std::array<std::string_view, 14> names{
        "traceparent", "content-type",      "content-length",   "user-agent",    "host",
        "connection",  "transfer-encoding", "expect",           "upgrade",       "te",
        "trailer",     "keep-alive",        "proxy-connection", "http2-settings"};
    for (const std::string_view prefix : {"webhook-", "cogwheel-"})
        if (same_name(name.substr(0, prefix.size()), prefix)) return true;
    return std::any_of(names.begin(), names.end(), [&](std::string_view n) { return same_name(name, n); });
}

void add_number(std::string& to, std::size_t n) {
    for (; n >= 0x80; n >>= 7) to += static_cast<char>(0x80 | (n & 0x7f));
    to += static_cast<char>(n);
}

void add_text(std::string& to, std::string_view text) {
    add_number(to, text.size());
    to += text;
}

/// Takes fields from the front; after a mistake, `good` is false and all fields are empty.
class byte_reader {
public:
    explicit byte_reader(std::string_view bytes) : rest_(bytes) {}

    std::size_t number() {
        std::size_t n = 0;
        for (int shift = 0; shift < 28; shift += 7) {
            if (rest_.empty()) break;
            const auto byte = static_cast<unsigned char>(rest_.front());
            rest_.remove_prefix(1);
            n |= std::size_t{byte & 0x7fU} << shift;
            if (byte < 0x80) {
                if (byte == 0 && shift != 0) break; // one number has one form
                return n;
            }
        }
        good_ = false;
        rest_ = {};
        return 0;
    }
    std::string text(std::size_t most) {
        const std::size_t size = number();
        if (size > most || size > rest_.size()) {
            good_ = false;
            rest_ = {};
            return {};
        }
        std::string found(rest_.substr(0, size));
        rest_.remove_prefix(size);
        return found;
    }
    bool good() const noexcept { return good_; }
    bool ended() const noexcept { return good_ && rest_.empty(); }

private:
    std::string_view rest_;
    bool good_ = true;
};

} // namespace

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

error_code http_url::parse(std::string_view text) noexcept {
    if (text.empty() || text.size() > http_callback::max_url) return callback_errc::bad_url;
    if (!all_of(text, [](char c) noexcept { return c > ' ' && c <= '~'; })) return callback_errc::bad_url;
    const std::size_t colon = text.find("://");
    if (colon == text.npos) return callback_errc::bad_scheme;
    if (!same_name(text.substr(0, colon), "http") && !same_name(text.substr(0, colon), "https"))
        return callback_errc::bad_scheme;
    secure = colon == 5;
    text.remove_prefix(colon + 3);
    if (text.find_first_of("\\#\"<>^`{|}") != text.npos) return callback_errc::bad_url;
    std::string_view rest = text.substr(0, text.find_first_of("/?"));
    if (rest.starts_with('[')) {
        const std::size_t end = rest.find(']');
        if (end == rest.npos) return callback_errc::bad_url;
        host = rest.substr(1, end - 1);
        rest.remove_prefix(end + 1);
        if (!all_of(host, [](char c) noexcept { return is_hex(c) || c == ':' || c == '.'; }) ||
            host.find(':') == host.npos)
            return callback_errc::bad_url;
    } else {
        host = rest.substr(0, rest.find(':'));
        rest.remove_prefix(host.size());
        if (!all_of(host,
                    [](char c) noexcept { return is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '_'; }) ||
            host.starts_with('.'))
            return callback_errc::bad_url;
    }
    if (host.empty() || host.size() > 253) return callback_errc::bad_url;
    port = {};
    if (rest.empty()) return {};
    port = rest.substr(1);
    unsigned number = 0;
    const auto [stopped, error] = std::from_chars(port.data(), port.data() + port.size(), number);
    const bool right = rest.front() == ':' && error == std::errc() && stopped == port.data() + port.size() &&
                       number >= 1 && number <= 65'535;
    return right ? error_code() : callback_errc::bad_url;
}

std::string http_url::origin() const {
    std::string text = secure ? "https://" : "http://";
    const bool brackets = host.find(':') != host.npos;
    if (brackets) text += '[';
    std::transform(host.begin(), host.end(), std::back_inserter(text), lower);
    if (brackets) text += ']';
    text += ':';
    if (port.empty()) return text += secure ? "443" : "80";
    return text += port.substr(std::min(port.find_first_not_of('0'), port.size()));
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

error_code http_callback::check() const noexcept {
    detail::http_url parsed;
    if (const auto ec = parsed.parse(url)) return ec;
    constexpr std::array<std::string_view, 5> methods{"POST", "GET", "PUT", "PATCH", "DELETE"};
    if (std::find(methods.begin(), methods.end(), method) == methods.end()) return callback_errc::bad_method;
    std::size_t bytes = 0;
    for (const auto& [name, value] : headers) {
        if (!is_token(name) || !is_field_value(value)) return callback_errc::bad_header;
        if (is_reserved(name)) return callback_errc::reserved_header;
        bytes += name.size() + value.size();
    }
    if (headers.size() > max_headers || bytes > max_header_bytes) return callback_errc::too_many_headers;
    if (content_type.size() > max_content_type || !is_field_value(content_type)) return callback_errc::bad_content_type;
    if (body.size() > max_body || (!body.empty() && method == "GET")) return callback_errc::bad_body;
    return {};
}

std::string http_callback::encode() const {
    std::string to(magic);
    to.reserve(url.size() + body.size() + 64);
    add_text(to, method);
    add_text(to, url);
    add_text(to, content_type);
    add_number(to, headers.size());
    for (const auto& [name, value] : headers) {
        add_text(to, name);
        add_text(to, value);
    }
    add_text(to, body);
    return to;
}

std::optional<http_callback> http_callback::decode(std::string_view bytes) {
    if (!bytes.starts_with(magic)) return std::nullopt;
    byte_reader reader(bytes.substr(magic.size()));
    http_callback call;
    call.method = reader.text(8);
    call.url = reader.text(max_url);
    call.content_type = reader.text(max_content_type);
    const std::size_t count = reader.number();
    if (!reader.good() || count > max_headers) return std::nullopt;
    for (std::size_t i = 0; i < count && reader.good(); ++i) {
        std::string name = reader.text(max_header_bytes);
        std::string value = reader.text(max_header_bytes);
        call.headers.emplace_back(std::move(name), std::move(value));
    }
    call.body = reader.text(max_body);
    if (!reader.ended() || call.check()) return std::nullopt;
    return call;
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

std::string origin_of_encoded(std::string_view bytes) {
    if (!bytes.starts_with(magic)) return {};
    byte_reader reader(bytes.substr(magic.size()));
    reader.text(8); // the method
    const std::string url = reader.text(http_callback::max_url);
    http_url parsed;
    return parsed.parse(url) ? std::string() : parsed.origin();
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

std::string_view to_string(callback_outcome outcome) noexcept {
    return detail::constant_name(outcome, {"succeeded", "failed for good", "try again"});
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
