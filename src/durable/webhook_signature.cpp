// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "../detail/errc_category.hpp"

#include <cogwheel/durable/webhook_signature.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <stdexcept>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

namespace {

constexpr std::string_view secret_prefix = "whsec_", version_prefix = "v1,";
constexpr std::size_t digest_bytes = 32;
using digest = std::array<unsigned char, digest_bytes>;

const char* words_of_webhook(int code) noexcept {
    switch (static_cast<webhook_errc>(code)) {
    case webhook_errc::no_key:
        return "there is no key to verify the webhook with";
    case webhook_errc::bad_id:
        return "webhook-id is missing, too long, or has a character that it must not have";
    case webhook_errc::bad_timestamp:
        return "webhook-timestamp is not a number of seconds since 1970";
    case webhook_errc::too_old:
        return "webhook-timestamp is too far in the past";
    case webhook_errc::too_new:
        return "webhook-timestamp is too far in the future";
    case webhook_errc::no_signature:
        return "webhook-signature has no signature of the version v1";
    case webhook_errc::wrong_signature:
        return "webhook-signature does not belong to this message and this key";
    }
    return nullptr;
}

std::string base64(const unsigned char* bytes, std::size_t size) {
    std::string text(4 * ((size + 2) / 3) + 1, '\0'); // OpenSSL ends it with a zero
    const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes, static_cast<int>(size));
    text.resize(static_cast<std::size_t>(length));
    return text;
}

int base64_value(char c) noexcept {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

// Strict: EVP_DecodeBlock also takes spaces, and does not tell how many bytes the padding stands for.
std::optional<std::vector<unsigned char>> from_base64(std::string_view text) {
    if (text.size() % 4 != 0) return std::nullopt;
    std::size_t padding = 0;
    while (padding < 2 && text.ends_with('=')) {
        text.remove_suffix(1);
        ++padding;
    }
    std::vector<unsigned char> bytes;
    bytes.reserve(text.size() * 3 / 4);
    std::uint32_t bits = 0;
    int count = 0;
    for (const char c : text) {
        const int value = base64_value(c);
        if (value < 0) return std::nullopt;
        bits = (bits << 6) | static_cast<std::uint32_t>(value);
        count += 6;
        if (count < 8) continue;
        count -= 8;
        bytes.push_back(static_cast<unsigned char>(bits >> count));
        bits &= (1U << count) - 1;
    }
    if (bits != 0) return std::nullopt; // two texts for the same bytes
    return bytes;
}

digest hmac(const std::vector<unsigned char>& secret, std::string_view id, std::string_view timestamp,
            std::string_view body) {
    std::string message;
    message.reserve(id.size() + timestamp.size() + body.size() + 2);
    message.append(id).append(1, '.').append(timestamp).append(1, '.').append(body);
    digest result{};
    unsigned int size = 0;
    if (HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
             reinterpret_cast<const unsigned char*>(message.data()), message.size(), result.data(), &size) == nullptr ||
        size != digest_bytes)
        throw std::runtime_error("cogwheel::webhook_key: OpenSSL has no HMAC-SHA256");
    return result;
}

error_code check_time(std::string_view text, std::chrono::system_clock::time_point now, std::chrono::seconds tolerance,
                      std::int64_t& seconds) {
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    // Below the year 10,000, so that the difference of two times does not overflow. "01" and "1" would be two messages.
    if (error != std::errc() || rest != text.data() + text.size() || seconds < 0 || seconds > 253'402'300'799 ||
        std::to_string(seconds) != text)
        return webhook_errc::bad_timestamp;
    const std::chrono::seconds away =
        std::chrono::sys_seconds(std::chrono::seconds(seconds)) - std::chrono::floor<std::chrono::seconds>(now);
    if (away < -tolerance) return webhook_errc::too_old;
    return away > tolerance ? webhook_errc::too_new : error_code();
}

