// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The payloads of the timers of the binding: a callable of schedule(), or a handler of async_wait().
#pragma once

#include <cogwheel/asio/detail/engine/operation.hpp>
#include <cogwheel/asio/detail/executor/cancellation.hpp>
#include <cogwheel/asio/detail/executor/executors.hpp>
#include <cogwheel/asio/detail/executor/wrapped_handler.hpp>
#include <cogwheel/asio/error.hpp>
#include <cogwheel/detail/exceptions.hpp>

#include COGWHEEL_ASIO_HEADER(any_io_executor.hpp)
#include COGWHEEL_ASIO_HEADER(associated_allocator.hpp)
#include COGWHEEL_ASIO_HEADER(associated_cancellation_slot.hpp)
#include COGWHEEL_ASIO_HEADER(associated_executor.hpp)
#include COGWHEEL_ASIO_HEADER(detail/handler_tracking.hpp)
#include COGWHEEL_ASIO_HEADER(error.hpp)
#include COGWHEEL_ASIO_HEADER(execution/context.hpp)
#include COGWHEEL_ASIO_HEADER(query.hpp)

#include <optional>
#include <typeinfo>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// A handler with its error code. It keeps the handler's associations.
template <class Handler>
struct bound_handler {
    using associations = of_handler;
    Handler handler;
    error_code ec;

    void operator()() { std::move(handler)(ec); }
};

/// The type of T's associated allocator, or void if T has none.
template <class T, bool = has_allocator<T>>
struct payload_allocator {
    using type = void;
};
template <class T>
struct payload_allocator<T, true> {
    using type = asio::associated_allocator_t<T>;
};

/// Returns the error of a refused timer. Preconditions: not accepted.
inline error_code error_of(admission a) noexcept {
    return a == admission::stopped ? errc::stopped : errc::too_many_timers;
}

inline error_code wait_error(outcome how) noexcept {
    switch (how) {
    case outcome::expired:
        return {};
    case outcome::stopped:
        return errc::stopped;
    case outcome::rejected:
        return errc::too_many_timers;
    default:
        return asio::error::operation_aborted;
    }
}

/// A pending async_wait. ASIO_ENABLE_HANDLER_TRACKING shows it as an operation of Asio's own.
template <class Handler>
class waiting_handler COGWHEEL_ASIO_MACRO(INHERIT_TRACKED_HANDLER) {
public:
    using what = Handler;
    using allocator_type = typename payload_allocator<Handler>::type;
    static constexpr timer_kind kind = timer_kind::wait;
    static constexpr bool silent = false;
    static constexpr bool listed = false;

    template <class H>
    waiting_handler(H&& h, const asio::any_io_executor& wheel_executor)
        : work_(h, wheel_executor), handler_(std::forward<H>(h)) {}

    template <class Engine>
    void deliver(outcome how, Engine& engine) && {
        COGWHEEL_ASIO_MACRO(HANDLER_COMPLETION)((*this));
        if (how == outcome::destroyed) return;
        bound_handler<Handler> bound{std::move(handler_), wait_error(how)};
        COGWHEEL_ASIO_MACRO(HANDLER_INVOCATION_BEGIN)((bound.ec));
        if constexpr (has_executor<Handler>)
            run_associated(std::move(bound), engine.executor());
        else
            bound();
        COGWHEEL_ASIO_MACRO(HANDLER_INVOCATION_END);
    }

    static auto allocator_of(const Handler& h) noexcept { return asio::get_associated_allocator(h); }
    auto get_allocator() const noexcept { return allocator_of(handler_); }

private:
    [[no_unique_address]] foreign_work<Handler> work_; // destroyed last: the handler's executors may need the context
    Handler handler_;
};

// Parts of start_waiting() that name no handler type, so that they are compiled once for all.

/// Connects a wait with its handler's slot. Unlocks meanwhile. Errors: std::bad_alloc, perhaps without the lock.
template <class Target, class Engine, class Slot>
void connect_waiting(Engine& engine, typename Engine::lock_type& lock, timer_node& node, Slot& slot) {
    const timer_id id = node.next_id();
    lock.unlock();
    slot.template emplace<slot_handler<Engine, Target>>(engine, id);
    lock.lock();
}
/// Destroys a wait that could not begin. Takes the lock if it is released.
template <class Engine>
[[gnu::cold]] void destroy_waiting(Engine& engine, typename Engine::lock_type& lock, timer_node& node) {
    if (!lock.owns_lock()) lock.lock();
    typename Engine::completion_context c{engine, lock, outcome::destroyed};
    node.complete(&c);
}

