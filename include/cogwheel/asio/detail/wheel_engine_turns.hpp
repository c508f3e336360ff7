// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The turns of the engine. A turn completes cancelled timers, fires the due ones within its budget, and arms the driver
// for the next due tick, or requests another turn. wheel_engine.hpp includes this file.
#pragma once

#include <cogwheel/asio/detail/wheel_engine.hpp>

namespace cogwheel::inline v0_1::detail::inline COGWHEEL_ASIO {

template <class Clock, class Locking, timing_wheel Wheel>
void wheel_engine<Clock, Locking, Wheel>::run_turn(lock_type& lock, bool woken) {
    if (turning_ || !wheel_ || shut_down_) return; // a handler runs the context: the outer turn goes on
    turning_ = true;
    turn_thread_ = std::this_thread::get_id();
    note_driver();
    bool more = !ended_.empty();
    COGWHEEL_TRY {
        if (more || wheel_->size() != 0) {
            more = turn(lock, woken);
            if (watch_ != nullptr) [[unlikely]]
                watch_->turn_ended(lock);
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
    nanoseconds begin = engine.time_.begin_turn();
    std::uint64_t fired_before = engine.counts_.recorded(); // between turns, all that have fired are recorded

    ~counted_turn() {
        if constexpr (requires(Wheel& w) { w.turn_ends(); }) engine.wheel_->turn_ends();
        engine.record_lateness();
        if (deliveries == 0 && !engine.ended_.empty()) exhausted = true;
        const nanoseconds end = engine.present();
        const nanoseconds duration = end - begin;
        const std::uint64_t fired = engine.counts_.recorded() - fired_before;
        engine.counts_.end_turn(duration, fired, end, woken, exhausted);
        COGWHEEL_PROBE(3, turn_end, &engine, fired, duration.count());
    }
};

template <class Clock, class Locking, timing_wheel Wheel>
bool wheel_engine<Clock, Locking, Wheel>::turn(lock_type& lock, bool woken) {
    counts_.begin_turn();
    if constexpr (requires(Wheel& w) { w.turn_begins(); }) wheel_->turn_begins();
    counted_turn counted{*this, woken};
    COGWHEEL_PROBE(3, turn_begin, this, counted.begin.count(), time_.tick_length().count());
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

template <class Clock, class Locking, timing_wheel Wheel>
void wheel_engine<Clock, Locking, Wheel>::end_turn(lock_type& lock, bool more) {
    turning_ = false;
    note_driver();
    consider_bias();
    if (shut_down_) return;
    if (more || !ended_.empty()) {
        request_turn();
    } else if (planned_ == never || armed_earlier_ || wheel_->size() == 0) {
        armed_earlier_ = false; // in the other case, no timer is due before the wake-up that is planned
        if (const auto due = wheel_->next_due()) {
            if (due->value < planned_ && !turn_coming()) plan(*due, true);
        } else {
            rearmed_quickly_ = false;
            if (planned_ != never && !turn_coming()) cancel_wait();
        }
    }
    if (watch_ != nullptr) [[unlikely]]
        watch_->driver_armed();
    recycle_if_done(lock);
}

} // namespace cogwheel::inline v0_1::detail::inline COGWHEEL_ASIO
