// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Brings the callable of a callback_timer to its associated executor. The turn posts a function with the id of the
// timer. On the executor, the function looks for a timer that has this id and still expects the call: the object may
// have been moved, scheduled again, cancelled or destroyed meanwhile.
#pragma once

#include <cogwheel/asio/detail/engine/operation.hpp>
#include <cogwheel/asio/detail/executor/executors.hpp>
#include <cogwheel/detail/exceptions.hpp>
#include <cogwheel/wheel/node_table.hpp>

#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// The part of a timer that knows its executor. All functions need the engine's lock, except the constructors.
template <class Timer, class F, bool = has_executor<F>>
class callback_arrival {
    using executor_type = asio::associated_executor_t<F, asio::any_io_executor>;

public:
    // A copy, because another thread's turn may need the executor while the callable is moved.
    callback_arrival(const F& f, const asio::any_io_executor& of_wheel)
        : executor_(asio::get_associated_executor(f, of_wheel)), is_wheels_(is_executor(of_wheel, executor_)) {}
    callback_arrival(const callback_arrival& other) : executor_(other.executor_), is_wheels_(other.is_wheels_) {}
    callback_arrival& operator=(const callback_arrival&) = delete;

    bool under_way() const noexcept { return under_way_; }

    /// Returns true if a function was under way: it will not find the timer, nor another one with its index.
    bool withdraw(Timer& t) noexcept {
        if (!under_way_) return false;
        under_way_ = false;
        node_table::forget_ended(t);
        return true;
    }
    /// Does the same if the timer has got another id since then.
    void forget() noexcept { under_way_ = false; }
    void take(callback_arrival& other) {
        executor_ = other.executor_;
        is_wheels_ = other.is_wheels_;
        under_way_ = std::exchange(other.under_way_, false);
    }

    /// Sends the function, or returns false if the callable may run here. Releases the lock meanwhile, so the timer may
    /// be destroyed. Errors: those of the executor; the timer has then ended.
    template <class Engine>
    bool send(Timer& t, Engine& e, typename Engine::lock_type& lock) {
        if (is_wheels_) return false;
        const timer_id id = t.last_id();
        under_way_ = true;
        sent_function<Engine> function{&e, id, executor_};
        const relock_on_exit relock(lock);
        lock.unlock();
        COGWHEEL_TRY {
            // Posted and not dispatched: the strand may be running on this thread, in the middle of a turn.
            way_to(function.executor, e.executor()).post(function);
        }
        COGWHEEL_CATCH {
            lock.lock();
            if (timer_node* node = e.nodes.find_ended(id)) static_cast<Timer*>(node)->arrival_.forget();
            COGWHEEL_RETHROW;
        }
        return true;
    }

private:
    template <class Engine>
    struct sent_function {
        using executor_type = callback_arrival::executor_type;

        Engine* engine;
        timer_id id;
        executor_type executor;

        executor_type get_executor() const noexcept { return executor; }

        void operator()() const {
            auto lock = engine->lock();
            timer_node* node = engine->nodes.find_ended(id);
            if (node == nullptr) return; // withdrawn, scheduled again or destroyed
            auto& t = static_cast<Timer&>(*node);
            t.arrival_.forget();
            lock.unlock();
            t.run(); // may destroy the timer, the wheel and the wheel's context
        }
    };

    executor_type executor_;
    bool is_wheels_;
    bool under_way_ = false;
};

/// Without an associated executor, the callable runs in the turn.
template <class Timer, class F>
class callback_arrival<Timer, F, false> {
public:
    callback_arrival(const F&, const asio::any_io_executor&) noexcept {}

    static bool under_way() noexcept { return false; }
    static bool withdraw(Timer&) noexcept { return false; }
    static void forget() noexcept {}
    static void take(callback_arrival&) noexcept {}
    template <class Engine>
    static bool send(Timer&, Engine&, typename Engine::lock_type&) noexcept {
        return false;
    }
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
