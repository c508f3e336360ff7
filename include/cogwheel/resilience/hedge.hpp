// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Starts another attempt if an operation takes long. The first success wins, and the hedge cancels the others:
//
//     co_await cogwheel::async_hedge(
//         wheel, 30ms, [&](cogwheel::hedge_attempt& attempt, auto token) {
//             return replicas[attempt.number() - 1].async_get(key, token);
//         }, asio::use_awaitable);
//
// Use it for operations that may run twice, and that are slow only by chance (J. Dean, L. A. Barroso, "The Tail at
// Scale", CACM 56(2), 2013). To bound the whole hedge, wrap its token: timeout(wheel, when, token).
//
// The operation has the same forms as for async_retry (retry.hpp). Its attempts run at the same time, so they must not
// write to the same objects.
#pragma once

#include <cogwheel/resilience/detail/attempt_call.hpp>
#include <cogwheel/resilience/detail/hedge_operation.hpp>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Starts `operation`. Starts it again each time that options.delay passes or an attempt fails. Stops when an attempt
/// succeeds or fails for good (hedge_options::retryable), at a cancellation, or if the options allow no more attempts.
///
/// Parameters: `operation`: as for async_retry. It is copied or moved into the hedge.
/// Effects: The first success cancels the other attempts (terminal). The hedge completes when all attempts have ended,
///   so its handler may destroy what they use. An attempt that ignores its cancellation delays the hedge. Results of an
///   attempt that succeeds after the winner are destroyed.
///   If the operation throws at its start, that attempt fails with the exception, as in async_retry. If E is
///   std::error_code and the exception has no code, the exception also leaves run(), and the predicate receives
///   std::errc::state_not_recoverable. Inside async_hedge(), however, no further attempt starts then. If no attempt
///   runs or has succeeded, the exception leaves async_hedge() without a call of the handler. Else the exception is
///   dropped, and the handler is called.
/// Completion signature: void(E, hedge_result, Results...), where the operation's is void(E, Results...). E is
///   - success: an attempt succeeded, even after a cancellation. The results are those of the first to succeed.
///   - the error of the last attempt to fail, if none succeeded and the hedge was not cancelled.
///   - asio::error::operation_aborted: the hedge was cancelled, and no attempt succeeded.
///   The hedge never completes inline.
/// Cancellation: terminal, partial and total. The hedge passes it on to all running attempts, and starts no more.
/// Executor: as for async_retry.
/// Complexity: two allocations from the handler's associated allocator, freed before the handler runs. The timer is a
///   block of the wheel's pool. If the wheel takes no timer, another attempt starts only when one fails.
/// Errors: std::invalid_argument (options), std::bad_alloc; then no attempt was started. See also Effects.
/// Thread safety: the wheel's. The cancellation signal and the objects that the operation uses belong to one thread or
///   strand at a time. Otherwise the hedge might cancel an attempt that completes on another thread. Most operations do
///   not allow that.
/// Lifetime: the wheel's execution context must outlive the hedge; the wheel need not.
template <any_timer_wheel Wheel, class Operation,
          class Token = typename asio::default_completion_token<typename Wheel::executor_type>::type>
auto async_hedge(const Wheel& wheel, const hedge_options& options, Operation&& operation, Token&& token = {}) {
    using initiation =
        detail::attempts_initiation<Wheel, std::decay_t<Operation>, hedge_attempt, detail::hedge_operation>;
    options.validate();
    return asio::async_initiate<Token, typename initiation::signature::template summarized<hedge_result>>(
        initiation(wheel), token, options, std::forward<Operation>(operation));
}
/// Does the same with a predicate of all results in place of options.retryable: a response may say that the server is
/// busy. retryable(error_code, Results...) returns true if another attempt may do better. Then this attempt does not
/// win, even without an error. If none wins, the hedge completes with the results of the last attempt.
/// Example: an HTTP client whose attempts complete with void(error_code, response)
///
///     [](const std::error_code& ec, const response& r) { return ec ? cogwheel::is_transient(ec) : r.status == 503; }
template <any_timer_wheel Wheel, class Operation, class Retryable, class Token>
auto async_hedge(const Wheel& wheel, const hedge_options& options, Operation&& operation, Retryable&& retryable,
                 Token&& token) {
    return async_hedge(wheel, options,
                       detail::judged_operation<std::decay_t<Operation>, std::decay_t<Retryable>>{
                           std::forward<Operation>(operation), std::forward<Retryable>(retryable)},
                       std::forward<Token>(token));
}
/// Does the same with this delay, at most two attempts and no budget.
template <any_timer_wheel Wheel, class Rep, class Period, class Operation,
          class Token = typename asio::default_completion_token<typename Wheel::executor_type>::type>
auto async_hedge(const Wheel& wheel, std::chrono::duration<Rep, Period> delay, Operation&& operation,
                 Token&& token = {}) {
    hedge_options options;
    options.delay = detail::saturate_to_ns(delay);
    return async_hedge(wheel, options, std::forward<Operation>(operation), std::forward<Token>(token));
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
