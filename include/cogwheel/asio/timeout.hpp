// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Timeouts for operations of any kind. A *when* is a duration, a point in time, or a deadline.
//
//     socket.async_read_some(buffer, cogwheel::timeout(5s, token));          // on the wheel of the socket's context
//     socket.async_read_some(buffer, cogwheel::timeout(wheel, 5s, token));   // on a wheel that the caller names
//     co_await stream.async_read_some(buffer, cogwheel::timeout(5s));        // with the stream's default token
//     co_await cogwheel::timeout(5s, read_request(socket));                  // an awaitable; throws timed_out
//     auto r = co_await cogwheel::timeout(5s, std::nothrow, read(socket));   // std::optional: empty if it timed out
//     co_await resolver.async_resolve(host, port, cogwheel::abandon(5s, token)); // ignores cancellation
//
//     cogwheel::timeout_scope within(30s);                                   // one deadline for several operations
//     co_await socket.async_connect(endpoint, within(asio::use_awaitable));
//     co_await within(read_request(socket));
//
// When the time has passed, timeout() cancels the operation; abandon() completes it, although it still runs. For both:
// - Each operation completes exactly once, unless an execution context is destroyed first.
// - If the wheel refuses the timer, the operation does not start; it completes with errc::stopped or
//   errc::too_many_timers. But if its first result is no error, or a result has no default constructor, it starts, and
//   a later turn cancels it.
// - Without a wheel, the timer goes to the wheel of the context of the operation's executor (timer_wheel_of.hpp). The
//   operation must say its executor, as for asio::cancel_after.
// Complexity: O(1). Errors: std::bad_alloc when the operation starts; it has then not started.
// Thread safety: that of the wheel. If several threads run the context, an operation of several parts, such as
//   asio::async_read or a coroutine, needs a strand (docs/asio.md, "Several threads"). As always in Asio, emit a
//   cancellation on the handler's executor only.
// Lifetime: the wheel must exist when the operation starts; the wheel's execution context, until the operation ends.
#pragma once

#include <cogwheel/asio/detail/timed/abandonable.hpp>
#include <cogwheel/asio/detail/timed/awaited.hpp>
#include <cogwheel/asio/detail/timed/timeout_spec.hpp>

#include <new>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Returns a token that cancels its operation at `when`, through the operation's cancellation slot. A duration counts
/// from the operation's start. With a duration of zero or less, or a past point, the operation starts. The next turn
/// cancels it unless it has completed by then.
/// Parameters: `options` say how the operation is cancelled and with which error it completes. `token` is the
///   operation's completion token.
/// Effects: an error that means a cancellation becomes asio::error::timed_out. All other results reach the handler
///   unchanged, for instance if the operation ignores the signal or ends before it. An operation whose first result is
///   no error completes as with `own_error`. If the wheel is destroyed, or stop() or cancel_all() cancels its timers, a
///   later turn cancels the operation, which completes with its own result. Takes one block of memory for timer,
///   handler and signal, from the same sources as async_wait().
/// Cancellation: a signal of the handler's own slot passes to the operation. Which operations obey which type of
///   cancellation: docs/asio.md, "What a timeout can cancel".
/// Executor: the timer emits the signal on the handler's associated executor, else on the operation's. Also on the
///   operation's if the handler's runs functions anywhere: that of asio::use_future, system_executor, inline_executor.
template <any_timer_wheel Wheel = timer_wheel, detail::timeout_when<Wheel> When, detail::timeout_token Token>
auto timeout(const When& when, Token&& token) {
    return detail::timed(detail::spec_in_context<Wheel>(when, {}), std::forward<Token>(token));
}
template <any_timer_wheel Wheel = timer_wheel, detail::timeout_when<Wheel> When, detail::timeout_token Token>
auto timeout(const When& when, timeout_options options, Token&& token) {
    return detail::timed(detail::spec_in_context<Wheel>(when, options), std::forward<Token>(token));
}
/// Does the same with the operation's default token.
template <any_timer_wheel Wheel = timer_wheel, detail::timeout_when<Wheel> When>
auto timeout(const When& when, timeout_options options = {}) {
    return detail::timed(detail::spec_in_context<Wheel>(when, options));
}
/// The same three on a wheel that the caller names.
template <any_timer_wheel Wheel, detail::timeout_when<Wheel> When, detail::timeout_token Token>
auto timeout(const Wheel& wheel, const When& when, Token&& token) {
    return detail::timed(detail::spec_on(wheel, when, {}), std::forward<Token>(token));
}
template <any_timer_wheel Wheel, detail::timeout_when<Wheel> When, detail::timeout_token Token>
auto timeout(const Wheel& wheel, const When& when, timeout_options options, Token&& token) {
    return detail::timed(detail::spec_on(wheel, when, options), std::forward<Token>(token));
}
template <any_timer_wheel Wheel, detail::timeout_when<Wheel> When>
auto timeout(const Wheel& wheel, const When& when, timeout_options options = {}) {
    return detail::timed(detail::spec_on(wheel, when, options));
}

