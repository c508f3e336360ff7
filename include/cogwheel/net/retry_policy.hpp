// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// When to try again, and what came of it: the values that go into async_retry (retry.hpp) and come out of it.
#pragma once

#include <cogwheel/net/backoff.hpp>
#include <cogwheel/net/deadline.hpp>
#include <cogwheel/net/retry_budget.hpp>

#include <functional>
#include <optional>
#include <system_error>

namespace cogwheel {

namespace detail {
template <class Clock>
class retry_machine;
}

/// Worth another attempt, as a rule: the peer or the way to it was not there, or did not answer in time. That is timed_out,
/// connection_refused, connection_reset, connection_aborted, broken_pipe, eof, host_unreachable, network_unreachable,
/// network_down, network_reset, try_again, interrupted, and a name that could not be looked up for now. Not operation_aborted,
/// which is somebody's will, nor what the next attempt would meet again.
bool is_transient(const std::error_code& ec) noexcept;

template <class Clock>
struct basic_retry_policy {
    /// How many at the most, the first one included: at least 1.
    std::uint32_t attempts = 3;

    /// The wait before each retry.
    cogwheel::backoff backoff = cogwheel::backoff::exponential(std::chrono::milliseconds(100))
                                    .cap(std::chrono::seconds(10))
                                    .jitter(backoff_jitter::full);

    /// A limit on each attempt, which then ends with timed_out. Zero or less: at once. nullopt: none.
    std::optional<std::chrono::nanoseconds> attempt_timeout = std::nullopt;

    /// A limit on all together: an attempt that runs when it comes is cancelled, and ends with timed_out; a wait that would go
    /// beyond it is not begun.
    basic_deadline<Clock> deadline = {};

    /// Is another attempt worth it after this error? Empty: is_transient. If it throws, the retry is over, and completes with
    /// the attempt's results; the exception leaves run().
    std::function<bool(const std::error_code&)> retryable = {};

    /// Who else retries? nullptr: as if alone. Lifetime: outlives the retry.
    retry_budget* budget = nullptr;

    /// For the jitter. None: each retry seeds a small generator of its own from the clock and its address. Lifetime: outlives
    /// the retry.
    random_ref random = {};

    /// Throws std::invalid_argument that names the value, the range and the remedy.
    void validate() const;
};

using retry_policy = basic_retry_policy<std::chrono::steady_clock>;

/// Why there was no further attempt.
enum class retry_end {
    succeeded,
    not_retryable, ///< says the policy
    attempts_used,
    out_of_time, ///< the deadline came, or the next attempt would have been later
    budget,      ///< it had no token for another attempt
    cancelled,
    wheel, ///< it took no timer
};

struct retry_result {
    std::uint32_t attempts = 0; ///< started
    retry_end end = retry_end::succeeded;
    std::error_code
        last_error; ///< of the last attempt that ended; an exception without a code: errc::state_not_recoverable
};

/// What an operation may know of the attempt that it is, and say about the next one.
/// Lifetime: the attempt. Thread safety: the retry's.
template <class Clock>
class basic_retry_attempt {
public:
    /// 1, 2 ...
    std::uint32_t number() const noexcept { return number_; }

    /// Of the attempt before; none at first.
    std::error_code last_error() const noexcept { return last_error_; }

    /// When it will be cancelled, by its own limit or that of all: to be handed down.
    basic_deadline<Clock> deadline() const noexcept { return until_; }

    /// The peer says when it will be ready (HTTP's Retry-After, gRPC's pushback): the next attempt is made no sooner. The
    /// backoff comes on top, for all who were told the same moment would come at it together. The last word counts; less than
    /// zero is zero.
    template <class Rep, class Period>
    void retry_after(std::chrono::duration<Rep, Period> delay) noexcept {
        hint_ = std::max(saturate_to_ns(delay), std::chrono::nanoseconds::zero());
    }

private:
    friend class detail::retry_machine<Clock>;

    std::uint32_t number_ = 0;
    std::error_code last_error_;
    basic_deadline<Clock> until_;
    std::chrono::nanoseconds hint_{};
};

using retry_attempt = basic_retry_attempt<std::chrono::steady_clock>;

namespace detail {
[[noreturn]] void refuse_attempts(std::uint32_t attempts);
}

template <class Clock>
void basic_retry_policy<Clock>::validate() const {
    if (attempts < 1) detail::refuse_attempts(attempts);
}

} // namespace cogwheel
