// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The turns of the engine. A turn completes cancelled timers, fires the due ones within its budget, and arms the driver
// for the next due tick, or requests another turn. wheel_engine.hpp includes this file.
#pragma once

#include <cogwheel/asio/detail/wheel_engine.hpp>

namespace cogwheel::inline v0::detail {

template <class Clock, class Locking, timing_wheel Wheel>
void wheel_engine<Clock, Locking, Wheel>::run_turn(lock_type& lock, bool woken) {
    if (turning_ || !wheel_ || shut_down_) return; // a handler runs the context: the outer turn goes on
    turning_ = true;
    bool more = !ended_.empty();
    COGWHEEL_TRY {
        if (more || wheel_->size() != 0) {
            more = turn(lock, woken);
            if (hooks_ != nullptr) [[unlikely]]
                tell_of_turn(lock);
        } else if (woken) {
            counts_.end_empty_wakeup();
        }
    }
    COGWHEEL_CATCH {
        // A handler threw. As in Asio, the exception leaves run(). The next turn delivers the rest of the batch.
        end_turn(lock, true);
        COGWHEEL_RETHROW;
    }
    end_turn(lock, more);
}

/// Counts a turn, also if a handler throws.
template <class Clock, class Locking, timing_wheel Wheel>
struct wheel_engine<Clock, Locking, Wheel>::counted_turn {
    wheel_engine& engine;
    bool woken;
    std::uint32_t deliveries = engine.work_per_turn_; // ended timers that the turn may still complete
    bool exhausted = false;
    nanoseconds begin = engine.present();
    std::uint64_t fired_before = engine.counts_.recorded(); // between turns, all that have fired are recorded

    ~counted_turn() {
        if constexpr (requires(Wheel& w) { w.turn_ends(); }) engine.wheel_->turn_ends();
        engine.record_lateness();
        if (deliveries == 0 && !engine.ended_.empty()) exhausted = true;
        engine.counts_.end_turn(engine.present() - begin, engine.counts_.recorded() - fired_before, woken, exhausted);
    }
};

template <class Clock, class Locking, timing_wheel Wheel>
bool wheel_engine<Clock, Locking, Wheel>::turn(lock_type& lock, bool woken) {
    counts_.begin_turn();
    if constexpr (requires(Wheel& w) { w.turn_begins(); }) wheel_->turn_begins();
    counted_turn counted{*this, woken};
    loop_stopped_ = false;
    deliver_ended(lock, counted.deliveries); // timers cancelled before this turn complete first
    if (loop_stopped_ || wheel_->size() == 0) return wheel_->size() != 0;
    completion_context c{*this, lock, outcome::expired};
    turn_start_ = counted.deliveries == work_per_turn_ ? counted.begin : present();
    const auto result = wheel_->advance(time_.reached(turn_start_), work_budget::expiries(work_per_turn_), &c);
    deliver_ended(lock, counted.deliveries);
    counted.exhausted = result.spent;
    return result.more;
}

template <class Clock, class Locking, timing_wheel Wheel>
void wheel_engine<Clock, Locking, Wheel>::deliver_ended(lock_type& lock, std::uint32_t& budget) {
    completion_context c{*this, lock, outcome::expired};
    for (; budget != 0 && !loop_stopped_; --budget) {
        timer_node* node = ended_.pop(&c.how);
        if (node == nullptr) break;
        node->complete(&c);
    }
}

/// Tells the receiver of slow turns. Releases the lock meanwhile.
/// Errors: those of the receiver.
template <class Clock, class Locking, timing_wheel Wheel>
[[gnu::noinline]] void wheel_engine<Clock, Locking, Wheel>::tell_of_turn(lock_type& lock) {
    if (!hooks_->wants_slow_turns()) return;
    const auto [took, fired] = counts_.last_turn();
    const auto report =
        hooks_->judge({.took = took, .fired = fired, .waiting = due(wheel_->now()), .skipped = 0}, present());
    if (!report) return;
    const relock_on_exit relock(lock);
    const auto to = hooks_->to(); // destroyed before the lock is taken again: another one may have replaced it
    lock.unlock();
    to->receive(*report);
}

/// Destroys the receiver of slow turns without the lock. When the context shuts down, it must not wait for the end of
/// the engine: what it owns may belong to another service, which the context destroys before ours.
template <class Clock, class Locking, timing_wheel Wheel>
void wheel_engine<Clock, Locking, Wheel>::drop_receiver(lock_type& lock) noexcept {
    if (hooks_ == nullptr) return;
    turn_hooks::receiver receiver = hooks_->receive({}, nullptr);
    lock.unlock();
    receiver.reset();
    lock.lock();
}

template <class Clock, class Locking, timing_wheel Wheel>
void wheel_engine<Clock, Locking, Wheel>::end_turn(lock_type& lock, bool more) {
    turning_ = false;
    if (shut_down_) return;
    if (more || !ended_.empty()) {
        request_turn();
    } else if (const auto due = wheel_->next_due()) {
        plan_for(*due);
    } else {
        rearmed_quickly_ = false;
        if (planned_ != never && !turn_coming()) cancel_wait();
    }
    // After the driver is armed, so that the board shows when the next timer is due.
    if (hooks_ != nullptr && hooks_->board != nullptr && hooks_->board->wanted()) [[unlikely]]
        publish(*hooks_->board);
    recycle_if_done(lock);
}

} // namespace cogwheel::inline v0::detail
