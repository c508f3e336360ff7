// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// idle_monitor: one a connection, with somebody who waits for its next event. move() is what a completed read or write
// costs; "-now" hands over the clock reading of its turn, one for a batch.
#pragma once

#include "contenders/asio_loop.hpp"

#include <cogwheel/net/idle_monitor.hpp>

#include <utility>

namespace bench {

template <bool ReadsClock>
class idle_monitors : public asio_loop {
public:
    static constexpr std::string_view name = ReadsClock ? "cogwheel-idle" : "cogwheel-idle-now";
    static constexpr bool handle_is_timer = true;
    using handle = cogwheel::idle_monitor<>;

    fixed_array<handle> make_handles(std::size_t n) {
        const cogwheel::idle_timeouts limits{.all = std::chrono::seconds(30)};
        return fixed_array<handle>(n, wheel_, limits);
    }

    void schedule(handle& h, std::uint32_t number, milliseconds) {
        h.async_idle([note = note_start(number)](std::error_code ec, const cogwheel::idle_event&) { note(ec); });
    }
    bool cancel(handle& h) { return h.cancel() == 1; }
    void move(handle& h, std::uint32_t, milliseconds) {
        if constexpr (ReadsClock)
            h.touch();
        else
            h.touch(turn_);
    }

    std::size_t pending() const { return unless_it_differs(wheel_.pending()); }

private:
    cogwheel::timer_wheel wheel_{io_};
};

/// What it costs to come to a handler of a loop that has a timer pending, and to leave a mark there.
class handler_store : public asio_loop {
public:
    static constexpr std::string_view name = "floor (one store in a handler)";
    static constexpr bool handle_is_timer = true;

    struct alignas(64) handle {
        time_point last{};
        bool pending = false;
    };

    void schedule(handle& h, std::uint32_t, milliseconds) { pending_ += !std::exchange(h.pending, true); }
    bool cancel(handle& h) {
        pending_ -= h.pending;
        return std::exchange(h.pending, false);
    }
    void move(handle& h, std::uint32_t, milliseconds) { h.last = turn_; }

    std::size_t pending() const { return pending_; }

private:
    std::size_t pending_ = 0;
    cogwheel::timer_wheel wheel_{io_};
    const cogwheel::timer_token timer_ = wheel_.schedule(std::chrono::hours(1), [] {});
};

static_assert(movable_contender<handler_store>);
static_assert(movable_contender<idle_monitors<true>> && movable_contender<idle_monitors<false>>);

} // namespace bench
