// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// libevent: struct event, in a binary heap; or in a queue for each duration that was announced ("common timeout"),
// which suits those who set the same limit on everything. Without its locks, as the loop is used by one thread.
#pragma once

#include "contenders/native_loop.hpp"

#include <stdexcept>

#include <event2/event.h>
#include <event2/event_struct.h>

namespace bench {

template <bool Common>
class libevent_timers : public native_loop<libevent_timers<Common>> {
    using base = native_loop<libevent_timers<Common>>;

public:
    static constexpr std::string_view name = Common ? "libevent-common" : "libevent";
    using typename base::time_point;

    struct handle {
        handle(libevent_timers& owner) : self(&owner) { event_assign(&timer, owner.loop_, -1, 0, &expire, this); }
        event timer;
        libevent_timers* self;
        std::uint32_t number = 0;
    };

    libevent_timers() {
        event_config* config = event_config_new();
        event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
        loop_ = event_base_new_with_config(config);
        event_config_free(config);
        if (loop_ == nullptr) throw std::runtime_error("event_base_new failed");
        event_assign(
            &runner_, loop_, -1, 0,
            [](evutil_socket_t, short, void* self) {
                static_cast<libevent_timers*>(self)->batch_(static_cast<libevent_timers*>(self)->argument_);
            },
            this);
    }
    libevent_timers(const libevent_timers&) = delete;
    libevent_timers& operator=(const libevent_timers&) = delete;
    ~libevent_timers() { event_base_free(loop_); }

    fixed_array<handle> make_handles(std::size_t n) { return fixed_array<handle>(n, *this); }
    void close(fixed_array<handle>& handles) {
        for (std::size_t i = 0; i < handles.size(); ++i) event_del(&handles[i].timer);
    }

    void schedule(handle& h, std::uint32_t number, milliseconds delay) {
        h.number = number;
        ++this->pending_;
        move(h, number, delay);
    }
    bool cancel(handle& h) {
        const bool was_pending = event_pending(&h.timer, EV_TIMEOUT, nullptr) != 0;
        event_del(&h.timer);
        this->pending_ -= was_pending;
        return was_pending;
    }
    void move(handle& h, std::uint32_t, milliseconds delay) {
        if constexpr (Common) {
            if (delay != common_delay_) announce(delay);
            event_add(&h.timer, common_);
        } else {
            add(h, delay);
        }
    }
    void move_to(handle& h, std::uint32_t, time_point at)
        requires(!Common)
    {
        add(h, this->from_now(at));
    }

    /// Inside a callback, where libevent has the time at hand.
    template <class F>
    void work(std::size_t, F f) {
        argument_ = &f;
        this->begin_turn();
        batch_ = [](void* argument) { (*static_cast<F*>(argument))(); };
        event_active(&runner_, EV_TIMEOUT, 0);
        run_ready();
    }
    void run_ready() { event_base_loop(loop_, EVLOOP_NONBLOCK); }
    void run_all() { event_base_dispatch(loop_); }

private:
    static timeval to_timeval(std::chrono::nanoseconds d) {
        const auto us = std::chrono::ceil<std::chrono::microseconds>(d).count();
        return {static_cast<time_t>(us / 1'000'000), static_cast<suseconds_t>(us % 1'000'000)};
    }
    void add(handle& h, std::chrono::nanoseconds delay) {
        const timeval tv = to_timeval(delay);
        event_add(&h.timer, &tv);
    }
    void announce(milliseconds delay) {
        const timeval tv = to_timeval(delay);
        common_ = event_base_init_common_timeout(loop_, &tv);
        common_delay_ = delay;
    }
    static void expire(evutil_socket_t, short, void* argument) {
        auto& h = *static_cast<handle*>(argument);
        h.self->note_fired(h.number);
    }

    event_base* loop_ = nullptr;
    const timeval* common_ = nullptr;
    milliseconds common_delay_{-1};
    event runner_;
    void (*batch_)(void*) = nullptr;
    void* argument_ = nullptr;
};

using libevent = libevent_timers<false>;
using libevent_common = libevent_timers<true>;

static_assert(firing_contender<libevent> && movable_contender<libevent>);
static_assert(movable_contender<libevent_common>);

} // namespace bench
