// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Repeats an operation until it succeeds, or until the policy allows no further attempt:
//
//     co_await cogwheel::async_retry(
//         wheel, {.attempts = 5, .attempt_timeout = 2s, .deadline = cogwheel::deadline::after(20s), .budget = &budget},
//         [&](auto token) {
//             socket.close(); // on Linux, a socket that was refused would fail with connection_aborted
//             return socket.async_connect(endpoint, token);
//         },
//         asio::use_awaitable);
//
// The operation is a function object. It starts one asynchronous operation with the token that it receives, and returns
// the result of that call. Or it is a coroutine without a token. It may take the attempt as its first argument:
//
//     [&](cogwheel::retry_attempt& attempt, auto token) { return client.async_get(attempt.deadline(), token); }
//     [&](cogwheel::retry_attempt& attempt) -> asio::awaitable<std::string> { ... attempt.retry_after(5s); ... }
//
// See retry_policy.hpp for the policy. A budget (retry_budget.hpp) limits the retries of many callers together.
#pragma once

#include <cogwheel/resilience/detail/attempt_call.hpp>
#include <cogwheel/resilience/detail/retry_operation.hpp>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Starts `operation`, and starts it again after a wait while the policy allows it.
///
/// Parameters: `operation`: is called as operation(token) or operation(attempt, token), and returns what the operation
///   returns that it starts with the token. Or it is called as operation() or operation(attempt), and returns an
///   asio::awaitable. It is copied or moved into the retry, and stays at one address for all attempts. Its first result
///   is a std::error_code or a std::exception_ptr; the others must be default constructible.
///   `policy`: is copied.
/// Effects: The first attempt makes a deposit in the budget. Each retry takes a token when it is decided, before the
///   wait. If the operation throws at its start, the exception is the outcome of that attempt. If E (see below) is
///   std::error_code, std::system_error counts as its code, and std::bad_alloc as not_enough_memory. Any other
///   exception then ends the retry. In the first attempt it leaves async_retry(), and the handler is not called. In a
///   later one it leaves run(), and the handler is called, too, with std::errc::state_not_recoverable.
/// Completion signature: void(E, retry_result, Results...), where the operation's is void(E, Results...). E is
///   - success: an attempt succeeded, even after a cancellation or the deadline.
///   - the error of the last attempt: the policy allows no other attempt (retry_result::end says why).
///   - asio::error::timed_out: attempt_timeout or the deadline cancelled the last attempt, or the deadline had passed
///     before the first one.
///   - asio::error::operation_aborted: the retry was cancelled without a success, or the wheel's timers were cancelled.
///   - errc::stopped, errc::too_many_timers, std::errc::not_enough_memory: the wheel takes no timer.
///   Results are those of the last attempt, or default constructed if there are none. The retry never completes inline.
/// Cancellation: terminal, partial and total, at any point. Ends a wait at once, or is passed on to a running attempt.
///   No further attempt starts.
/// Executor: the handler's associated one, else the wheel's. Attempts complete there, the predicate runs there, and all
///   attempts but the first start there. An executor that runs functions anywhere (of asio::use_future,
///   system_executor, inline_executor) is replaced by the wheel's. A coroutine runs there, too; on the wheel's executor
///   if the handler's does not convert to the coroutine's, as any_completion_executor does not.
/// Complexity: one allocation from the handler's associated allocator, freed before the handler runs. Waits are blocks
///   of the wheel's pool; timeouts of attempts are blocks of the handler's allocator, if any, else of the pool.
/// Errors: std::invalid_argument (policy), std::bad_alloc; then no operation was started. See also Effects.
/// Thread safety: the wheel's. One thread or strand at a time uses a retry, its cancellation signal and its objects.
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

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
