// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Limits for coroutines:
//
//     co_await cogwheel::timeout(wheel, 5s, read_request(socket));        // one awaitable
//
//     cogwheel::scope_deadline limit(wheel, 30s);                         // all that is awaited in a scope
//     co_await socket.async_connect(endpoint, limit(asio::use_awaitable));
//     co_await limit(read_request(socket));
//
// What is not done in time is cancelled and throws std::system_error with asio::error::timed_out.
#pragma once

#include <cogwheel/asio/timeout_after.hpp>

#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

namespace cogwheel {

namespace detail {

template <class Limit, class T, class Executor>
asio::awaitable<T, Executor> await_limited(Limit limit, asio::awaitable<T, Executor> a) {
    using token = asio::use_awaitable_t<Executor>;
    const Executor executor = co_await asio::this_coro::executor;
    co_return co_await asio::co_spawn(executor, std::move(a), timed_token<Limit, token>{limit, token()});
}

} // namespace detail

/// Awaits `a` for `delay` at most.
template <any_timer_wheel Wheel, class Rep, class Period, class T, class Executor>
asio::awaitable<T, Executor> timeout(const Wheel& wheel, std::chrono::duration<Rep, Period> delay,
                                     asio::awaitable<T, Executor> a) {
    return detail::await_limited(timeout_after(wheel, delay).limit, std::move(a));
}
template <any_timer_wheel Wheel, class T, class Executor>
asio::awaitable<T, Executor> timeout(const Wheel& wheel, typename Wheel::time_point at,
                                     asio::awaitable<T, Executor> a) {
    return detail::await_limited(timeout_at(wheel, at).limit, std::move(a));
}

/// One point in time that bounds several operations, each through a call: limit(token), limit(awaitable).
/// A value: copies for nothing, holds no timer while nothing is awaited. Lifetime: the wheel's.
template <any_timer_wheel Wheel>
class scope_deadline {
public:
    using time_point = typename Wheel::time_point;
    using duration = typename Wheel::duration;

    scope_deadline(const Wheel& wheel, time_point expiry) : wheel_(&wheel), expiry_(expiry) {}
    template <class Rep, class Period>
    scope_deadline(const Wheel& wheel, std::chrono::duration<Rep, Period> delay)
        : scope_deadline(wheel, detail::point_after(Wheel::clock_type::now(), delay)) {}

    template <class Token>
    auto operator()(Token&& token) const {
        return timeout_at(*wheel_, expiry_, std::forward<Token>(token));
    }
    template <class T, class Executor>
    asio::awaitable<T, Executor> operator()(asio::awaitable<T, Executor> a) const {
        return timeout(*wheel_, expiry_, std::move(a));
    }

    time_point expiry() const noexcept { return expiry_; }
    bool expired() const { return Wheel::clock_type::now() >= expiry_; }
    duration remaining() const {
        const time_point now = Wheel::clock_type::now();
        return expiry_ > now ? expiry_ - now : duration::zero();
    }

private:
    const Wheel* wheel_;
    time_point expiry_;
};

} // namespace cogwheel