// Whether receivers may read what follows a full stop of the id as the timestamp of "id.timestamp.body". They read
// numbers as from_chars, parseInt or float() do; "17e8" and "1_700_000_000" are some. One of up to eight digits is a
// time before 1974, which all refuse.
bool begins_a_time(std::string_view rest) noexcept {
    if (rest.starts_with('+')) return true;
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    return digits > 8 ||
           (digits > 0 && digits < rest.size() && std::string_view("eExX_").find(rest[digits]) != rest.npos);
}

// As webhook_safe() makes it, or as other senders do.
bool is_id(std::string_view text) noexcept {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte < 0x20 || byte == 0x7f || (byte == '.' && begins_a_time(text.substr(i + 1)))) return false;
    }
    return !text.empty() && text.size() <= webhook_headers::max_id;
}

std::string signature_of(const digest& d) { return std::string(version_prefix) + base64(d.data(), d.size()); }

} // namespace

const detail::sys::error_category& webhook_category() noexcept {
    static const detail::errc_category category("cogwheel.webhook", words_of_webhook);
    return category;
}

webhook_key::webhook_key(std::span<const std::byte> secret) {
    if (secret.size() < min_bytes || secret.size() > max_bytes)
        throw std::invalid_argument("cogwheel::webhook_key: the secret has " + std::to_string(secret.size()) +
                                    " bytes, but must have 24 to 64; take 32 random ones");
    const auto* first = reinterpret_cast<const unsigned char*>(secret.data());
    secret_.assign(first, first + secret.size());
}

webhook_key webhook_key::from_text(std::string_view text) {
    if (text.starts_with(secret_prefix)) text.remove_prefix(secret_prefix.size());
    auto bytes = from_base64(text);
    if (!bytes)
        throw std::invalid_argument(
            "cogwheel::webhook_key: the text is not base64; write whsec_ and the base64 of 24 to "
            "64 bytes, as of: openssl rand -base64 32");
    webhook_key key{std::as_bytes(std::span(*bytes))};
    OPENSSL_cleanse(bytes->data(), bytes->size());
    return key;
}

webhook_key& webhook_key::operator=(const webhook_key& other) {
    if (this != &other) *this = webhook_key(other);
    return *this;
}

webhook_key& webhook_key::operator=(webhook_key&& other) noexcept {
    if (this != &other) {
        wipe();
        secret_ = std::move(other.secret_);
    }
    return *this;
}

void webhook_key::wipe() noexcept {
    if (!secret_.empty()) OPENSSL_cleanse(secret_.data(), secret_.size());
}

std::string webhook_key::text() const { return std::string(secret_prefix) + base64(secret_.data(), secret_.size()); }

std::string webhook_key::sign(std::string_view id, std::int64_t timestamp, std::string_view body) const {
    return signature_of(hmac(secret_, id, std::to_string(timestamp), body));
}

error_code verify_webhook(std::span<const webhook_key> keys, const webhook_headers& headers, std::string_view body,
                          std::chrono::system_clock::time_point now, std::chrono::seconds tolerance) {
    if (keys.empty()) return webhook_errc::no_key;
    if (!is_id(headers.id)) return webhook_errc::bad_id;
    std::int64_t seconds = 0;
    if (const auto ec = check_time(headers.timestamp, now, tolerance, seconds)) return ec;

    std::vector<std::string_view> signatures;
    for (std::string_view rest = headers.signature;
         !rest.empty() && signatures.size() < webhook_headers::max_signatures;) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        if (rest.starts_with(version_prefix)) signatures.push_back(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (signatures.empty()) return webhook_errc::no_signature;
    bool found = false;
    for (const webhook_key& key : keys) {
        const std::string right = key.sign(headers.id, seconds, body);
        for (const std::string_view s : signatures)
            found |= s.size() == right.size() && CRYPTO_memcmp(s.data(), right.data(), right.size()) == 0;
    }
    return found ? error_code() : webhook_errc::wrong_signature;
}

std::string webhook_safe(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string text;
    text.reserve(bytes.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const auto byte = static_cast<unsigned char>(bytes[i]);
        if (byte > 0x20 && byte < 0x7f && byte != '%' && (byte != '.' || !begins_a_time(bytes.substr(i + 1))))
            text += bytes[i];
        else
            text.append(1, '%').append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
    }
    return text;
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
