// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a timer of the binding carries: a callable of schedule(), or a handler that waits.
#pragma once

#include <cogwheel/asio/detail/counted_work.hpp>
#include <cogwheel/asio/detail/operation.hpp>
#include <cogwheel/asio/detail/post_on.hpp>
#include <cogwheel/asio/error.hpp>
#include <cogwheel/wheel/detail/exceptions.hpp>

#include <asio/any_io_executor.hpp>
#include <asio/associated_allocator.hpp>
#include <asio/associated_executor.hpp>
#include <asio/associator.hpp>
#include <asio/error.hpp>

#include <optional>
#include <typeinfo>

namespace cogwheel::detail {

/// A handler with the error code it is to be called with; it keeps the handler's associations.
template <class Handler>
struct bound_handler {
    Handler handler;
    std::error_code ec;

    void operator()() { std::move(handler)(ec); }
};

// Stand-ins that nobody associates: what comes back unchanged shows that the type has no association of its own.
struct no_executor {};
template <class T>
inline constexpr bool has_executor = !std::is_same_v<asio::associated_executor_t<T, no_executor>, no_executor>;
template <class T>
inline constexpr bool has_allocator =
    !std::is_same_v<asio::associated_allocator_t<T, std::allocator<no_executor>>, std::allocator<no_executor>>;

/// Are they the same? Asio 1.22's target<E>() does not look at the type of what it finds. Without typeid both are
/// compared as erased ones; if there is no memory for that, false makes what follows slower, not wrong.
template <class E>
bool is_executor(const asio::any_io_executor& erased, const E& e) noexcept {
#ifdef ASIO_NO_TYPEID
    COGWHEEL_TRY { return erased == asio::any_io_executor(e); }
    COGWHEEL_CATCH { return false; }
#else
    if constexpr (std::is_same_v<E, asio::any_io_executor>)
        return erased == e;
    else
        return erased.target_type() == typeid(E) && *erased.template target<E>() == e;
#endif
}

/// Runs `f` as by asio::dispatch on its associated executor; at once if that is the wheel's, on which we are.
template <class F>
void run_associated(F&& f, const asio::any_io_executor& wheel_executor) {
    const auto executor = asio::get_associated_executor(f, wheel_executor);
    if (is_executor(wheel_executor, executor)) return std::forward<F>(f)();
    dispatch_on(executor, std::forward<F>(f));
}

/// Keeps the context of a foreign executor running while the timer is pending. The wheel's own needs nothing: its driver is
/// armed. Types without an association cost no byte.
template <class T, bool = has_executor<T>>
class foreign_work {
public:
    foreign_work(const T&, const asio::any_io_executor&) noexcept {}
};

template <class T>
class foreign_work<T, true> {
    using executor_type = asio::associated_executor_t<T, asio::any_io_executor>;

public:
    foreign_work(const T& t, const asio::any_io_executor& wheel_executor) {
        const executor_type executor = asio::get_associated_executor(t, wheel_executor);
        if (!is_executor(wheel_executor, executor)) work_.emplace(executor);
    }

private:
    std::optional<counted_work<executor_type>> work_;
};

template <class T, bool = has_allocator<T>>
struct payload_allocator {
    using type = void;
};
template <class T>
struct payload_allocator<T, true> {
    using type = asio::associated_allocator_t<T>;
};

/// What a wait completes with.
inline std::error_code wait_error(outcome how) noexcept {
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

/// A pending async_wait.
template <class Handler>
class waiting_handler {
public:
    using allocator_type = typename payload_allocator<Handler>::type;
    static constexpr bool silent = false;
    static constexpr bool listed = false;

    template <class H>
    waiting_handler(H&& h, const asio::any_io_executor& wheel_executor)
        : work_(h, wheel_executor), handler_(std::forward<H>(h)) {}

    template <class State>
    void deliver(outcome how, State& state) && {
        if (how == outcome::destroyed) return;
        bound_handler<Handler> bound{std::move(handler_), wait_error(how)};
        if constexpr (has_executor<Handler>)
            run_associated(std::move(bound), state.executor());
        else
            bound();
    }

    static auto allocator_of(const Handler& h) noexcept { return asio::get_associated_allocator(h); }
    auto get_allocator() const noexcept { return allocator_of(handler_); }

private:
    [[no_unique_address]] foreign_work<Handler> work_; // goes after the handler, whose executors may need the context
    Handler handler_;
};

struct no_callable {
    void operator()() const noexcept {}
};

/// A callable of schedule(), perhaps with one for the case that it is cancelled.
template <class F, class OnCancel = no_callable>
class scheduled_callable {
public:
    using allocator_type = typename payload_allocator<F>::type;
    static constexpr bool silent = std::is_same_v<OnCancel, no_callable>;
    static constexpr bool listed = false;

    template <class G, class H>
    scheduled_callable(G&& f, H&& on_cancel, const asio::any_io_executor& wheel_executor)
        : work_(f, wheel_executor),
          cancel_work_(on_cancel, wheel_executor),
          f_(std::forward<G>(f)),
          on_cancel_(std::forward<H>(on_cancel)) {}

    template <class State>
    void deliver(outcome how, State& state) && {
        if (how == outcome::expired)
            run(std::move(f_), state);
        else if (how == outcome::aborted)
            run(std::move(on_cancel_), state);
    }

    static auto allocator_of(const F& f) noexcept { return asio::get_associated_allocator(f); }
    auto get_allocator() const noexcept { return allocator_of(f_); }

private:
    template <class G, class State>
    static void run(G&& g, State& state) {
        if constexpr (has_executor<std::decay_t<G>>)
            run_associated(std::forward<G>(g), state.executor());
        else
            std::forward<G>(g)();
    }

    [[no_unique_address]] foreign_work<F> work_;
    [[no_unique_address]] foreign_work<OnCancel> cancel_work_;
    [[no_unique_address]] F f_;
    [[no_unique_address]] OnCancel on_cancel_;
};

} // namespace cogwheel::detail

template <template <class, class> class Associator, class Handler, class Default>
struct asio::associator<Associator, cogwheel::detail::bound_handler<Handler>, Default> : Associator<Handler, Default> {
    static decltype(auto) get(const cogwheel::detail::bound_handler<Handler>& b) noexcept {
        return Associator<Handler, Default>::get(b.handler);
    }
    static decltype(auto) get(const cogwheel::detail::bound_handler<Handler>& b, const Default& d) noexcept {
        return Associator<Handler, Default>::get(b.handler, d);
    }
};
