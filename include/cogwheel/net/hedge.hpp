// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// An operation that is started a second time when it takes long; the first success wins, the other attempt is cancelled:
//
//     co_await cogwheel::async_hedge(
//         wheel, 30ms, [&](cogwheel::hedge_attempt& attempt, auto token) { return replicas[attempt.number() - 1].async_get(key, token); },
//         asio::use_awaitable);
//
// For what may be done twice, and whose slowest calls are slow by chance (J. Dean, L. A. Barroso, "The Tail at Scale", CACM 56(2),
// 2013). A limit on the whole: cogwheel::timeout_after(wheel, 1s, token) for a token, or timeout_at(wheel, deadline.expiry(), token).
//
// The operation has the same forms as that of async_retry (retry.hpp), but its attempts run side by side: what they write to
// must not be shared between them.
#pragma once

#include <cogwheel/net/detail/attempts_initiation.hpp>
#include <cogwheel/net/detail/hedge_operation.hpp>

namespace cogwheel {

/// Starts `operation`, and again each time that options.delay passes, or an attempt fails, without one having succeeded.
///
/// Parameters: `operation`, as for async_retry; copied or moved once.
/// Effects: The first success cancels the others (terminal). Completes when all attempts have ended: whatever they use, by
///   reference as a rule, may go when the handler runs. So an operation that does not heed its cancellation holds the winner up.
///   The results of an attempt that succeeds too late are destroyed. What the operation throws while it is started is what came of
///   that attempt, as in async_retry. Within async_hedge() it is either or: what is no error code leaves it if no attempt runs or has
///   succeeded, and the handler is not called; else the handler is called, and nothing leaves.
/// Completion signature: void(E, hedge_result, Results...), where the operation's is void(E, Results...). E is
///   - success: the first one. Also after a cancellation that came too late for it.
///   - the error of the last attempt to fail: none succeeded.
///   - asio::error::operation_aborted: cancelled, and no attempt succeeded.
///   Never completes inline.
/// Cancellation: terminal, partial and total; it is passed on to all attempts that run, and no other is started.
/// Executor: the handler's associated one, else the wheel's. Attempts end there.
/// Complexity: two allocations, the handler's associated allocator, free again before the handler runs; the timer is a block of the
///   wheel's pool. If the wheel takes no timer, another attempt starts only when one fails.
/// Errors: std::invalid_argument (options), std::bad_alloc; then nothing was started.
/// Thread safety: the wheel's; its signal and what the operation uses belong to one thread or strand at a time. Without a strand on
///   several threads, a loser would be cancelled while it completes, which most operations do not bear.
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
/// The same with two attempts at the most.
template <any_timer_wheel Wheel, class Rep, class Period, class Operation,
          class Token = typename asio::default_completion_token<typename Wheel::executor_type>::type>
auto async_hedge(const Wheel& wheel, std::chrono::duration<Rep, Period> delay, Operation&& operation,
                 Token&& token = {}) {
    hedge_options options;
    options.delay = saturate_to_ns(delay);
    return async_hedge(wheel, options, std::forward<Operation>(operation), std::forward<Token>(token));
}

} // namespace cogwheel
