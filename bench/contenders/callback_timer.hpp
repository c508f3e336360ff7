// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// callback_timer: node and callable in one object of the user's, a cache line each. "-now" hands over the clock reading
// of its turn, one for a batch.
#pragma once

#include "contenders/binding.hpp"

#include <cogwheel/asio/callback_timer.hpp>

namespace bench {

template <class Wheel>
class callback_timers : public binding_base<Wheel> {
public:
    static constexpr std::string_view name =
        std::is_same_v<Wheel, cogwheel::timer_wheel> ? "cogwheel-callback" : "cogwheel-callback-local";
    static constexpr bool handle_is_timer = true;
    using time_point = asio_loop::time_point;

    struct note {
        callback_timers* self;
        std::uint32_t number;
        void operator()() const { self->fired_.record(number); }
    };
    struct alignas(64) handle {
        explicit handle(callback_timers& c) : timer(c.wheel_, note{&c, 0}) {}
        cogwheel::callback_timer<note, Wheel> timer;
    };
    static_assert(sizeof(handle) == 64);

    fixed_array<handle> make_handles(std::size_t n) { return fixed_array<handle>(n, *this); }

    void schedule(handle& h, std::uint32_t number, milliseconds delay) {
        h.timer.callable().number = number;
        h.timer.schedule(this->wheel_, delay);
    }
    bool cancel(handle& h) { return h.timer.cancel(this->wheel_); }
    void move(handle& h, std::uint32_t, milliseconds delay) { h.timer.schedule(this->wheel_, delay); }
    void move_to(handle& h, std::uint32_t, time_point at) { h.timer.schedule(at); }

    std::size_t pending() const { return this->wheel_.pending(); }
};

class callback_timers_with_now : public callback_timers<cogwheel::local_timer_wheel> {
public:
    static constexpr std::string_view name = "cogwheel-callback-local-now";

    void schedule(handle& h, std::uint32_t number, milliseconds delay) {
        h.timer.callable().number = number;
        h.timer.schedule(wheel_, turn_ + delay);
    }
    void move(handle& h, std::uint32_t, milliseconds delay) { h.timer.schedule(wheel_, turn_ + delay); }
};

static_assert(firing_contender<callback_timers<cogwheel::timer_wheel>> && movable_contender<callback_timers_with_now>);

} // namespace bench
