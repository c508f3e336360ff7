// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// wheel_timer, the drop-in for asio::steady_timer: one object a timer, always with a pending async_wait.
//
// schedule() aborts the wait and starts another, as steady_timer has to; move() pushes it back by reschedule(), which
// aborts nobody. "-now" hands over the clock reading of its turn, one for a batch.
#pragma once

#include "contenders/binding.hpp"

#include <cogwheel/asio/wheel_timer.hpp>

namespace bench {

template <class Wheel>
class timer_objects : public binding_base<Wheel> {
public:
    static constexpr std::string_view name =
        std::is_same_v<Wheel, cogwheel::timer_wheel> ? "cogwheel-timer" : "cogwheel-timer-local";
    static constexpr bool handle_is_timer = true;
    using handle = decltype(cogwheel::basic_wheel_timer(std::declval<Wheel&>()));
    using time_point = asio_loop::time_point;

    fixed_array<handle> make_handles(std::size_t n) { return fixed_array<handle>(n, this->wheel_); }

    void schedule(handle& h, std::uint32_t number, milliseconds delay) {
        h.expires_after(delay);
        h.async_wait(this->note_start(number));
    }
    bool cancel(handle& h) { return h.cancel() == 1; }
    void move(handle& h, std::uint32_t, milliseconds delay) { h.reschedule(delay); }
    void move_to(handle& h, std::uint32_t, time_point at) { h.reschedule(at); }

    std::size_t pending() const { return this->unless_it_differs(this->wheel_.pending()); }
};

class timer_objects_with_now : public timer_objects<cogwheel::local_timer_wheel> {
public:
    static constexpr std::string_view name = "cogwheel-timer-local-now";

    void move(handle& h, std::uint32_t, milliseconds delay) { h.reschedule(turn_ + delay); }
};

static_assert(firing_contender<timer_objects<cogwheel::timer_wheel>> && movable_contender<timer_objects_with_now>);

} // namespace bench