#if COGWHEEL_ASIO_MACRO(HAS_CO_AWAIT)
/// Returns an awaitable that awaits `a`, and cancels it at `when`; a duration counts from the co_await. If the
/// cancellation makes it fail, co_await throws std::system_error with asio::error::timed_out. A signal from outside, of
/// any type, reaches the operation if it passes the cancellation state of the coroutine that awaits. As for co_spawn, T
/// is void or default constructible.
template <any_timer_wheel Wheel = timer_wheel, detail::timeout_when<Wheel> When, class T, class Executor>
asio::awaitable<T, Executor> timeout(const When& when, asio::awaitable<T, Executor> a) {
    return detail::await_with(detail::spec_in_context<Wheel>(when, {}), std::move(a));
}
template <any_timer_wheel Wheel, detail::timeout_when<Wheel> When, class T, class Executor>
asio::awaitable<T, Executor> timeout(const Wheel& wheel, const When& when, asio::awaitable<T, Executor> a) {
    return detail::await_with(detail::spec_on(wheel, when, {}), std::move(a));
}
/// Do the same, but a timeout is no exception. The result is a std::optional<T>, empty if `a` fails with timed_out; for
/// an awaitable<void>, a bool, false in that case.
template <any_timer_wheel Wheel = timer_wheel, detail::timeout_when<Wheel> When, class T, class Executor>
auto timeout(const When& when, std::nothrow_t, asio::awaitable<T, Executor> a) {
    return detail::in_time(timeout<Wheel>(when, std::move(a)));
}
template <any_timer_wheel Wheel, detail::timeout_when<Wheel> When, class T, class Executor>
auto timeout(const Wheel& wheel, const When& when, std::nothrow_t, asio::awaitable<T, Executor> a) {
    return detail::in_time(timeout(wheel, when, std::move(a)));
}
#endif

template <std::integral N, class... More>
mistake::a_delay_needs_a_unit_write_timeout_5s_token timeout(N, More&&...) = delete;
template <any_timer_wheel Wheel, std::integral N, class... More>
mistake::a_delay_needs_a_unit_write_timeout_5s_token timeout(const Wheel&, N, More&&...) = delete;

