// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The wheel of an execution context: the first use makes it, all later uses find it, in all libraries of a process.
//
//     co_await socket.async_read_some(buffer, cogwheel::timeout(5s)); // timeout.hpp
//     cogwheel::wheel_timer timer(socket.get_executor(), 5s);         // wheel_timer.hpp
//     co_await cogwheel::timer_wheel_of(socket.get_executor()).async_wait(5s, asio::use_awaitable);
//     cogwheel::idle_monitor idle(cogwheel::timer_wheel_of(socket.get_executor()), ...);
//
// - The wheel runs its turns on the executor of the io_context or thread_pool, even if the first use names a strand. On
//   another context, or on a thread_pool behind an any_io_executor, it runs them on the executor of the first use.
// - The wheel lives until the context is destroyed. For options, call make_timer_wheel_of() before the first use.
// - Write timer_wheel_of<local_timer_wheel>(executor) for a wheel without a lock. Each executor then has a wheel of its
//   own, until the context is destroyed: use it with few executors, each of one thread, or each a strand.
// Complexity: O(1), some nanoseconds. Beyond 64 contexts, and beyond the first executor of a local wheel, a look-up
//   takes a mutex and walks the services of the context and its executors.
// Lifetime: a library that made or used the wheel must stay loaded until the context is destroyed. The first use must
//   come before that destruction begins: not in the destructor of a handler that the context destroys.
#pragma once

#include <cogwheel/asio/detail/executor/context_wheel.hpp>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {
template <class T>
concept any_context = context_for<T, typename T::executor_type>;
} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

// g++ from 13 on takes a reference that a function returns for one to a temporary argument, here to the executor.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wdangling-reference"

/// Returns the wheel of the executor's context, of type `Wheel`. Makes it at the first call. All libraries of the
/// process share the wheel, so this reference cannot stop or move it.
/// Errors: std::bad_alloc. Thread safety: any thread.
template <any_timer_wheel Wheel = timer_wheel, detail::any_executor Executor>
const Wheel& timer_wheel_of(Executor executor) {
    return detail::find_wheel<Wheel>(executor);
}
/// The same for the executor of a context.
template <any_timer_wheel Wheel = timer_wheel, detail::any_context Context>
const Wheel& timer_wheel_of(Context& context) {
    return detail::find_wheel<Wheel>(context.get_executor());
}

#pragma GCC diagnostic pop

/// Makes the wheel of the executor's context with these options. The caller owns the wheel: this reference can stop it.
/// Errors: std::logic_error if it exists; std::invalid_argument (options); std::bad_alloc. Thread safety: any thread.
template <any_timer_wheel Wheel = timer_wheel, detail::any_executor Executor>
Wheel& make_timer_wheel_of(Executor executor, wheel_options options) {
    using service = detail::context_wheel_service<Wheel>;
    asio::execution_context& context = detail::context_of(executor);
    return asio::use_service<service>(context).use(executor, &options);
}
/// The same for the executor of a context.
template <any_timer_wheel Wheel = timer_wheel, detail::any_context Context>
Wheel& make_timer_wheel_of(Context& context, wheel_options options) {
    return make_timer_wheel_of<Wheel>(context.get_executor(), options);
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
