// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// asio::steady_timer, one object a timer, always with a pending async_wait. A cancelled wait completes with
// operation_aborted, so its handler runs, and is measured.
#pragma once

#include "contenders/asio_loop.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/steady_timer.hpp>

namespace bench {

class steady_timer_base : public asio_loop {
public:
    static constexpr std::string_view name = "asio::steady_timer";
    static constexpr bool handle_is_timer = true;

    std::size_t pending() const noexcept { return waiting(); }
};

/// Cancelled through the object.
class steady_timer : public steady_timer_base {
public:
    using handle = asio::steady_timer;

    fixed_array<handle> make_handles(std::size_t n) { return fixed_array<handle>(n, io_); }

    void schedule(handle& h, std::uint32_t number, milliseconds delay) {
        h.expires_after(delay);
        wait(h, number);
    }
    bool cancel(handle& h) { return h.cancel() == 1; }
    void move(handle& h, std::uint32_t number, milliseconds delay) { schedule(h, number, delay); }
    void move_to(handle& h, std::uint32_t number, time_point at) {
        h.expires_at(at);
        wait(h, number);
    }

private:
    void wait(handle& h, std::uint32_t number) { h.async_wait(note_start(number)); }
};

/// Cancelled through the handler's cancellation slot.
class steady_timer_slot : public steady_timer_base {
public:
    struct handle {
        explicit handle(asio::io_context& io) : timer(io) {}
        asio::steady_timer timer;
        asio::cancellation_signal signal;
    };

    fixed_array<handle> make_handles(std::size_t n) { return fixed_array<handle>(n, io_); }

    void schedule(handle& h, std::uint32_t number, milliseconds delay) {
        h.timer.expires_after(delay);
        wait(h, number);
    }
    bool cancel(handle& h) {
        h.signal.emit(asio::cancellation_type::total); // the count of completions shows whether it did anything
        return true;
    }
    void move_to(handle& h, std::uint32_t number, time_point at) {
        cancel(h);
        h.timer.expires_at(at);
        wait(h, number);
    }

private:
    void wait(handle& h, std::uint32_t number) {
        h.timer.async_wait(asio::bind_cancellation_slot(h.signal.slot(), note_start(number)));
    }
};

static_assert(firing_contender<steady_timer> && movable_contender<steady_timer>);
static_assert(firing_contender<steady_timer_slot>);

} // namespace bench
