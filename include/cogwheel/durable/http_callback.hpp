// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// An HTTP request as a durable task's body: what callback_sender sends when the task is due.
//
//     cogwheel::http_callback call{.url = "https://shop.example/orders/17/expired", .body = R"({"order":17})"};
//     if (auto ec = call.check()) throw std::system_error(ec);
//     durable_task task{.id = "order-17", .when = task_trigger::once(30min), .body = call.encode()};
//     co_await queue.schedule(std::move(task), asio::use_awaitable);
#pragma once

#include <cogwheel/durable/callback_error.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// A request.
struct http_callback {
    static constexpr std::size_t max_url = 2'000;                   ///< bytes
    static constexpr std::size_t max_headers = 32;                  ///< their number
    static constexpr std::size_t max_header_bytes = 8'192;          ///< of all names and values together
    static constexpr std::size_t max_content_type = 255;            ///< bytes
    static constexpr std::size_t max_body = std::size_t{496} << 10; ///< bytes: encode() fits into durable_task::body

    /// "http://host[:port]/path?query" or https. The host is a name, an IPv4 address, or an IPv6 address in brackets.
    /// No user, no spaces, no fragment; other bytes than visible ASCII are percent-encoded (RFC 3986).
    std::string url;

    /// GET, POST, PUT, PATCH or DELETE.
    std::string method = "POST";

    /// Further headers, such as {"authorization", "Bearer ..."}. Not: those of webhooks (webhook-*), of this library
    /// (cogwheel-*), traceparent, content-type, user-agent, host, and those that frame the message or belong to the
    /// connection.
    std::vector<std::pair<std::string, std::string>> headers{};

    std::string body{};                            ///< at most max_body bytes; none with GET
    std::string content_type = "application/json"; ///< sent if there is a body; empty: not sent

    /// Checks all fields. Returns success, or the callback_errc that names the field.
    error_code check() const noexcept;

    /// Returns the request as compact bytes: a prefix with a version, then each field with its length.
    /// Complexity: O(size). Errors: std::bad_alloc. Preconditions: check() returns success.
    std::string encode() const;

    /// Returns what encode() has encoded; nothing if the bytes are not that, or fail check().
    /// Complexity: O(size). Errors: std::bad_alloc.
    static std::optional<http_callback> decode(std::string_view bytes);

    friend bool operator==(const http_callback&, const http_callback&) = default;
};

/// What is new with each attempt.
struct callback_delivery {
    static constexpr std::size_t max_id = 512; ///< bytes: durable_task::max_id

    /// The task's id: the same with each attempt. Sent as webhook_safe(id) in webhook-id.
    std::string id;
    std::uint32_t attempt = 1;   ///< sent in cogwheel-attempt; above 1, it is a retry
    std::string fencing_token{}; ///< in cogwheel-fencing-token, if it is visible ASCII; empty: not sent
    std::string traceparent{};   ///< sent if it is visible ASCII of at most 255 bytes; empty: not sent
};

/// What the worker does with the task.
enum class callback_outcome : std::uint8_t {
    succeeded,
    failed_for_good, ///< another attempt would end in the same way: no attempt is left
    try_again,
};
std::string_view to_string(callback_outcome) noexcept;

/// How a callback ended.
struct callback_result {
    callback_outcome outcome = callback_outcome::try_again;

    /// Success with a status 2xx. Else a callback_errc; asio::error::timed_out; errc::circuit_open;
    /// asio::error::operation_aborted: it was cancelled, or the sender closed; errc::stopped: the wheel takes no
    /// timers; or an error of the system: this process has no memory, no free descriptor, or not this kind of address.
    error_code error{};

    int status = 0;     ///< of the answer; 0: there was none
    std::string body{}; ///< of the answer, cut at callback_options::max_answer
    bool body_cut = false;

    /// How long the receiver, or an open circuit, asks to wait before the next attempt. At most
    /// callback_options::max_retry_after.
    std::optional<std::chrono::seconds> retry_after{};

    /// False: not a byte has left for the receiver (limits, circuit, budget, address, no connection). A worker may
    /// give the attempt back.
    bool sent = false;

    std::string message{};        ///< one line for a log; empty after a success
    std::string remote_address{}; ///< such as "203.0.113.7:443"; empty: there was no connection
    bool reused = false;          ///< the connection was there already

    std::chrono::nanoseconds waited{};  ///< for a place among max_in_flight and max_per_host
    std::chrono::nanoseconds elapsed{}; ///< from the start of the request to its end
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
