// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The wheel on an io_context, with its default options (ticks of 10 ms, 512 slots): as timer_wheel, which may be used
// from any thread, and as local_timer_wheel, which takes no lock.
//
// Like asio::steady_timer, both read the clock for each timer that is set. The contender "-now" hands over the reading
// of its turn instead: one for a batch.
#pragma once

#include "contenders/asio_loop.hpp"

#include <cogwheel/asio/hierarchical_timer_wheel.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>

namespace bench {

enum class pages { usual, huge };

/// Tick: milliseconds.
template <class Wheel, int Tick = 10, pages Pages = pages::usual>
class binding_base : public asio_loop {
public:
    static constexpr std::string_view name = std::is_same_v<Wheel, cogwheel::timer_wheel>         ? "cogwheel"
                                             : std::is_same_v<Wheel, cogwheel::local_timer_wheel> ? "cogwheel-local"
                                                                                                  : "cogwheel-levels";
    static constexpr bool handle_is_timer = false;

    void trim() { wheel_.trim(); }

protected:
    Wheel wheel_{io_, {.tick = milliseconds(Tick), .huge_pages = Pages == pages::huge}};
};

/// schedule(delay, f), cancelled and pushed back through the token: silent.
template <class Wheel, int Tick = 10, pages Pages = pages::usual>
class scheduled : public binding_base<Wheel, Tick, Pages> {
public:
    using handle = typename Wheel::token_type;
    using time_point = asio_loop::time_point;

    void schedule(handle& h, std::uint32_t number, milliseconds delay) {
        h = this->wheel_.schedule(delay, callable(number));
    }
    bool cancel(handle& h) { return h.cancel(); }
    void move(handle& h, std::uint32_t, milliseconds delay) { h.reschedule(delay); }
    void move_to(handle& h, std::uint32_t, time_point at) { h.reschedule(at); }

    std::size_t pending() const { return this->wheel_.pending(); }

protected:
    auto callable(std::uint32_t number) {
        return [this, number] { this->fired_.record(number); };
    }
};

template <class Wheel>
using fine_ticks = scheduled<Wheel, 1>;
using fine_levels = fine_ticks<cogwheel::hierarchical_timer_wheel>;
template <class Wheel>
using in_huge_pages = scheduled<Wheel, 10, pages::huge>;

class scheduled_with_now : public scheduled<cogwheel::local_timer_wheel> {
public:
    static constexpr std::string_view name = "cogwheel-local-now";

    void schedule(handle& h, std::uint32_t number, milliseconds delay) {
        h = wheel_.schedule(turn_ + delay, callable(number));
    }
    void move(handle& h, std::uint32_t, milliseconds delay) { h.reschedule(turn_ + delay); }
};

/// async_wait(delay, handler), cancelled through the handler's cancellation slot: aborted handlers run.
template <class Wheel>
class awaited : public binding_base<Wheel> {
public:
    using handle = asio::cancellation_signal;
    using time_point = asio_loop::time_point;

    void schedule(handle& h, std::uint32_t number, milliseconds delay) {
        this->wheel_.async_wait(delay, asio::bind_cancellation_slot(h.slot(), this->note_start(number)));
    }
    bool cancel(handle& h) {
        h.emit(asio::cancellation_type::total);
        return true;
    }
    void move_to(handle& h, std::uint32_t number, time_point at) {
        cancel(h);
        this->wheel_.async_wait(at, asio::bind_cancellation_slot(h.slot(), this->note_start(number)));
    }

    std::size_t pending() const { return this->unless_it_differs(this->wheel_.pending()); }
};

static_assert(movable_contender<scheduled<cogwheel::timer_wheel>>);
static_assert(movable_contender<scheduled_with_now>);
static_assert(firing_contender<scheduled<cogwheel::timer_wheel>>);
static_assert(firing_contender<awaited<cogwheel::local_timer_wheel>>);

} // namespace bench
