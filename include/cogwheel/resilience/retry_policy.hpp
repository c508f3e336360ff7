// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The policy and the result of async_retry (retry.hpp), and the attempt that an operation receives.
#pragma once

#include <cogwheel/resilience/backoff.hpp>
#include <cogwheel/resilience/deadline.hpp>
#include <cogwheel/resilience/retry_budget.hpp>
#include <cogwheel/resilience/retry_counts.hpp>

#include <functional>
#include <optional>
#include <string_view>
#include <system_error>

namespace cogwheel::inline v0::detail::inline COGWHEEL_ASIO {
template <class Clock>
class retry_machine;
} // namespace cogwheel::inline v0::detail::inline COGWHEEL_ASIO

namespace cogwheel::inline v0::inline COGWHEEL_ASIO {

/// Returns true if another attempt may succeed: the peer or the way to it was unavailable, or did not answer in time.
/// True for timed_out, connection_refused, connection_reset, connection_aborted, broken_pipe, eof, host_unreachable,
/// network_unreachable, network_down, network_reset, try_again, interrupted, host_not_found_try_again, and for codes
/// that equal the std::errc of the same meaning. False for all other codes, such as operation_aborted (a cancellation).
bool is_transient(const error_code& ec) noexcept;

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

    /// The deadline of all attempts together. It cancels an attempt that still runs, as attempt_timeout does. If the
    /// next wait would not end before the deadline, the retry ends at once.
    basic_deadline<Clock> deadline = {};

    /// The predicate: returns true if another attempt may succeed after this error. Empty: is_transient. An error of
    /// cogwheel::errc ends the retry without a call of the predicate. If the predicate throws, the retry completes with
    /// the last attempt's results, and the exception leaves run().
    std::function<bool(const error_code&)> retryable = {};

    /// A budget that other callers share. nullptr: no budget. Lifetime: must outlive the retry.
    retry_budget* budget = nullptr;

    /// The random source of the jitter. None: each retry has a small generator of its own, with a seed of its own.
    /// Errors: as for the predicate.
    /// Lifetime: must outlive the retry.
    random_ref random = {};

    /// Counts how the retries end; other callers may share it. nullptr: does not count. Lifetime: must outlive the
    /// retry.
    retry_counts* counts = nullptr;

    /// Checks the policy. Errors: std::invalid_argument, which names the value, the range and the remedy.
    void validate() const;
};

using retry_policy = basic_retry_policy<std::chrono::steady_clock>;

/// Why async_retry started no further attempt.
enum class retry_end {
    succeeded,
    /// The predicate refused the error; or it or the random source threw; or the operation threw an exception that has
    /// no error code.
    not_retryable,
    attempts_used, ///< the policy allows no more attempts
    out_of_time,   ///< the deadline passed, or the next attempt would not start before it
    budget,        ///< the budget had no token for another attempt
    cancelled,
    wheel, ///< the wheel took no timer, or cancelled the timer of the wait
};
std::string_view to_string(retry_end) noexcept; ///< the name of the constant

struct retry_result {
    std::uint32_t attempts = 0; ///< attempts, including one that failed to start
    retry_end end = retry_end::succeeded;
    /// The error of the last attempt that ended. An exception without a code: std::errc::state_not_recoverable.
    error_code last_error;
};

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
    /// it on to nested operations.
    basic_deadline<Clock> deadline() const noexcept { return until_; }

    /// Sets the least delay before the next attempt. Call it if the peer says when it will be ready (HTTP's
    /// Retry-After, gRPC's pushback). The retry adds the backoff to it. Otherwise all clients that received the same
    /// answer would retry together. The last call in an attempt counts. Less than zero counts as zero.
    template <class Rep, class Period>
    void retry_after(std::chrono::duration<Rep, Period> delay) noexcept {
        hint_ = delay > delay.zero() ? saturate_to_ns(delay) : std::chrono::nanoseconds::zero();
    }

private:
    friend class detail::retry_machine<Clock>;

    std::uint32_t number_ = 0;
    error_code last_error_;
    basic_deadline<Clock> until_;
    std::chrono::nanoseconds hint_{};
};

using retry_attempt = basic_retry_attempt<std::chrono::steady_clock>;

} // namespace cogwheel::inline v0::inline COGWHEEL_ASIO

namespace cogwheel::inline v0::detail::inline COGWHEEL_ASIO {
[[noreturn]] void refuse_attempts(std::uint32_t attempts);
} // namespace cogwheel::inline v0::detail::inline COGWHEEL_ASIO

namespace cogwheel::inline v0::inline COGWHEEL_ASIO {

template <class Clock>
void basic_retry_policy<Clock>::validate() const {
    if (attempts < 1) detail::refuse_attempts(attempts);
}

} // namespace cogwheel::inline v0::inline COGWHEEL_ASIO
