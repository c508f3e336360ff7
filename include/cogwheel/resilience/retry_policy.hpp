// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The policy and the result of async_retry (retry.hpp), and the attempt that an operation receives.
#pragma once

#include <cogwheel/resilience/backoff.hpp>
#include <cogwheel/resilience/deadline.hpp>
#include <cogwheel/resilience/retry_budget.hpp>
#include <cogwheel/resilience/retry_counts.hpp>
#include <cogwheel/resilience/transient_error.hpp>

#include COGWHEEL_ASIO_HEADER(detail/throw_exception.hpp)

#include <functional>
#include <optional>
#include <stdexcept>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {
template <class Clock>
class retry_machine;
} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// When async_retry makes another attempt, and how long it waits before it.
/// Example:
///
///     cogwheel::retry_policy policy{.attempts = 5, .attempt_timeout = 2s};
///     policy.deadline = cogwheel::deadline::after(20s);
///     policy.retryable = [](const std::error_code& ec) { return ec == asio::error::timed_out; };
template <class Clock>
struct basic_retry_policy {
    /// The largest number of attempts, including the first. At least 1.
    std::uint32_t attempts = 3;

    /// The delays before the retries.
    cogwheel::backoff backoff = cogwheel::backoff::exponential(std::chrono::milliseconds(100))
                                    .cap(std::chrono::seconds(10))
                                    .jitter(backoff_jitter::full);

    /// The timeout of each attempt. It cancels the attempt, which ends with timed_out unless it ignores the
    /// cancellation. Zero or less: it cancels in the next turn, or at the end of the present tick. nullopt: no timeout.
    std::optional<std::chrono::nanoseconds> attempt_timeout = std::nullopt;

    /// The deadline of all attempts together, a point in time: set it for each call. It cancels a running attempt, as
    /// attempt_timeout does. If the next wait would not end before the deadline, the retry ends at once.
    basic_deadline<Clock> deadline = {};

    /// The predicate: returns true if another attempt may succeed after this error. Empty: is_transient. An error of
    /// cogwheel::errc ends the retry without a call of the predicate. If the predicate throws, the retry completes with
    /// the last attempt's results, and the exception leaves run().
    std::function<bool(const error_code&)> retryable = {};

    /// A budget that other callers share. nullptr: no budget. Lifetime: must outlive the retry.
    retry_budget* budget = nullptr;

    /// The random source of the jitter. None: each retry has a small generator with its own seed.
    /// Errors: as for the predicate. Lifetime: must outlive the retry.
    random_ref random = {};

    /// Counts how the retries end; other callers may share it. nullptr: no counts. Lifetime: must outlive the retry.
    retry_counts* counts = nullptr;

    /// Checks the policy. Errors: std::invalid_argument, which names the value, the range and the remedy.
    void validate() const;
};

using retry_policy = basic_retry_policy<std::chrono::steady_clock>;

/// Tells an operation about its attempt, and lets it delay the next one. Example: in retry.hpp.
/// Thread safety: the retry's. Lifetime: until the attempt ends.
template <class Clock>
class basic_retry_attempt {
public:
    /// Returns the attempt's number, from 1.
    std::uint32_t number() const noexcept { return number_; }

    /// Returns the error of the previous attempt; an empty code in the first one.
    error_code last_error() const noexcept { return last_error_; }

    /// Returns when the attempt's timeout or the policy's deadline will cancel the attempt, whichever is earlier. Pass
    /// it on to nested operations. A nested operation with this deadline ends with timed_out or, if the retry's
    /// cancellation reaches it first, with operation_aborted.
    basic_deadline<Clock> deadline() const noexcept { return until_; }

    /// Sets the least delay before the next attempt. Call it if the peer says when it will be ready (HTTP's
    /// Retry-After, gRPC's pushback). The retry adds the backoff; otherwise all clients with the same answer would
    /// retry together. The last call in an attempt counts. Less than zero counts as zero.
    template <class Rep, class Period>
    void retry_after(std::chrono::duration<Rep, Period> delay) noexcept {
        hint_ = delay > delay.zero() ? detail::saturate_to_ns(delay) : std::chrono::nanoseconds::zero();
    }

private:
    friend class detail::retry_machine<Clock>;

    std::uint32_t number_ = 0;
    error_code last_error_;
    basic_deadline<Clock> until_;
    std::chrono::nanoseconds hint_{};
};

using retry_attempt = basic_retry_attempt<std::chrono::steady_clock>;

template <class Clock>
void basic_retry_policy<Clock>::validate() const {
    if (attempts < 1)
        asio::detail::throw_exception(
            std::invalid_argument("cogwheel::retry_policy: attempts is 0, but must be at least 1, the first one "
                                  "included; for no limit: 4294967295"));
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
