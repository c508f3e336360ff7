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
// Lifetime: a library that made or used the wheel must stay loaded until the context is destroyed. The first use comes
//   before that destruction begins: not in the destructor of a handler that the context destroys.
#pragma once

#include <cogwheel/asio/detail/executor/context_wheel.hpp>

#include COGWHEEL_ASIO_HEADER(bind_executor.hpp)

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {
template <class T>
concept any_executor = asio::is_executor<T>::value || asio::execution::is_executor<T>::value;
template <class T>
concept any_context = context_for<T, typename T::executor_type>;

/// Starts a wait on the wheel of an executor's context.
template <class Wheel, class Executor>
class initiate_context_wait {
public:
    using executor_type = Executor;

    initiate_context_wait(const Executor& executor, detail::call_site where) : executor_(executor), where_(where) {}
    executor_type get_executor() const noexcept { return executor_; }

    template <class Handler, class When>
    void operator()(Handler&& handler, When when) const {
        Wheel& wheel = find_wheel<Wheel>(executor_, where_);
        if constexpr (!has_executor<std::decay_t<Handler>>)
            if (!same_executor(wheel.get_executor(), executor_))
                return start(wheel, asio::bind_executor(executor_, std::forward<Handler>(handler)), when);
        start(wheel, std::forward<Handler>(handler), when);
    }

private:
    template <class Handler>
    static void start(Wheel& wheel, Handler&& handler, std::chrono::nanoseconds delay) {
        impl_of(wheel).start_wait(std::forward<Handler>(handler), from_present{delay});
    }
    template <class Handler>
    static void start(Wheel& wheel, Handler&& handler, typename Wheel::time_point at) {
        impl_of(wheel).start_wait(std::forward<Handler>(handler), at);
    }

    Executor executor_;
    detail::call_site where_;
};
} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

// By value, because GCC takes a reference that a function returns for one to a temporary argument
// (-Wdangling-reference).

/// Returns the wheel of the executor's context, of type `Wheel`. Makes it at the first call.
/// Errors: std::bad_alloc. Thread safety: any thread.
template <any_timer_wheel Wheel = timer_wheel, detail::any_executor Executor>
Wheel& timer_wheel_of(Executor executor, detail::call_site where = detail::call_site::here()) {
    return detail::find_wheel<Wheel>(executor, where);
}
/// The same for the executor of a context.
template <any_timer_wheel Wheel = timer_wheel, detail::any_context Context>
Wheel& timer_wheel_of(Context& context, detail::call_site where = detail::call_site::here()) {
    return detail::find_wheel<Wheel>(context.get_executor(), where);
}

/// Makes the wheel of the executor's context with these options.
/// Errors: std::logic_error if it exists already; the message says where it was made. std::invalid_argument (options,
///   see wheel_options), std::bad_alloc. Thread safety: any thread.
template <any_timer_wheel Wheel = timer_wheel, detail::any_executor Executor>
Wheel& make_timer_wheel_of(Executor executor, wheel_options options,
                           detail::call_site where = detail::call_site::here()) {
    using service = detail::context_wheel_service<Wheel>;
    asio::execution_context& context = detail::context_of(executor);
    return asio::use_service<service>(context).use(executor, &options, where);
}
/// The same for the executor of a context.
template <any_timer_wheel Wheel = timer_wheel, detail::any_context Context>
Wheel& make_timer_wheel_of(Context& context, wheel_options options,
                           detail::call_site where = detail::call_site::here()) {
    return make_timer_wheel_of<Wheel>(context.get_executor(), options, where);
}

/// Starts a wait that completes after `delay`, on the wheel of the executor's context.
/// Executor: the handler's associated one, else `executor`. Everything else is as with timer_wheel::async_wait().
template <any_timer_wheel Wheel = timer_wheel, detail::any_executor Executor, class Rep, class Period,
          class Token = typename asio::default_completion_token<Executor>::type>
auto async_wait(const Executor& executor, std::chrono::duration<Rep, Period> delay, Token&& token = {},
                detail::call_site where = detail::call_site::here()) {
    return asio::async_initiate<Token, void(error_code)>(
        detail::initiate_context_wait<Wheel, Executor>(executor, where), token, detail::saturate_to_ns(delay));
}
/// The same with the executor of a context.
template <any_timer_wheel Wheel = timer_wheel, detail::any_context Context, class Rep, class Period,
          class Token = typename asio::default_completion_token<typename Context::executor_type>::type>
auto async_wait(Context& context, std::chrono::duration<Rep, Period> delay, Token&& token = {},
                detail::call_site where = detail::call_site::here()) {
    return async_wait<Wheel>(context.get_executor(), delay, std::forward<Token>(token), where);
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
