// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The life of the engine: a wheel opens, closes, ends with its context, and is recycled. wheel_engine.hpp includes this
// file.
#pragma once

#include <cogwheel/asio/detail/wheel_engine.hpp>

namespace cogwheel::inline v0_1::detail::inline COGWHEEL_ASIO {

template <class Clock, class Locking, timing_wheel Wheel>
[[gnu::cold]] wheel_engine<Clock, Locking, Wheel>::wheel_engine()
    : wake_target([](wake_target& t, std::uint64_t serial) { static_cast<wheel_engine&>(t).wait_over(serial); },
                  &wheel_engine::wait_lost) {}

template <class Clock, class Locking, timing_wheel Wheel>
[[gnu::cold]] void wheel_engine<Clock, Locking, Wheel>::start(const asio::any_io_executor& executor,
                                                              const wheel_options& options) {
    const bool coarse = options.tick >= std::chrono::milliseconds(1);
    const auto kind = options.tick_clock;
    bool counter = kind == tick_clock_kind::counter || (kind == tick_clock_kind::automatic && coarse);
    if constexpr (tick_counter<Clock>::exists) counter = tick_counter<Clock>::is_usable(counter);
    const guard lock(mutex_); // a wait of the previous wheel may still arrive
    nodes.prefer_huge_pages(options.huge_pages);
    waits.prefer_huge_pages(options.huge_pages);
    COGWHEEL_TRY {
        make_wheel(options);
        wheel_->reserve(options.reserve);
        driver_.emplace(executor, *this, driver_memory_);
    }
    COGWHEEL_CATCH {
        wheel_.reset();
        COGWHEEL_RETHROW;
    }
    executor_ = executor;
    loop_ = loop_of(executor);
    time_ = wheel_time<Clock>(options.tick, Clock::now(), counter);
    room_ = options.max_pending;
    work_per_turn_ = options.work_per_turn;
    ::new (&counts_) engine_counts; // an assignment would copy 9 KB
    closed_ = false;
    note_driver();
    consider_bias();
}

template <class Clock, class Locking, timing_wheel Wheel>
[[gnu::cold]] void wheel_engine<Clock, Locking, Wheel>::make_wheel(const wheel_options& options) {
    if constexpr (levelled_wheel<Wheel>)
        if (!options.levels.empty()) return void(wheel_.emplace(nodes, options.levels, tick{}));
    wheel_.emplace(nodes, options.slots, tick{});
}

template <class Clock, class Locking, timing_wheel Wheel>
[[gnu::cold]] void wheel_engine<Clock, Locking, Wheel>::close(lock_type& lock) noexcept {
    if (shut_down_) return;
    closed_ = true;
    COGWHEEL_TRY {
        if (wheel_->size() != 0) request_turn();
    }
    COGWHEEL_CATCH {
        // The collected timers wait for the next turn that comes. If none comes, the context's end destroys them.
    }
    collect_all([](timer_node&) {});
    room_ = 0;
    recycle_if_done(lock);
}

template <class Clock, class Locking, timing_wheel Wheel>
[[gnu::cold]] void wheel_engine<Clock, Locking, Wheel>::shutdown(lock_type& lock) {
    shut_down_ = true;
    room_ = 0;
    loop_ = nullptr;
    driver_.reset();
    extensions_.shut_down();
    executor_ = nullptr; // a strand must not outlive its service, which the context may destroy before ours
    completion_context c{*this, lock, outcome::collected};
    if (wheel_) wheel_->clear([&](timer_node& n) { n.complete(&c); });
    c.how = outcome::destroyed;
    if (watch_ != nullptr) watch_->drop(lock);
    while (timer_node* n = ended_.pop()) n->complete(&c); // out of all lists first: a handler may own the wheel
}

template <class Clock, class Locking, timing_wheel Wheel>
[[gnu::cold, gnu::noinline]] void wheel_engine<Clock, Locking, Wheel>::recycle_unless_used(lock_type& lock) noexcept {
    if (!turning_ && !turn_posted_.is_set() && ended_.empty() && users_ == 0 && !shut_down_) end_life(lock);
}

template <class Clock, class Locking, timing_wheel Wheel>
[[gnu::cold]] void wheel_engine<Clock, Locking, Wheel>::end_life(lock_type& lock) noexcept {
    closed_ = false;
    driver_.reset();
    ++serial_; // so that the next wheel ignores a wait that has not arrived yet
    planned_ = never;
    wait_cancelled_ = rearmed_quickly_ = armed_earlier_ = false;
    note_driver();
    wheel_.reset();
    watch_ = nullptr;
    wheel_extensions gone = std::move(extensions_);
    executor_ = nullptr;
    const bool usable = nodes.release_all() && waits.release_all();
    const relock_on_exit relock(lock);
    lock.unlock();
    gone.clear(); // without the lock: the receiver of slow turns is the user's code
    if (usable) static_cast<wheel_impl<Clock, Locking, Wheel>&>(*this).recycle();
}

} // namespace cogwheel::inline v0_1::detail::inline COGWHEEL_ASIO
