// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The wheel of an execution context. Nobody has to make it or hand it on: the first use makes it, all later ones find
// it, in all libraries of the process.
//
//     co_await socket.async_read_some(buffer, cogwheel::timeout_after(5s)); // timeout_after.hpp
//     cogwheel::wheel_timer timer(socket.get_executor(), 5s);               // wheel_timer.hpp
//     co_await cogwheel::async_wait(socket.get_executor(), 5s, asio::use_awaitable);
//     cogwheel::idle_monitor idle(cogwheel::timer_wheel_of(socket.get_executor()), ...);
//
// - The wheel runs its turns on the executor of the io_context or thread_pool, also if a strand of it comes first. On
//   another context, or on a thread_pool behind an any_io_executor, it runs them on the executor that comes first.
// - The wheel lives until the context is destroyed. Options: call make_timer_wheel_of() before the first use.
// - Write timer_wheel_of<local_timer_wheel>(executor) for a wheel without a lock. Each executor then has a wheel of its
//   own, until the context is destroyed: use it with few executors, each of one thread, or each a strand.
// Complexity: O(1), some nanoseconds. Beyond 64 contexts, and beyond the first executor of a local wheel, a look-up
//   takes a mutex and walks the services of the context and its executors.
// Lifetime: a library that made or used the wheel must stay loaded until the context is destroyed.
#pragma once

#include <cogwheel/asio/detail/context_wheel.hpp>

namespace cogwheel {

namespace detail {
template <class T>
concept io_executor = asio::is_executor<T>::value || asio::execution::is_executor<T>::value;
template <class T>
concept io_context_type = std::derived_from<T, asio::execution_context> && requires(T& t) { t.get_executor(); };
} // namespace detail

/// Returns the wheel of the executor's context, of type `Wheel`. Makes it at the first call.
/// Errors: std::bad_alloc. Thread safety: any thread.
template <any_timer_wheel Wheel = basic_timer_wheel<std::chrono::steady_clock, multi_threaded>,
          detail::io_executor Executor>
Wheel& timer_wheel_of(const Executor& executor, const std::source_location& where = std::source_location::current()) {
    return detail::find_wheel<Wheel>(executor, where);
}
/// The same for the executor of a context.
template <any_timer_wheel Wheel = basic_timer_wheel<std::chrono::steady_clock, multi_threaded>,
          detail::io_context_type Context>
Wheel& timer_wheel_of(Context& context, const std::source_location& where = std::source_location::current()) {
    return detail::find_wheel<Wheel>(context.get_executor(), where);
}

/// Makes the wheel of the executor's context with these options.
/// Errors: std::logic_error if it exists already; the message says where it was made. std::invalid_argument (options,
///   see wheel_options), std::bad_alloc. Thread safety: any thread.
template <any_timer_wheel Wheel = basic_timer_wheel<std::chrono::steady_clock, multi_threaded>,
          detail::io_executor Executor>
Wheel& make_timer_wheel_of(const Executor& executor, const wheel_options& options,
                           const std::source_location& where = std::source_location::current()) {
    using service = detail::context_wheel_service<Wheel>;
    asio::execution_context& context = detail::context_of(executor);
    return asio::use_service<service>(context).use(executor, &options, where);
}
/// The same for the executor of a context.
template <any_timer_wheel Wheel = basic_timer_wheel<std::chrono::steady_clock, multi_threaded>,
          detail::io_context_type Context>
Wheel& make_timer_wheel_of(Context& context, const wheel_options& options,
                           const std::source_location& where = std::source_location::current()) {
    return make_timer_wheel_of<Wheel>(context.get_executor(), options, where);
}

} // namespace cogwheel