/// Starts a wait: makes its node, connects it with the handler's `slot`, and calls begin(node, connected) under the
/// lock. begin() makes the wait pending, or defers its completion. Handler tracking shows `object`.
/// Effects: if this returns, the handler is called exactly once, or the execution context destroys it.
/// Errors: std::bad_alloc; those of begin(). The handler is then destroyed.
template <class Payload, class Target, class Engine, class Slot, class Handler, class Begin>
void start_waiting(Engine& engine, [[maybe_unused]] void* object, Slot slot, Handler&& handler, Begin begin) {
    using op = operation<Engine, Payload>;
    typename Engine::lock_type lock = engine.lock();
    if (engine.is_shut_down()) return; // the context destroys all handlers, so this one too
    timer_node& node = op::create(engine, std::forward<Handler>(handler), engine.executor());
    COGWHEEL_ASIO_MACRO(HANDLER_CREATION)((asio::query(engine.executor(), asio::execution::context), op::payload(node),
                                           Payload::listed ? "wheel_timer" : "timer_wheel", object, 0, "async_wait"));
    COGWHEEL_TRY {
        // Before the timer can fire, because afterwards the slot may no longer exist.
        if (slot.is_connected()) connect_waiting<Target>(engine, lock, node, slot);
        begin(node, slot.is_connected());
    }
    COGWHEEL_CATCH {
        if (slot.is_connected()) slot.clear();
        destroy_waiting(engine, lock, node);
        COGWHEEL_RETHROW;
    }
}

/// Stands for an on_cancel callable that was not given.
struct no_callable {
    void operator()() const noexcept {}
};

/// A callable that takes the token of its own timer.
template <class F, class Token>
struct self_calling {
    using associations = of_handler;
    F handler;
    Token own_token{};

    void operator()() { std::move(handler)(own_token); }
};

/// A pending callable of schedule(), with or without an on_cancel callable.
template <class F, class OnCancel = no_callable>
class scheduled_callable {
public:
    using what = F;
    using allocator_type = typename payload_allocator<F>::type;
    static constexpr timer_kind kind = timer_kind::callable;
    static constexpr bool silent = std::is_same_v<OnCancel, no_callable>;
    static constexpr bool listed = false;
    static constexpr bool ends_by_release = silent; // a token ends it without a call of the function

    template <class G, class H>
    scheduled_callable(G&& f, H&& on_cancel,
                       const asio::any_io_executor& wheel_executor) noexcept(noexcept(F(std::declval<G>())) &&
                                                                             noexcept(OnCancel(std::declval<H>())) &&
                                                                             !has_executor<F> &&
                                                                             !has_executor<OnCancel>)
        : work_(f, wheel_executor),
          cancel_work_(on_cancel, wheel_executor),
          f_(std::forward<G>(f)),
          on_cancel_(std::forward<H>(on_cancel)) {}

    template <class Engine>
    void deliver(outcome how, Engine& engine) && {
        if (how == outcome::expired)
            run(std::move(f_), engine);
        else if (how == outcome::aborted)
            run(std::move(on_cancel_), engine);
    }

    static auto allocator_of(const F& f) noexcept { return asio::get_associated_allocator(f); }
    auto get_allocator() const noexcept { return allocator_of(f_); }

    F& callable() noexcept { return f_; }

private:
    template <class G, class Engine>
    static void run(G&& g, Engine& engine) {
        if constexpr (has_executor<std::decay_t<G>>)
            run_associated(std::forward<G>(g), engine.executor());
        else
            std::forward<G>(g)();
    }

    [[no_unique_address]] foreign_work<F> work_;
    [[no_unique_address]] foreign_work<OnCancel> cancel_work_;
    [[no_unique_address]] F f_;
    [[no_unique_address]] OnCancel on_cancel_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
