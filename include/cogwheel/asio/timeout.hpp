// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Timeouts for coroutines:
//
//     co_await cogwheel::timeout(wheel, 5s, read_request(socket)); // one awaitable
//     co_await cogwheel::timeout(5s, read_request(socket));        // on the wheel of this context
//
//     cogwheel::timeout_scope within(wheel, 30s);                  // one deadline for several operations; or (30s)
//     co_await socket.async_connect(endpoint, within(asio::use_awaitable));
//     co_await within(read_request(socket));
//
// An operation that is not done in time is cancelled. If the cancellation makes it fail, co_await throws
// std::system_error with asio::error::timed_out. A signal from outside reaches the operation if it passes the
// cancellation state of the coroutine that awaits, of whatever type. Everything else is as with timeout_after
// (timeout_after.hpp).
// Thread safety: if several threads run the context, spawn the coroutine on a strand: asio::make_strand(io).
#pragma once

#include <cogwheel/asio/timeout_after.hpp>

#include COGWHEEL_ASIO_HEADER(awaitable.hpp)
#include COGWHEEL_ASIO_HEADER(co_spawn.hpp)
#include COGWHEEL_ASIO_HEADER(this_coro.hpp)
#include COGWHEEL_ASIO_HEADER(use_awaitable.hpp)

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// Awaits `a` in a coroutine of co_spawn, which would let only terminal cancellations through.
template <class T, class Executor>
asio::awaitable<T, Executor> accept_all_cancellations(asio::awaitable<T, Executor> a) {
    co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
    co_return co_await std::move(a);
}

/// Starts a coroutine with a timeout, for the handler of use_awaitable. A co_await of co_spawn in a coroutine of ours
/// would cost one more frame.
template <class Spec, class T, class Executor>
struct initiate_awaitable {
    Spec spec;

    template <class Handler>
    void operator()(Handler handler, asio::awaitable<T, Executor> a) const {
        const Executor executor = handler.get_executor();
        asio::co_spawn(executor, accept_all_cancellations(std::move(a)),
                       timed_token<Spec, Handler>{spec, std::move(handler)});
    }
};

template <class Spec, class T, class Executor>
asio::awaitable<T, Executor> await_with_timeout(Spec spec, asio::awaitable<T, Executor> a) {
    const initiate_awaitable<Spec, T, Executor> initiate{std::move(spec)};
    asio::use_awaitable_t<Executor> token;
    if constexpr (std::is_void_v<T>)
        return asio::async_initiate<decltype(token), void(std::exception_ptr)>(initiate, token, std::move(a));
    else
        return asio::async_initiate<decltype(token), void(std::exception_ptr, T)>(initiate, token, std::move(a));
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Returns an awaitable that awaits `a`, and cancels it after `delay`. The delay counts from the co_await.
template <any_timer_wheel Wheel, class Rep, class Period, class T, class Executor>
asio::awaitable<T, Executor> timeout(const Wheel& wheel, std::chrono::duration<Rep, Period> delay,
                                     asio::awaitable<T, Executor> a) {
    return detail::await_with_timeout(timeout_after(wheel, delay).spec, std::move(a));
}
/// The same, with a point in time.
template <any_timer_wheel Wheel, class T, class Executor>
asio::awaitable<T, Executor> timeout(const Wheel& wheel, typename Wheel::time_point at,
                                     asio::awaitable<T, Executor> a) {
    return detail::await_with_timeout(timeout_at(wheel, at).spec, std::move(a));
}

/// The same two on the wheel of the context on which the coroutine runs (timer_wheel_of.hpp).
template <any_timer_wheel Wheel = timer_wheel, class Rep, class Period, class T, class Executor>
asio::awaitable<T, Executor> timeout(std::chrono::duration<Rep, Period> delay, asio::awaitable<T, Executor> a,
                                     detail::call_site where = detail::call_site::here()) {
    return detail::await_with_timeout(timeout_after<Wheel>(delay, asio::cancellation_type::terminal, where).spec,
                                      std::move(a));
}
template <any_timer_wheel Wheel = timer_wheel, class T, class Executor>
asio::awaitable<T, Executor> timeout(typename Wheel::time_point at, asio::awaitable<T, Executor> a,
                                     detail::call_site where = detail::call_site::here()) {
    return detail::await_with_timeout(timeout_at<Wheel>(at, asio::cancellation_type::terminal, where).spec,
                                      std::move(a));
}

/// A deadline for several operations. The caller applies it to each operation: it calls the scope with a token or an
/// awaitable. A delay counts from the scope's construction. Each operation has its own timer; the scope has none.
/// Without a wheel it is a context_timeout_scope, and each operation's timer goes to the wheel of its context.
/// Lifetime: a wheel that is named must outlive the scope.
template <any_timer_wheel Wheel, class Place = detail::given_wheel<detail::impl_type<Wheel>>>
class timeout_scope {
public:
    using time_point = typename Wheel::time_point;
    using duration = typename Wheel::duration;

    timeout_scope(const Wheel& wheel, time_point expiry)
        requires(Place::named)
        : spec_{{&detail::impl_of(wheel)}, expiry, asio::cancellation_type::terminal, true} {}
    template <class Rep, class Period>
    timeout_scope(const Wheel& wheel, std::chrono::duration<Rep, Period> delay)
        requires(Place::named)
        : timeout_scope(wheel, detail::point_after(Wheel::clock_type::now(), delay)) {}

    /// The same two on the wheel of each operation's context (timer_wheel_of.hpp).
    explicit timeout_scope(time_point expiry, detail::call_site where = detail::call_site::here())
        requires(!Place::named)
        : spec_{{where}, expiry, asio::cancellation_type::terminal, true} {}
    template <class Rep, class Period>
    explicit timeout_scope(std::chrono::duration<Rep, Period> delay,
                           detail::call_site where = detail::call_site::here())
        requires(!Place::named)
        : timeout_scope(detail::point_after(Wheel::clock_type::now(), delay), where) {}

    /// Returns a completion token that adds the deadline to `token`, as timeout_at() does.
    template <class Token>
    auto operator()(Token&& token) const {
        return detail::timed(spec_, std::forward<Token>(token));
    }
    /// Returns an awaitable that awaits `a`, and cancels it at the deadline.
    template <class T, class Executor>
    asio::awaitable<T, Executor> operator()(asio::awaitable<T, Executor> a) const {
        return detail::await_with_timeout(spec_, std::move(a));
    }

    time_point expiry() const noexcept { return spec_.when; }
    /// Returns whether the deadline has been reached. Reads the clock.
    bool expired() const { return Wheel::clock_type::now() >= expiry(); }
    /// Returns the time left until the deadline, or zero. Reads the clock.
    duration remaining() const {
        const time_point now = Wheel::clock_type::now();
        return expiry() > now ? expiry() - now : duration::zero();
    }

private:
    detail::timeout_spec<Place, time_point> spec_;
};

template <class Rep, class Period>
timeout_scope(std::chrono::duration<Rep, Period>) -> timeout_scope<timer_wheel, detail::context_wheel<timer_wheel>>;
timeout_scope(timer_wheel::time_point) -> timeout_scope<timer_wheel, detail::context_wheel<timer_wheel>>;

/// A scope on the wheels of the operations' contexts, of type `Wheel`.
template <any_timer_wheel Wheel = timer_wheel>
using context_timeout_scope = timeout_scope<Wheel, detail::context_wheel<Wheel>>;

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
