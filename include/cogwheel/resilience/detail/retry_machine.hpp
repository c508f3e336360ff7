// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The decisions of a retry: to attempt, to wait or to complete, and why. Each call reports what happened and when.
#pragma once

#include <cogwheel/asio/error.hpp>
#include <cogwheel/resilience/retry_policy.hpp>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

enum class retry_act {
    attempt, ///< start an attempt, to be cancelled at attempt().deadline()
    wait,    ///< wait for step.delay
    deliver, ///< complete with the results of the last attempt
    fail,    ///< complete with step.ec; if empty, with the error that result().end means
};

struct retry_step {
    retry_act what;
    std::chrono::nanoseconds delay{};
    error_code ec{};
};

template <class Clock>
class retry_machine {
public:
    using time_point = typename Clock::time_point;
    using nanoseconds = std::chrono::nanoseconds;

    explicit retry_machine(const basic_retry_policy<Clock>& policy) : policy_(policy) {}

    retry_step start(time_point now) {
        if (policy_.deadline.expired(now)) return fail(retry_end::out_of_time);
        if (policy_.budget != nullptr) policy_.budget->deposit();
        return next_attempt(now);
    }

    /// Returns the step after an attempt. Errors: those of the predicate and the generator; call give_up() then.
    template <class Generator>
    retry_step attempt_ended(const error_code& ec, time_point now, Generator& random) {
        result_.last_error = ec;
        if (!ec) return end(retry_end::succeeded);
        if (cancelled_) return fail(retry_end::cancelled);
        if (refused_by_wheel(ec))
            return end(retry_end::wheel); // the wheel took no timer for the attempt, so it did not start
        if (policy_.deadline.expired(now)) return end(retry_end::out_of_time);
        if (!(policy_.retryable ? policy_.retryable(ec) : is_transient(ec))) return end(retry_end::not_retryable);
        if (result_.attempts >= policy_.attempts) return end(retry_end::attempts_used);
        const nanoseconds pause = policy_.backoff.next(result_.attempts, paused_, random);
        const nanoseconds delay = saturating_add(attempt_.hint_, pause);
        if (policy_.deadline && delay >= saturate_to_ns(policy_.deadline.remaining(now)))
            return end(retry_end::out_of_time);
        if (cancelled_) return fail(retry_end::cancelled); // the predicate cancelled it
        // The last check, so that a retry that another rule forbids takes no token.
        if (policy_.budget != nullptr && !policy_.budget->withdraw(now)) return end(retry_end::budget);
        paused_ = pause;
        return {retry_act::wait, delay};
    }

    /// Returns the step after a wait. `ec`: the result of the wheel's timer.
    retry_step wait_ended(const error_code& ec, time_point now) {
        if (cancelled_) return fail(retry_end::cancelled);
        if (ec) return fail(retry_end::wheel, ec);
        if (policy_.deadline.expired(now))
            return fail(retry_end::out_of_time, result_.last_error); // the wait ended late
        return next_attempt(now);
    }

    void cancel() noexcept { cancelled_ = true; }

    /// Returns the step after the predicate or the generator threw: completes with the results of the attempt.
    retry_step give_up() noexcept { return end(retry_end::not_retryable); }
    /// Returns the step after the operation threw an exception that has no error code.
    retry_step threw(const error_code& ec) noexcept {
        result_.last_error = ec;
        return fail(retry_end::not_retryable, ec);
    }

    basic_retry_attempt<Clock>& attempt() noexcept { return attempt_; }
    random_ref random() const noexcept { return policy_.random; }
    const retry_result& result() const noexcept { return result_; }
    /// Counts the retry, which has ended.
    void count() const noexcept {
        if (policy_.counts != nullptr) policy_.counts->add(result_);
    }

private:
    retry_step next_attempt(time_point now) {
        ++result_.attempts;
        attempt_.number_ = result_.attempts;
        attempt_.last_error_ = result_.last_error;
        attempt_.hint_ = {};
        attempt_.until_ =
            policy_.attempt_timeout ? policy_.deadline.min(*policy_.attempt_timeout, now) : policy_.deadline;
        return {retry_act::attempt};
    }
    retry_step end(retry_end why) noexcept {
        result_.end = why;
        return {retry_act::deliver};
    }
    retry_step fail(retry_end why, const error_code& ec = {}) noexcept {
        result_.end = why;
        return {retry_act::fail, {}, ec};
    }

    basic_retry_policy<Clock> policy_;
    basic_retry_attempt<Clock> attempt_;
    retry_result result_;
    nanoseconds paused_{};
    bool cancelled_ = false;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
