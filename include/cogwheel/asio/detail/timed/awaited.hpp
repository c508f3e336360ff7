// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// An awaitable as an operation with a timeout.
#pragma once

#include <cogwheel/asio/detail/timed/timed_token.hpp>

#if COGWHEEL_ASIO_MACRO(HAS_CO_AWAIT) // Asio 1.22 does not detect the coroutines of every compiler

#include COGWHEEL_ASIO_HEADER(awaitable.hpp)
#include COGWHEEL_ASIO_HEADER(co_spawn.hpp)
#include COGWHEEL_ASIO_HEADER(error.hpp)
#include COGWHEEL_ASIO_HEADER(this_coro.hpp)
#include COGWHEEL_ASIO_HEADER(use_awaitable.hpp)

#include <optional>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

template <class T>
inline constexpr bool is_awaitable = false;
template <class T, class Executor>
inline constexpr bool is_awaitable<asio::awaitable<T, Executor>> = true;

/// Awaits `a` in a coroutine of co_spawn, which otherwise lets only terminal cancellations through.
template <class T, class Executor>
asio::awaitable<T, Executor> accept_all_cancellations(asio::awaitable<T, Executor> a) {
    co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
    co_return co_await std::move(a);
}

/// Starts a coroutine with a timeout, for the handler of use_awaitable: co_await of co_spawn would cost another frame.
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
asio::awaitable<T, Executor> await_with(Spec spec, asio::awaitable<T, Executor> a) {
    const initiate_awaitable<Spec, T, Executor> initiate{std::move(spec)};
    asio::use_awaitable_t<Executor> token;
    if constexpr (std::is_void_v<T>)
        return asio::async_initiate<decltype(token), void(std::exception_ptr)>(initiate, token, std::move(a));
    else
        return asio::async_initiate<decltype(token), void(std::exception_ptr, T)>(initiate, token, std::move(a));
}

#ifdef __cpp_exceptions
/// Awaits the result of await_with(). A timeout becomes an empty result.
template <class T, class Executor>
asio::awaitable<std::optional<T>, Executor> in_time(asio::awaitable<T, Executor> a) {
    try {
        co_return co_await std::move(a);
    } catch (const sys::system_error& e) {
        if (e.code() != asio::error::timed_out) throw;
    }
    co_return std::nullopt;
}
template <class Executor>
asio::awaitable<bool, Executor> in_time(asio::awaitable<void, Executor> a) {
    try {
        co_await std::move(a);
        co_return true;
    } catch (const sys::system_error& e) {
        if (e.code() != asio::error::timed_out) throw;
    }
    co_return false;
}
#else
template <class T, class Executor>
asio::awaitable<std::optional<T>, Executor> in_time(asio::awaitable<T, Executor> a) {
    co_return co_await std::move(a);
}
template <class Executor>
asio::awaitable<bool, Executor> in_time(asio::awaitable<void, Executor> a) {
    co_await std::move(a);
    co_return true;
}
#endif

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

#else

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {
template <class T>
inline constexpr bool is_awaitable = false;
} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

#endif
