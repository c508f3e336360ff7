// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A timeout for any asynchronous operation, as a completion token:
//
//     socket.async_read_some(buffer, cogwheel::timeout_after(wheel, 5s, token));
//     socket.async_read_some(buffer, cogwheel::timeout_after(5s, token)); // on the wheel of the socket's context
//     co_await stream.async_read_some(buffer, cogwheel::timeout_after(5s)); // with the default token of its executor
//
// - timeout_after, timeout_at: an operation that the timer has cancelled completes with asio::error::timed_out.
// - cancel_after, cancel_at: it completes with its own error, usually operation_aborted. (Asio 1.31 has functions of
//   these names.)
// The timer emits a signal of `type` through the operation's cancellation slot. Only an error that means a cancellation
// becomes timed_out. All other results reach the handler unchanged, for instance if the operation ignores the signal or
// ends before it. Each operation completes exactly once, unless an execution context is destroyed first. A cancellation
// through the handler's own slot passes to the operation. If the wheel is destroyed, or stop() or cancel_all() cancels
// its timers, a later turn cancels the operation, which completes with its own result. With a delay of zero or less, or
// a point that has passed, the operation starts, and the next turn cancels it unless it has completed by then.
//
// If the wheel refuses the timer, the operation does not start; it completes with errc::stopped or
// errc::too_many_timers. But if the first result is no error, or a result has no default constructor, the operation
// starts, and a later turn cancels it.
// Memory: one block for timer, handler and signal, from the same sources as in async_wait().
// Without a wheel, the timer goes to the wheel of the context of the operation's executor (timer_wheel_of.hpp). The
// operation must say its executor, as for asio::cancel_after.
// Executor: the timer emits the signal on the handler's associated executor, else on the operation's. Also on the
// operation's if the handler's runs functions anywhere: that of asio::use_future, system_executor, inline_executor.
// Complexity: O(1).
// Thread safety: the wheel's. If several threads run the context, an operation of several parts, such as
// asio::async_read or a coroutine, needs a strand, for instance that of the socket (docs/asio.md, "Several threads").
// Lifetime: the wheel must exist when the operation starts; the wheel's execution context, until the operation ends.
// Which operations obey which type: docs/asio.md, "What a timeout can cancel".
#pragma once

#include <cogwheel/asio/detail/executor/cancellation.hpp>
#include <cogwheel/asio/detail/timed/timed_handler.hpp>
#include <cogwheel/asio/detail/timed/timed_token.hpp>
#include <cogwheel/detail/assertion.hpp>

#include <concepts>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// A timer that cancels the operation.
template <class Place, class When>
struct timeout_spec {
    using engine = typename Place::impl_type::engine;

    Place place;
    When when;
    asio::cancellation_type type;
    bool report; // a cancellation by the timer completes as timed_out

    /// Starts the operation by `initiate(handler)`.
    template <class... Signatures, class Handler, class Executor, class Initiate>
    void start(Handler&& handler, const Executor& io_executor, Initiate initiate) const {
        using operation = timed_operation<engine, std::decay_t<Handler>, Executor, Signatures...>;
        operation::start(place.find(io_executor), std::forward<Handler>(handler), io_executor, point(), type, report,
                         [&](typename operation::owner p) { initiate(timed_handler<operation>(std::move(p))); });
    }

private:
    auto point() const {
        if constexpr (std::is_same_v<When, std::chrono::nanoseconds>)
            return from_present{when};
        else
            return when;
    }
};

template <class T>
concept not_a_type = !std::same_as<std::decay_t<T>, asio::cancellation_type>;

