// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Repeats an operation until it succeeds, or until the policy allows no further attempt:
//
//     co_await cogwheel::async_retry(
//         wheel, {.attempts = 5, .attempt_timeout = 2s, .deadline = cogwheel::deadline::after(20s), .budget = &budget},
//         [&](auto token) {
//             socket.close(); // on Linux, one that was refused would fail with connection_aborted
//             return socket.async_connect(endpoint, token);
//         },
//         asio::use_awaitable);
//
// The operation is a function object. It starts one asynchronous operation with the token that it receives, and returns
// what that call returns. Or it takes no token, and is a coroutine. It may also take the attempt as its first argument:
//
//     [&](cogwheel::retry_attempt& attempt, auto token) { return client.async_get(attempt.deadline(), token); }
//     [&](cogwheel::retry_attempt& attempt) -> asio::awaitable<std::string> { ... attempt.retry_after(5s); ... }
//
// retry_policy.hpp describes the policy, retry_budget.hpp the budget. A budget limits the retries of many callers
// together.
#pragma once

#include <cogwheel/resilience/detail/attempt_call.hpp>
#include <cogwheel/resilience/detail/retry_operation.hpp>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Starts `operation`, and starts it again after a wait while the policy allows it. Completes as the last attempt did,
/// or with an error of its own (see E).
///
/// Parameters: `operation`: is called as operation(token) or operation(attempt, token), and returns what starting one
///   operation with the token returns; or as operation() or operation(attempt), and returns an asio::awaitable. It is
///   copied or moved into the retry, and stays at one address from the first attempt to the last. Its first result is a
///   std::error_code or a std::exception_ptr; the others must be default constructible.
///   `policy`: is copied.
/// Effects: The first attempt makes a deposit in the budget. Each retry takes a token when it is decided, before the
///   wait. If the operation throws while it is started, the exception is the outcome of that attempt. If E (see below)
///   is std::error_code, std::system_error counts as its code, and std::bad_alloc as not_enough_memory. Any other
///   exception then ends the retry. In the first attempt it leaves async_retry(), and the handler is not called. In a
///   later one it leaves run(), and the handler is also called, with std::errc::state_not_recoverable.
/// Completion signature: void(E, retry_result, Results...), where the operation's is void(E, Results...). E is
///   - success: an attempt succeeded, even after a cancellation or the deadline.
///   - the error of the last attempt: the policy allows no other attempt (retry_result::end says why).
///   - asio::error::timed_out: attempt_timeout or the deadline cancelled the last attempt; or the deadline had passed
///     before the first one.
///   - asio::error::operation_aborted: the retry was cancelled without a success (retry_result has the last error), or
///     the wheel's timers were cancelled.
///   - errc::stopped, errc::too_many_timers, std::errc::not_enough_memory: the wheel takes no timer.
///   Results are those of the last attempt, or default constructed if there are none. The retry never completes inline.
/// Cancellation: terminal, partial and total, at any point. It ends a wait at once, and is passed on to a running
///   attempt. No further attempt starts.
/// Executor: the handler's associated one, else the wheel's. Attempts complete there, the predicate runs there, and all
///   attempts but the first start there. If that executor runs functions anywhere, the wheel's takes its place: that of
///   asio::use_future, system_executor, inline_executor. A coroutine runs there, too; on the wheel's executor if that
///   of the handler does not convert to the coroutine's, as any_completion_executor does not.
/// Complexity: one allocation from the handler's associated allocator, freed before the handler runs. Each wait is a
///   block of the wheel's pool. The timeout of an attempt is a block of the handler's allocator if it has one, else of
///   the pool.
/// Errors: std::invalid_argument (policy), std::bad_alloc, and see Effects; then no operation was started.
/// Thread safety: the wheel's. A retry, its cancellation signal and the objects that it uses belong to one thread or
///   strand at a time.
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
