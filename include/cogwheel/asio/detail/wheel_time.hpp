// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Between a clock's points and delays, and the ticks of one wheel: at which tick a timer is due, and whether it is overdue when it is set.
#pragma once

#include <cogwheel/asio/detail/clock_points.hpp>
#include <cogwheel/wheel/coalescing.hpp>
#include <cogwheel/wheel/timing_wheel.hpp>

#include <algorithm>
#include <chrono>

namespace cogwheel::detail {

/// A delay, and the clock reading that it counts from. The other way to say when is a time_point.
template <class Clock>
struct from_now {
    std::chrono::nanoseconds delay;
    typename Clock::time_point now;
};

/// Anywhere in between; a search for company is what it costs.
template <class Clock>
struct within {
    typename Clock::time_point earliest, latest;
};

/// A delay and the clock reading that it counts from, rounded up to a multiple of `grain`, which is rounded up to whole ticks.
template <class Clock>
struct rounded {
    from_now<Clock> wanted;
    std::chrono::nanoseconds grain;
};

struct aim {
    tick due;
    bool at_once; // overdue when it was set
};

/// The wheel stands at tick 0 at `origin`.
template <class Clock>
class wheel_time {
    using nanoseconds = std::chrono::nanoseconds;

public:
    using time_point = typename Clock::time_point;

    wheel_time(nanoseconds tick_length, time_point origin) noexcept : scale_(tick_length), origin_(origin) {}

    nanoseconds since_origin(time_point t) const noexcept {
        return saturating_add(saturate_to_ns(t.time_since_epoch()), -saturate_to_ns(origin_.time_since_epoch()));
    }
    nanoseconds start_since_origin(tick t) const noexcept { return scale_.start_of(t); }
    time_point start_of(tick t) const noexcept {
        return point_after(origin_, scale_.start_of(t)); // rounded up: else a turn would come too early
    }

    /// The tick that has been reached.
    tick reached(nanoseconds since_origin) const noexcept { return scale_.now(since_origin); }
    tick reached() const noexcept { return reached(since_origin(Clock::now())); }

    // ---- where a timer of `wheel` is due ----

    // A clock that was turned back counts as standing still at the wheel's present: nothing is early.
    template <class Wheel>
    aim at(const Wheel& wheel, from_now<Clock> w) const noexcept {
        nanoseconds now = since_origin(w.now);
        if constexpr (!Clock::is_steady) now = std::max(now, scale_.start_of(wheel.now()));
        if (w.delay <= nanoseconds::zero()) return {scale_.now(now), true};
        return {scale_.due(saturating_add(now, w.delay)), false};
    }
    template <class Wheel>
    aim at(const Wheel& wheel, time_point point) const noexcept {
        const tick due = scale_.due(since_origin(point));
        if constexpr (!Clock::is_steady)
            if (due <= wheel.now() && point > Clock::now()) return {wheel.now() + 1, false};
        return {due, false};
    }
    template <class Wheel>
    aim at(const Wheel& wheel, within<Clock> w) const noexcept {
        const aim first = at(wheel, w.earliest);
        const tick last = scale_.now(since_origin(w.latest));
        if (first.due <= wheel.now() || last <= first.due) return first;
        return {coalesced(wheel, first.due, last), false};
    }
    template <class Wheel>
    aim at(const Wheel& wheel, rounded<Clock> w) const noexcept {
        const aim exact = at(wheel, w.wanted);
        if (exact.at_once || w.grain <= scale_.length()) return exact;
        const auto ticks = (w.grain - nanoseconds(1)) / scale_.length() + 1;
        return {round_up(exact.due, static_cast<std::uint64_t>(ticks)), false};
    }

private:
    tick_scale scale_;
    time_point origin_;
};

} // namespace cogwheel::detail