template <class Wheel, class When>
auto spec_on(const Wheel& wheel, When when, asio::cancellation_type type, bool report) {
    COGWHEEL_ASSERT(cancels(type) && "a timeout with cancellation_type::none never cancels");
    using place = given_wheel<impl_type<Wheel>>;
    return timeout_spec<place, When>{{&impl_of(wheel)}, when, type, report};
}
template <class Wheel, class When>
auto spec_in_context(When when, asio::cancellation_type type, bool report, detail::call_site where) {
    COGWHEEL_ASSERT(cancels(type) && "a timeout with cancellation_type::none never cancels");
    return timeout_spec<context_wheel<Wheel>, When>{{where}, when, type, report};
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Returns a token that cancels its operation after `delay`. If the operation then fails with an error that means
/// a cancellation, it completes with timed_out. token: the operation's completion token. type: what the timer emits;
/// not none. The delay counts from the operation's start. An operation whose first result is no error completes as with
/// cancel_after().
template <any_timer_wheel Wheel, class Rep, class Period, detail::not_a_type Token>
auto timeout_after(const Wheel& wheel, std::chrono::duration<Rep, Period> delay, Token&& token,
                   asio::cancellation_type type = asio::cancellation_type::terminal) {
    return detail::timed(detail::spec_on(wheel, detail::saturate_to_ns(delay), type, true), std::forward<Token>(token));
}
/// The same with the operation's default token.
template <any_timer_wheel Wheel, class Rep, class Period>
auto timeout_after(const Wheel& wheel, std::chrono::duration<Rep, Period> delay,
                   asio::cancellation_type type = asio::cancellation_type::terminal) {
    return detail::timed(detail::spec_on(wheel, detail::saturate_to_ns(delay), type, true));
}
/// The same two on the wheel of the operation's context.
template <any_timer_wheel Wheel = timer_wheel, class Rep, class Period, detail::not_a_type Token>
auto timeout_after(std::chrono::duration<Rep, Period> delay, Token&& token,
                   asio::cancellation_type type = asio::cancellation_type::terminal,
                   detail::call_site where = detail::call_site::here()) {
    return detail::timed(detail::spec_in_context<Wheel>(detail::saturate_to_ns(delay), type, true, where),
                         std::forward<Token>(token));
}
template <any_timer_wheel Wheel = timer_wheel, class Rep, class Period>
auto timeout_after(std::chrono::duration<Rep, Period> delay,
                   asio::cancellation_type type = asio::cancellation_type::terminal,
                   detail::call_site where = detail::call_site::here()) {
    return detail::timed(detail::spec_in_context<Wheel>(detail::saturate_to_ns(delay), type, true, where));
}

template <std::integral N, class... More>
mistake::a_delay_needs_a_unit_write_timeout_after_5s_token timeout_after(N, More&&...) = delete;
template <any_timer_wheel Wheel, std::integral N, class... More>
mistake::a_delay_needs_a_unit_write_timeout_after_5s_token timeout_after(const Wheel&, N, More&&...) = delete;

/// The same as timeout_after(), with a point in time.
template <any_timer_wheel Wheel, detail::not_a_type Token>
auto timeout_at(const Wheel& wheel, typename Wheel::time_point at, Token&& token,
                asio::cancellation_type type = asio::cancellation_type::terminal) {
    return detail::timed(detail::spec_on(wheel, at, type, true), std::forward<Token>(token));
}
/// The same with the operation's default token.
template <any_timer_wheel Wheel>
auto timeout_at(const Wheel& wheel, typename Wheel::time_point at,
                asio::cancellation_type type = asio::cancellation_type::terminal) {
    return detail::timed(detail::spec_on(wheel, at, type, true));
}
/// The same two on the wheel of the operation's context.
template <any_timer_wheel Wheel = timer_wheel, detail::not_a_type Token>
auto timeout_at(typename Wheel::time_point at, Token&& token,
                asio::cancellation_type type = asio::cancellation_type::terminal,
                detail::call_site where = detail::call_site::here()) {
    return detail::timed(detail::spec_in_context<Wheel>(at, type, true, where), std::forward<Token>(token));
}
template <any_timer_wheel Wheel = timer_wheel>
auto timeout_at(typename Wheel::time_point at, asio::cancellation_type type = asio::cancellation_type::terminal,
                detail::call_site where = detail::call_site::here()) {
    return detail::timed(detail::spec_in_context<Wheel>(at, type, true, where));
}

/// Returns a token that cancels its operation after `delay`; the operation then completes with its own error.
/// The parameters are those of timeout_after().
template <any_timer_wheel Wheel, class Rep, class Period, detail::not_a_type Token>
auto cancel_after(const Wheel& wheel, std::chrono::duration<Rep, Period> delay, Token&& token,
                  asio::cancellation_type type = asio::cancellation_type::terminal) {
    return detail::timed(detail::spec_on(wheel, detail::saturate_to_ns(delay), type, false),
                         std::forward<Token>(token));
}
/// The same with the operation's default token.
template <any_timer_wheel Wheel, class Rep, class Period>
auto cancel_after(const Wheel& wheel, std::chrono::duration<Rep, Period> delay,
                  asio::cancellation_type type = asio::cancellation_type::terminal) {
    return detail::timed(detail::spec_on(wheel, detail::saturate_to_ns(delay), type, false));
}
/// The same two on the wheel of the operation's context.
template <any_timer_wheel Wheel = timer_wheel, class Rep, class Period, detail::not_a_type Token>
auto cancel_after(std::chrono::duration<Rep, Period> delay, Token&& token,
                  asio::cancellation_type type = asio::cancellation_type::terminal,
                  detail::call_site where = detail::call_site::here()) {
    return detail::timed(detail::spec_in_context<Wheel>(detail::saturate_to_ns(delay), type, false, where),
                         std::forward<Token>(token));
}
template <any_timer_wheel Wheel = timer_wheel, class Rep, class Period>
auto cancel_after(std::chrono::duration<Rep, Period> delay,
                  asio::cancellation_type type = asio::cancellation_type::terminal,
                  detail::call_site where = detail::call_site::here()) {
    return detail::timed(detail::spec_in_context<Wheel>(detail::saturate_to_ns(delay), type, false, where));
}

/// The same as cancel_after(), with a point in time.
template <any_timer_wheel Wheel, detail::not_a_type Token>
auto cancel_at(const Wheel& wheel, typename Wheel::time_point at, Token&& token,
               asio::cancellation_type type = asio::cancellation_type::terminal) {
    return detail::timed(detail::spec_on(wheel, at, type, false), std::forward<Token>(token));
}
/// The same with the operation's default token.
template <any_timer_wheel Wheel>
auto cancel_at(const Wheel& wheel, typename Wheel::time_point at,
               asio::cancellation_type type = asio::cancellation_type::terminal) {
    return detail::timed(detail::spec_on(wheel, at, type, false));
}
/// The same two on the wheel of the operation's context.
template <any_timer_wheel Wheel = timer_wheel, detail::not_a_type Token>
auto cancel_at(typename Wheel::time_point at, Token&& token,
               asio::cancellation_type type = asio::cancellation_type::terminal,
               detail::call_site where = detail::call_site::here()) {
    return detail::timed(detail::spec_in_context<Wheel>(at, type, false, where), std::forward<Token>(token));
}
template <any_timer_wheel Wheel = timer_wheel>
auto cancel_at(typename Wheel::time_point at, asio::cancellation_type type = asio::cancellation_type::terminal,
               detail::call_site where = detail::call_site::here()) {
    return detail::timed(detail::spec_in_context<Wheel>(at, type, false, where));
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
