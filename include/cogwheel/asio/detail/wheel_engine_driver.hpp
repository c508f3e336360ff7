// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The engine and its driver: when it is armed and called off, and what its waits and the posted turns do. The rules are
// in wheel_engine.hpp, which includes this file.
#pragma once

#include <cogwheel/asio/detail/wheel_engine.hpp>

namespace cogwheel::inline v0_1::detail::inline COGWHEEL_ASIO {

/// A turn on its way through the executor.
template <class Clock, class Locking, timing_wheel Wheel>
class wheel_engine<Clock, Locking, Wheel>::posted_turn {
public:
    explicit posted_turn(wheel_engine& e) noexcept : engine_(&e) {}
    posted_turn(posted_turn&& other) noexcept : engine_(std::exchange(other.engine_, nullptr)) {}
    posted_turn& operator=(posted_turn&&) = delete;
    ~posted_turn() {
        if (engine_ != nullptr) engine_->turn_lost();
    }
    [[gnu::noinline]] void operator()() { // Asio calls it in two places
        wheel_engine& e = *std::exchange(engine_, nullptr);
        lock_type lock = e.lock();
        e.turn_posted_.clear();
        e.note_driver();
        e.run_turn(lock);
    }

private:
    wheel_engine* engine_;
};

template <class Clock, class Locking, timing_wheel Wheel>
void wheel_engine<Clock, Locking, Wheel>::request_turn() {
    if (turning_ || turn_coming() || shut_down_) return;
    COGWHEEL_TRY {
        turn_posted_.begin();
        asio::require(executor_, asio::execution::blocking.never).execute(posted_turn(*this));
        if (turn_posted_.succeed()) [[likely]]
            return note_driver();
    }
    COGWHEEL_CATCH { turn_posted_.clear(); }
    if (planned_ != never) return cancel_wait();
    if (!wait_is_useless_) plan(time_.reached() + 1); // not at once: memory may be available again by then
}

// Not inlined: the usual cancel() saves no registers for it.
template <class Clock, class Locking, timing_wheel Wheel>
[[gnu::noinline]] void wheel_engine<Clock, Locking, Wheel>::let_run_return() noexcept {
    if (planned_ == never || turning_ || turn_coming()) return;
    if (!rearmed_quickly_) return cancel_wait();
    COGWHEEL_TRY { request_turn(); }
    COGWHEEL_CATCH { // never: while a wait is planned, request_turn() does not throw
    }
}

template <class Clock, class Locking, timing_wheel Wheel>
[[gnu::noinline]] void wheel_engine<Clock, Locking, Wheel>::wake_earlier_by(due_tick a) {
    if (turning_ || turn_coming()) {
        armed_earlier_ = true;
        return note_driver();
    }
    if (a.at_once || a.due <= wheel_->now() || (planned_ == never && (wheel_->size() != 0 || !ended_.empty())))
        request_turn();
    else if (a.due.value < planned_)
        plan(a.due);
}

// Arms the driver. Preconditions: no turn runs or is coming.
// Errors: std::bad_alloc; a replaced wait then comes as a turn. After a turn, a turn comes in any case.
template <class Clock, class Locking, timing_wheel Wheel>
void wheel_engine<Clock, Locking, Wheel>::plan(tick until, bool after_turn) {
    const std::uint64_t serial = serial_ + 1;
    COGWHEEL_TRY { driver_->arm(start_of(until), serial); }
    COGWHEEL_CATCH {
        lost_wait_ = 0;
        wait_cancelled_ = planned_ != never;
        planned_ = never;
        note_driver();
        if (after_turn) {
            if (wait_cancelled_) return;
            request_turn();
        }
        COGWHEEL_RETHROW; // after a turn out of run(): poll() would call the next one at once, again and again
    }
    serial_ = serial;
    wake_before_ = planned_ = until.value; // as note_driver(): no turn is coming
    if (lost_wait_ == serial) [[unlikely]] {
        forget_wait();
        request_turn();
    }
}

// The wait has come, or never will.
template <class Clock, class Locking, timing_wheel Wheel>
void wheel_engine<Clock, Locking, Wheel>::forget_wait() noexcept {
    wait_cancelled_ = false;
    planned_ = never;
    note_driver();
}

template <class Clock, class Locking, timing_wheel Wheel>
void wheel_engine<Clock, Locking, Wheel>::wait_over(std::uint64_t serial) {
    lock_type lock(mutex_);
    bool woken = false;
    if (serial == serial_) {
        if (wait_cancelled_)
            rearmed_quickly_ = wheel_ && wheel_->size() != 0;
        else
            woken = true;
        forget_wait();
    } else if (planned_ != never || turn_coming()) {
        return; // another wait or turn has replaced this one
    }
    if (woken) counts_.wake_up();
    run_turn(lock, woken);
}

// A wait or a posted turn was destroyed without a call: the executor had no memory, or its context is gone.
// A failing post or arm() calls these two with the lock held, and so may an executor that drops what it takes. So they
// look without the lock whether the post or arm() is still underway.
template <class Clock, class Locking, timing_wheel Wheel>
[[gnu::cold]] void wheel_engine<Clock, Locking, Wheel>::wait_lost(wake_target& target, std::uint64_t serial) noexcept {
    wheel_engine& e = static_cast<wheel_engine&>(target);
    // plan() reads it after it has set serial_: one of the two sees what the other has set. Earlier waits change
    // nothing.
    for (std::uint64_t last = e.lost_wait_; last < serial && !e.lost_wait_.compare_exchange_weak(last, serial);) {
    }
    if (serial != e.serial_) return;
    const guard lock(e.mutex_);
    if (serial != e.serial_) return;
    // Lost before its time, it went with its queue. That takes another wait, and destroys it at once.
    e.wait_is_useless_ = e.planned_ == never || e.planned_ > e.time_.reached().value;
    e.forget_wait();
    e.replace_lost_turn();
    e.wait_is_useless_ = false;
}

template <class Clock, class Locking, timing_wheel Wheel>
[[gnu::cold]] void wheel_engine<Clock, Locking, Wheel>::turn_lost() noexcept {
    if (!turn_posted_.lose()) return; // request_turn() continues
    const guard lock(mutex_);
    turn_posted_.clear();
    note_driver();
    replace_lost_turn();
}

template <class Clock, class Locking, timing_wheel Wheel>
[[gnu::cold]] void wheel_engine<Clock, Locking, Wheel>::replace_lost_turn() noexcept {
    if (!wheel_ || (wheel_->size() == 0 && ended_.empty())) return;
    COGWHEEL_TRY { request_turn(); }
    COGWHEEL_CATCH {
        // The next call that arms or ends a timer requests a turn.
    }
}

} // namespace cogwheel::inline v0_1::detail::inline COGWHEEL_ASIO
