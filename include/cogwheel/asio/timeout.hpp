// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Timeouts for coroutines:
//
//     co_await cogwheel::timeout(wheel, 5s, read_request(socket)); // one awaitable
//     co_await cogwheel::timeout(5s, read_request(socket));        // on the wheel of this context
//
//     cogwheel::timeout_scope within(wheel, 30s);                  // one deadline for several operations
//     co_await socket.async_connect(endpoint, within(asio::use_awaitable));
//     co_await within(read_request(socket));
//
// An operation that is not done in time is cancelled. If the cancellation makes it fail, co_await throws
// std::system_error with asio::error::timed_out. Everything else is as with timeout_after (timeout_after.hpp).
#pragma once

#include <cogwheel/asio/timeout_after.hpp>

#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

namespace cogwheel::inline v0 {

namespace detail {

template <class Spec, class T, class Executor>
asio::awaitable<T, Executor> await_with_timeout(Spec spec, asio::awaitable<T, Executor> a) {
    using token = asio::use_awaitable_t<Executor>;
    const Executor executor = co_await asio::this_coro::executor;
    co_return co_await asio::co_spawn(executor, std::move(a), timed_token<Spec, token>{spec, token()});
}

} // namespace detail

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
/// Lifetime: the wheel must outlive the scope, and must not be moved meanwhile.
template <any_timer_wheel Wheel>
class timeout_scope {
public:
    using time_point = typename Wheel::time_point;
    using duration = typename Wheel::duration;

    timeout_scope(const Wheel& wheel, time_point expiry) : wheel_(&wheel), expiry_(expiry) {}
    template <class Rep, class Period>
    timeout_scope(const Wheel& wheel, std::chrono::duration<Rep, Period> delay)
        : timeout_scope(wheel, detail::point_after(Wheel::clock_type::now(), delay)) {}

    /// Returns a completion token that adds the deadline to `token`, as timeout_at() does.
    template <class Token>
    auto operator()(Token&& token) const {
        return timeout_at(*wheel_, expiry_, std::forward<Token>(token));
    }
    /// Returns an awaitable that awaits `a`, and cancels it at the deadline.
    template <class T, class Executor>
    asio::awaitable<T, Executor> operator()(asio::awaitable<T, Executor> a) const {
        return timeout(*wheel_, expiry_, std::move(a));
    }

    time_point expiry() const noexcept { return expiry_; }
    /// Returns whether the deadline has been reached. Reads the clock.
    bool expired() const { return Wheel::clock_type::now() >= expiry_; }
    /// Returns the time left until the deadline, or zero. Reads the clock.
    duration remaining() const {
        const time_point now = Wheel::clock_type::now();
        return expiry_ > now ? expiry_ - now : duration::zero();
    }

private:
    const Wheel* wheel_;
    time_point expiry_;
};

} // namespace cogwheel::inline v0
