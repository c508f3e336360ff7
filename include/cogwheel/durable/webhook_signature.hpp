// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Signs and verifies HTTP callbacks as Standard Webhooks 1.0 says (standardwebhooks.com). The sender and the receiver
// share a secret. Three headers carry the proof:
//
//     webhook-id         the same each time a task is tried; the receiver drops repetitions by it
//     webhook-timestamp  seconds since 1970, when this attempt was sent
//     webhook-signature  "v1," and base64 of HMAC-SHA256 over "id.timestamp.body"; several, with spaces between them
//
// A receiver:
//
//     const auto key = cogwheel::webhook_key::from_text("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
//     if (auto ec = cogwheel::verify_webhook({&key, 1}, {.id = id, .timestamp = ts, .signature = s}, body, now))
//         return answer(401, ec.message());
//
// To change a secret, let the receiver accept both keys, then let the sender sign with the new one, or with both.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Why a webhook is refused.
enum class webhook_errc {
    no_key = 1,      ///< the caller has given no key
    bad_id,          ///< the id is missing or too long, or has a control character, or is ambiguous (webhook_safe())
    bad_timestamp,   ///< the timestamp is not a number of seconds
    too_old,         ///< the timestamp is further in the past than the tolerance: a repetition by an attacker, perhaps
    too_new,         ///< the timestamp is further in the future than the tolerance: a clock is wrong
    no_signature,    ///< there is no signature of the version v1
    wrong_signature, ///< no signature belongs to these keys, this id, this timestamp and this body
};

/// Returns the category "cogwheel.webhook". Thread safety: any thread.
const detail::sys::error_category& webhook_category() noexcept;

inline error_code make_error_code(webhook_errc e) noexcept { return {static_cast<int>(e), webhook_category()}; }

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

template <>
struct cogwheel::detail::sys::is_error_code_enum<cogwheel::webhook_errc> : std::true_type {};

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// A secret that a sender and a receiver share.
/// Thread safety: as a value. The memory is overwritten with zeros when the key is destroyed.
class webhook_key {
public:
    static constexpr std::size_t min_bytes = 24, max_bytes = 64;

    /// Makes a key from random bytes. Errors: std::invalid_argument: fewer than min_bytes or more than max_bytes.
    explicit webhook_key(std::span<const std::byte> secret);

    /// Makes a key from "whsec_" and the base64 of the secret. The prefix may be missing.
    /// Errors: std::invalid_argument, which says what is wrong but does not show the secret.
    static webhook_key from_text(std::string_view text);

    webhook_key(const webhook_key&) = default;
    webhook_key(webhook_key&&) noexcept = default;
    webhook_key& operator=(const webhook_key& other);
    webhook_key& operator=(webhook_key&& other) noexcept;
    ~webhook_key() { wipe(); }

    /// Returns "whsec_" and base64: for a configuration file.
    std::string text() const;

    /// Returns "v1," and base64 of the HMAC. Preconditions: the id is webhook_safe(), or the receiver refuses it.
    /// Complexity: O(size of the body). Errors: std::bad_alloc.
    std::string sign(std::string_view id, std::int64_t timestamp, std::string_view body) const;

private:
    webhook_key() = default;
    void wipe() noexcept;

    std::vector<unsigned char> secret_; // a string could keep short secrets in a place that a move does not wipe
};

/// The values of the three headers.
struct webhook_headers {
    static constexpr std::size_t max_id = 2048;       ///< bytes
    static constexpr std::size_t max_signatures = 16; ///< of the version v1; further ones are not looked at
    std::string_view id;
    std::string_view timestamp;
    std::string_view signature;
};

/// Checks a webhook. Returns success or a webhook_errc.
/// Parameters: `keys`: one of them must have signed it. `now`: the receiver's clock. `tolerance`: how far the timestamp
///   may be from now, in either direction.
/// Effects: compares signatures in constant time. Looks at the signature last: so a caller without the key learns
///   nothing of it.
/// Complexity: O(size of the body x keys). Errors: std::bad_alloc. Thread safety: any thread.
error_code verify_webhook(std::span<const webhook_key> keys, const webhook_headers& headers, std::string_view body,
                          std::chrono::system_clock::time_point now,
                          std::chrono::seconds tolerance = std::chrono::minutes(5));

/// Returns bytes as they may stand in a header, and in webhook-id: visible ASCII characters stay, but for '%'. Each
/// other byte becomes '%' and two hexadecimal digits. Different bytes have different results. So does a full stop
/// before what could be read as the timestamp of "id.timestamp.body": nine digits or more, and other ways to write such
/// a number. "order.17" and "v1.2.3" stay, "job.1700000000" does not.
std::string webhook_safe(std::string_view bytes);

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
