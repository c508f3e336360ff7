// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// libuv: uv_timer_t, a binary heap of pointers, milliseconds. Starting a started timer moves it.
#pragma once

#include "contenders/native_loop.hpp"

#include <stdexcept>

#include <uv.h>

namespace bench {

class libuv : public native_loop<libuv> {
public:
    static constexpr std::string_view name = "libuv";

    struct handle {
        explicit handle(uv_loop_t& loop) { uv_timer_init(&loop, &timer); }
        uv_timer_t timer; // the first member: expire() gets back from there
        std::uint32_t number = 0;
    };

    libuv() {
        if (uv_loop_init(&loop_) != 0) throw std::runtime_error("uv_loop_init failed");
        loop_.data = this;
    }
    libuv(const libuv&) = delete;
    libuv& operator=(const libuv&) = delete;
    ~libuv() { uv_loop_close(&loop_); }

    fixed_array<handle> make_handles(std::size_t n) { return fixed_array<handle>(n, loop_); }
    /// libuv's objects have to be told that they end, and must live until the loop has taken note.
    void close(fixed_array<handle>& handles) {
        for (std::size_t i = 0; i < handles.size(); ++i)
            uv_close(reinterpret_cast<uv_handle_t*>(&handles[i].timer), nullptr);
        run_all();
    }

    void schedule(handle& h, std::uint32_t number, milliseconds delay) {
        h.number = number;
        ++pending_;
        move(h, number, delay);
    }
    bool cancel(handle& h) {
        const bool was_pending = uv_is_active(reinterpret_cast<uv_handle_t*>(&h.timer)) != 0;
        uv_timer_stop(&h.timer);
        pending_ -= was_pending;
        return was_pending;
    }
    void move(handle& h, std::uint32_t, milliseconds delay) {
        uv_timer_start(&h.timer, &expire, static_cast<std::uint64_t>(delay.count()), 0);
    }
    void move_to(handle& h, std::uint32_t number, time_point at) {
        move(h, number, std::chrono::ceil<milliseconds>(from_now(at)));
    }

    template <class F>
    void work(std::size_t, F f) {
        begin_turn();
        uv_update_time(&loop_);
        f();
        run_ready();
    }
    void run_ready() { uv_run(&loop_, UV_RUN_NOWAIT); }
    void run_all() { uv_run(&loop_, UV_RUN_DEFAULT); }

private:
    static void expire(uv_timer_t* timer) {
        static_cast<libuv*>(timer->loop->data)->note_fired(reinterpret_cast<handle*>(timer)->number);
    }

    uv_loop_t loop_;
};

static_assert(firing_contender<libuv> && movable_contender<libuv>);

} // namespace bench
