// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// libev: ev_timer, a 4-ary heap with the times in it. Pushed back by ev_timer_again, as its manual recommends for idle
// timeouts.
#pragma once

#include "contenders/native_loop.hpp"

#include <stdexcept>

#include <ev.h>

namespace bench {

class libev : public native_loop<libev> {
public:
    static constexpr std::string_view name = "libev";

    struct handle {
        handle() { ev_init(&timer, &expire); }
        ev_timer timer; // the first member: expire() gets back from there
        std::uint32_t number = 0;
    };

    libev() : loop_(ev_loop_new(EVFLAG_AUTO)) {
        if (loop_ == nullptr) throw std::runtime_error("ev_loop_new failed");
        ev_set_userdata(loop_, this);
    }
    libev(const libev&) = delete;
    libev& operator=(const libev&) = delete;
    ~libev() { ev_loop_destroy(loop_); }

    void schedule(handle& h, std::uint32_t number, milliseconds delay) {
        h.number = number;
        ++pending_;
        start(h, delay);
        h.timer.repeat = h.timer.at - ev_now(loop_); // what ev_timer_again() goes by
    }
    bool cancel(handle& h) {
        const bool was_pending = ev_is_active(&h.timer);
        ev_timer_stop(loop_, &h.timer);
        pending_ -= was_pending;
        return was_pending;
    }
    void move(handle& h, std::uint32_t, milliseconds delay) {
        if (delay == delay.zero()) { // again "at once" would mean never
            ev_timer_stop(loop_, &h.timer);
            return start(h, delay);
        }
        h.timer.repeat = seconds(delay);
        ev_timer_again(loop_, &h.timer);
    }
    void move_to(handle& h, std::uint32_t, time_point at) {
        ev_timer_stop(loop_, &h.timer);
        start(h, from_now(at));
    }

    template <class F>
    void work(std::size_t, F f) {
        begin_turn();
        ev_now_update(loop_);
        f();
        run_ready();
    }
    void run_ready() { ev_run(loop_, EVRUN_NOWAIT); }
    void run_all() {
        while (pending_ != 0) ev_run(loop_, EVRUN_ONCE);
    }

private:
    static double seconds(std::chrono::nanoseconds d) { return std::chrono::duration<double>(d).count(); }
    void start(handle& h, std::chrono::nanoseconds delay) {
        ev_timer_set(&h.timer, seconds(delay), 0.);
        ev_timer_start(loop_, &h.timer);
    }
    static void expire(struct ev_loop* loop, ev_timer* timer, int) {
        static_cast<libev*>(ev_userdata(loop))->note_fired(reinterpret_cast<handle*>(timer)->number);
    }

    struct ev_loop* loop_;
};

static_assert(firing_contender<libev> && movable_contender<libev>);

} // namespace bench