/// Returns a token that abandons its operation at `when`: the operation then completes at once with timed_out, although
/// it still runs. Its late result is destroyed when it comes. A duration counts from the operation's start.
/// Preconditions: the operation uses nothing that belongs to the caller. Right for async_resolve (it waits for
///   getaddrinfo, which nothing can interrupt), for work in a thread pool, and for a co_spawn of a coroutine that owns
///   what it uses. Wrong for reads and writes, which use the caller's buffer. Tokens for operations whose results do
///   not own their data, or are a number of bytes, do not compile (owns_its_data).
/// Effects: takes a block of the heap, freed when the operation has ended, and a timer of the wheel.
/// Cancellation: a signal of the handler's slot passes to the operation, which completes at once with
///   operation_aborted. If the wheel's timers are cancelled, the operation also completes so, but gets no signal.
/// Errors: if there is no memory to bring the timeout to the handler's executor, the exception leaves run(), and the
///   operation has no timeout any more.
/// Lifetime: the operation's context, too, must exist until the operation ends.
template <any_timer_wheel Wheel = timer_wheel, detail::timeout_when<Wheel> When, detail::timeout_token Token>
auto abandon(const When& when, Token&& token) {
    return detail::timed(detail::abandon_in_context<Wheel>(when), std::forward<Token>(token));
}
/// The same with the operation's default token.
template <any_timer_wheel Wheel = timer_wheel, detail::timeout_when<Wheel> When>
auto abandon(const When& when) {
    return detail::timed(detail::abandon_in_context<Wheel>(when));
}
/// The same two on a wheel that the caller names.
template <any_timer_wheel Wheel, detail::timeout_when<Wheel> When, detail::timeout_token Token>
auto abandon(const Wheel& wheel, const When& when, Token&& token) {
    return detail::timed(detail::abandon_on(wheel, when), std::forward<Token>(token));
}
template <any_timer_wheel Wheel, detail::timeout_when<Wheel> When>
auto abandon(const Wheel& wheel, const When& when) {
    return detail::timed(detail::abandon_on(wheel, when));
}

/// A deadline for several operations: the caller calls the scope with the token or awaitable of each. A duration counts
/// from the scope's construction. Each operation has its own timer; the scope has none.
/// Wheel: the type of the wheel that is named, or void: each operation's timer goes to the timer_wheel of its context.
/// Lifetime: a wheel that is named must outlive the scope.
template <class Wheel = void>
class timeout_scope {
    using place = detail::scope_place<Wheel>;
    using clock = typename place::wheel_type::clock_type;

public:
    using time_point = typename clock::time_point;
    using duration = typename clock::duration;

    template <any_timer_wheel W, detail::timeout_when<W> When>
        requires std::same_as<W, Wheel>
    timeout_scope(const W& wheel, const When& when)
        : place_(&detail::impl_of(wheel)), at_(detail::point_of<clock>(when)) {}
    template <detail::when<clock> When>
        requires std::is_void_v<Wheel>
    explicit timeout_scope(const When& when) : at_(detail::point_of<clock>(when)) {}

    /// Returns a completion token that adds the deadline to `token`, as timeout() does.
    template <detail::scope_token Token>
    auto operator()(Token&& token) const {
        return detail::timed(spec(), std::forward<Token>(token));
    }
#if COGWHEEL_ASIO_MACRO(HAS_CO_AWAIT)
    /// Returns an awaitable that awaits `a`, and cancels it at the deadline; with std::nothrow, as timeout() does.
    template <class T, class Executor>
    asio::awaitable<T, Executor> operator()(asio::awaitable<T, Executor> a) const {
        return detail::await_with(spec(), std::move(a));
    }
    template <class T, class Executor>
    auto operator()(std::nothrow_t, asio::awaitable<T, Executor> a) const {
        return detail::in_time(detail::await_with(spec(), std::move(a)));
    }
#endif
    /// Returns a completion token that abandons the operation at the deadline, as abandon() does.
    template <class Token>
    auto abandon(Token&& token) const {
        return detail::timed(detail::abandon_spec<typename place::type, time_point>{place_, at_},
                             std::forward<Token>(token));
    }

    time_point expiry() const noexcept { return at_; }
    /// Returns whether the deadline has been reached. Reads the clock.
    bool expired() const { return clock::now() >= at_; }
    /// Returns the time left until the deadline, or zero. Reads the clock.
    duration remaining() const {
        const time_point now = clock::now();
        return at_ > now ? at_ - now : duration::zero();
    }

private:
    auto spec() const { return detail::timeout_spec<typename place::type, time_point>{place_, at_, {}}; }

    typename place::type place_;
    time_point at_;
};

template <detail::when<std::chrono::steady_clock> When>
timeout_scope(const When&) -> timeout_scope<>;
template <any_timer_wheel Wheel, class When>
timeout_scope(const Wheel&, const When&) -> timeout_scope<Wheel>;

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
