// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// An operation, made again until it succeeds, or until it is no use any more:
//
//     co_await cogwheel::async_retry(
//         wheel, {.attempts = 5, .attempt_timeout = 2s, .deadline = cogwheel::deadline::after(20s), .budget = &budget},
//         [&](auto token) { return socket.async_connect(endpoint, token); }, asio::use_awaitable);
//
// The operation is a function object that starts one asynchronous operation with the token it is given, and returns what that
// returns; or a coroutine. It may ask to be told of the attempt:
//
//     [&](cogwheel::retry_attempt& attempt, auto token) { return client.async_get(attempt.deadline(), token); }
//     [&](cogwheel::retry_attempt& attempt) -> asio::awaitable<std::string> { ... attempt.retry_after(5s); ... }
//
// What the policy can say: retry_policy.hpp. How retries of many callers are kept from becoming a storm: retry_budget.hpp.
#pragma once

#include <cogwheel/net/detail/attempts_initiation.hpp>
#include <cogwheel/net/detail/retry_operation.hpp>

namespace cogwheel {

/// Starts `operation`, again after a wait while the policy finds that worth it, and completes with what came of the last attempt.
///
/// Parameters: `operation`, see above; copied or moved once, it stays where it is from the first attempt to the last. Its result
///   begins with a std::error_code or a std::exception_ptr; the others must be default constructible. `policy` is copied.
/// Effects: A token of the budget is taken for each retry, when it is decided, before the wait. What the operation throws while it
///   is started is what came of the attempt: the code of a std::system_error, not_enough_memory for std::bad_alloc; any other
///   exception, where the operation completes with a std::error_code, leaves async_retry() or run(), in the latter case the
///   handler is called, too, with errc::state_not_recoverable.
/// Completion signature: void(E, retry_result, Results...), where the operation's is void(E, Results...). E is
///   - success: that of an attempt. Also after a cancellation that came too late for it, or a deadline.
///   - the last attempt's error: the policy finds no use in another one (retry_result::end says why).
///   - asio::error::timed_out: an attempt took too long, or the deadline had come before the first one, which is not made then.
///   - asio::error::operation_aborted: cancelled, and the attempt that ran did not succeed. retry_result has its error.
///   - errc::stopped, errc::too_many_timers: the wheel takes no timer; operation_aborted: it was stopped meanwhile.
///   Results are those of the last attempt, default constructed if none is to be had. Never completes inline.
/// Cancellation: terminal, partial and total, at any point. A wait ends at once; to an attempt it is passed on. There is no
///   further attempt.
/// Executor: the handler's associated one, else the wheel's. Attempts end there, the predicate is called there.
/// Complexity: one allocation, the handler's associated allocator, free again before the handler runs; a wait, and a limit on an
///   attempt, is a block of the wheel's pool (a limit: of the handler's allocator, if it has one).
/// Errors: std::invalid_argument (policy), std::bad_alloc, and see Effects; then nothing was started.
/// Thread safety: the wheel's; one retry, its signal and all that it uses belong to one thread or strand at a time.
/// Lifetime: the wheel's execution context must outlive the retry; the wheel need not.
template <any_timer_wheel Wheel, class Operation,
          class Token = typename asio::default_completion_token<typename Wheel::executor_type>::type>
auto async_retry(const Wheel& wheel, const basic_retry_policy<typename Wheel::clock_type>& policy,
                 Operation&& operation, Token&& token = {}) {
    using initiation =
        detail::attempts_initiation<Wheel, std::decay_t<Operation>, basic_retry_attempt<typename Wheel::clock_type>,
                                    detail::retry_operation>;
    policy.validate();
    return asio::async_initiate<Token, typename initiation::signature::template summarized<retry_result>>(
        initiation(wheel), token, policy, std::forward<Operation>(operation));
}

} // namespace cogwheel
