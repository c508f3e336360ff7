// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Sends HTTP and HTTPS callbacks (libcurl), signed as Standard Webhooks 1.0 says:
//
//     cogwheel::callback_sender sender(wheel, {.keys = {webhook_key::from_text("whsec_...")}});
//     auto result = co_await sender.async_send(call, {.id = "order-17", .attempt = 1}, asio::use_awaitable);
//     if (result.outcome == callback_outcome::try_again) ... // after result.retry_after, if there is one
//
// - An answer 2xx is success. 3xx and 410 are final failures. All else may be tried again: other statuses, no answer,
//   a broken connection, a timeout.
// - Redirects, proxies, cookies and .netrc are not used. Certificates are checked. Only HTTP/1.1.
// - Only public addresses are reached, unless callback_options::guard allows others (ssrf_guard.hpp).
// - Connections stay open for the next request. Each host has a limit, a circuit breaker and a retry budget.
// - Headers of each request: webhook-id, webhook-timestamp, webhook-signature, cogwheel-attempt,
//   cogwheel-fencing-token, traceparent, content-type, user-agent, and those of the callback.
// - Timers are the wheel's. Names are resolved by libcurl's threads. An idle sender does not keep run() from returning.
#pragma once

#include <cogwheel/asio/timer_wheel.hpp>
#include <cogwheel/detail/which_asio.hpp>
#include <cogwheel/durable/callback_options.hpp>
#include <cogwheel/durable/detail/completion.hpp>
#include <cogwheel/durable/http_callback.hpp>
#include <cogwheel/resilience/circuit_breaker.hpp>

#include COGWHEEL_ASIO_HEADER(any_io_executor.hpp)
#include COGWHEEL_ASIO_HEADER(associated_cancellation_slot.hpp)

#include <memory>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// How much a host takes now.
struct callback_room {
    std::size_t places = 0;                        ///< callbacks in flight at once: 0 while its circuit is open
    circuit_state circuit = circuit_state::closed; ///< half open: it takes probes only
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {
class callback_sender_impl;
struct callback_request;

std::shared_ptr<callback_request> make_request(http_callback, callback_delivery);
void submit_request(const std::shared_ptr<callback_sender_impl>&, const std::shared_ptr<callback_request>&,
                    completion<callback_result>);
void cancel_request(const std::weak_ptr<callback_sender_impl>&, const std::weak_ptr<callback_request>&);
} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Sends callbacks. Thread safety: any thread.
/// Lifetime: the wheel must outlive the sender, or close() must come first; the wheel's execution context must outlive
/// both. If the wheel is stopped, requests in flight end with errc::stopped, because they have no limit in time any
/// more.
class callback_sender {
public:
    using executor_type = asio::any_io_executor;

    /// Makes a sender that works on a strand of the wheel's executor.
    /// Errors: std::invalid_argument (options), std::bad_alloc, std::runtime_error: libcurl cannot be used.
    explicit callback_sender(const timer_wheel& wheel, callback_options options = {});
    callback_sender(const callback_sender&) = delete;
    callback_sender& operator=(const callback_sender&) = delete;

    /// Does the same as close().
    ~callback_sender();

    /// Returns the strand.
    executor_type get_executor() const noexcept;

    /// Sends one callback, once. It never tries again by itself.
    /// Effects: checks the callback. Waits for a place (max_in_flight, max_per_host). Asks the host's circuit, and for
    ///   an attempt above 1 the host's budget. Sends the request and reads the answer.
    /// Completion signature: void(std::error_code, callback_result). The error code is operation_aborted if the send
    ///   was cancelled or the sender closed; else success, and the result says how the callback ended: so a receiver
    ///   that fails does not throw in a coroutine. After a cancellation, the receiver may have got the request.
    /// Cancellation: terminal, partial and total, at any point; closes the connection of a request in flight.
    /// Executor: the handler's associated one, else the strand.
    /// Complexity: about 30 us of CPU in all, of which signing is 2 us for each kB of the body.
    /// Errors: std::bad_alloc.
    template <class Token = asio::default_completion_token<executor_type>::type>
    auto async_send(http_callback call, callback_delivery delivery, Token&& token = {}) {
        return asio::async_initiate<Token, void(error_code, callback_result)>(
            [impl = impl_](auto handler, http_callback c, callback_delivery d) {
                const auto request = detail::make_request(std::move(c), std::move(d));
                auto slot = asio::get_associated_cancellation_slot(handler);
                if (slot.is_connected())
                    slot.assign([i = std::weak_ptr(impl), r = std::weak_ptr(request)](asio::cancellation_type) {
                        detail::cancel_request(i, r);
                    });
                // The completion would drop the result at a cancellation; this operation ends the request instead.
                const asio::any_io_executor executor = executor_of(*impl);
                detail::submit_request(impl, request,
                                       detail::completion<callback_result>::of(std::move(handler), executor, true));
            },
            token, std::move(call), std::move(delivery));
    }

    /// Refuses further callbacks (operation_aborted), and completes when all others have ended.
    /// Completion signature: void(std::error_code): success; operation_aborted: close() was called meanwhile.
    /// Cancellation: terminal, partial and total: stops waiting; the sender goes on draining.
    template <class Token = asio::default_completion_token<executor_type>::type>
    auto async_drain(Token&& token = {}) {
        return detail::initiate<void>(get_executor(), std::forward<Token>(token),
                                      [impl = impl_](detail::completion<void> done) { drain(impl, std::move(done)); });
    }

    /// Completes all callbacks with operation_aborted, and closes all connections. Further callbacks complete with
    /// operation_aborted. The completions come later, from the strand.
    void close();

    /// Returns what the host of a URL takes now. Complexity: O(size of the URL). Errors: std::bad_alloc.
    callback_room room(std::string_view url) const;

    /// Returns the counts. Complexity: O(1).
    callback_stats stats() const;

private:
    static executor_type executor_of(const detail::callback_sender_impl&) noexcept;
    static void drain(const std::shared_ptr<detail::callback_sender_impl>&, detail::completion<void>);

    std::shared_ptr<detail::callback_sender_impl> impl_;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
