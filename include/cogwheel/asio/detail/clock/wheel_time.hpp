// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Converts the time points and delays of a clock to the due ticks of one wheel.
#pragma once

#include <cogwheel/asio/detail/clock/tick_clock.hpp>
#include <cogwheel/wheel/detail/coalescing.hpp>
#include <cogwheel/wheel/tick.hpp>
#include <cogwheel/wheel/timing_wheel.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <ratio>
#include <type_traits>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

// ---- time points, and nanoseconds since the clock's epoch, in which state machines decide without a clock ----

template <class Clock>
std::chrono::nanoseconds present() noexcept {
    return saturate_to_ns(Clock::now().time_since_epoch());
}

/// Returns the point, rounded up: with a coarse clock no timer is early. Saturates.
template <class TimePoint>
constexpr TimePoint point_at(std::chrono::nanoseconds since_epoch) noexcept {
    return TimePoint(ceil_to<typename TimePoint::duration>(since_epoch));
}

/// Returns `now` plus `delay`. Saturates at both ends.
template <class TimePoint, class Rep, class Period>
TimePoint point_after(TimePoint now, std::chrono::duration<Rep, Period> delay) noexcept {
    return point_at<TimePoint>(saturating_add(saturate_to_ns(now.time_since_epoch()), saturate_to_ns(delay)));
}

/// Returns the duration from `from` to `to`, rounded up. Saturates.
template <class TimePoint>
typename TimePoint::duration distance(TimePoint from, TimePoint to) noexcept {
    const std::chrono::nanoseconds before = saturate_to_ns(from.time_since_epoch());
    const auto ns =
        saturating_add(saturate_to_ns(to.time_since_epoch()), before == before.min() ? before.max() : -before);
    return ceil_to<typename TimePoint::duration>(ns);
}

/// A delay, and the clock reading that it counts from.
template <class Clock>
struct from_now {
    std::chrono::nanoseconds delay;
    typename Clock::time_point now;
};

/// A delay from the present. The wheel reads its tick clock, under its lock.
struct from_present {
    std::chrono::nanoseconds delay;
};

/// A range of points. A timer may be due anywhere in it; a search finds a tick that other timers use.
template <class Clock>
struct time_range {
    typename Clock::time_point earliest, latest;
};

struct due_tick {
    tick due;
    bool at_once; // a delay of zero or less: due in the next turn
};

/// The time of one wheel: its tick length, and its origin, the point of tick 0.
template <class Clock>
class wheel_time {
    using nanoseconds = std::chrono::nanoseconds;

public:
    using time_point = typename Clock::time_point;

    /// `with_counter`: delays may count from a reading of the processor's counter (tick_clock.hpp).
    [[gnu::cold]] wheel_time(nanoseconds tick_length, time_point origin, bool with_counter) noexcept
        : scale_(tick_length), clock_(origin, with_counter), origin_(origin) {}

    /// Returns the present, since the origin.
    nanoseconds present() const noexcept { return clock_.read(); }
    /// Does the same at the start of a turn, and sets the anchor of the tick clock.
    nanoseconds begin_turn() noexcept { return clock_.exact(); }
    /// Returns a point that is not before the present, for deadlines.
    time_point not_before() noexcept { return point_after(origin_, clock_.not_before()); }
    /// Does the same on any thread, without the lock. Returns false if it needs the lock: see tick_clock.
    COGWHEEL_ALWAYS_INLINE bool try_not_before_unlocked(time_point& now) const noexcept {
        nanoseconds since{};
        if (!clock_.try_not_before_unlocked(since)) return false;
        now = point_after(origin_, since);
        return true;
    }
    bool uses_counter() const noexcept { return clock_.uses_counter(); }

    nanoseconds since_origin(time_point t) const noexcept {
        return saturating_add(saturate_to_ns(t.time_since_epoch()), -saturate_to_ns(origin_.time_since_epoch()));
    }
    nanoseconds start_since_origin(tick t) const noexcept { return scale_.start_of(t); }
    nanoseconds tick_length() const noexcept { return scale_.length(); }
    time_point start_of(tick t) const noexcept {
        return point_after(origin_, scale_.start_of(t)); // rounded up, so that no turn comes too early
    }

    /// Returns the tick that has been reached: rounds down.
    tick reached(nanoseconds since_origin) const noexcept { return scale_.now(since_origin); }
    COGWHEEL_ALWAYS_INLINE tick reached() const noexcept { return reached(present()); }

    // ---- the tick at which a timer of `wheel` is due ----

    /// Returns false for a delay that needs at().
    template <class When>
    static constexpr bool is_usual([[maybe_unused]] When w) noexcept {
        if constexpr (Clock::is_steady && requires { w.delay; })
            return w.delay > nanoseconds::zero() && w.delay <= longest_usual;
        else
            return true;
    }
    /// Sets `due` to the result of at(). Returns false for a time beyond 146 years or before the origin, or if
    /// tick_clock::try_not_before() does. Preconditions: is_usual(w).
    template <class Wheel, class When>
    COGWHEEL_ALWAYS_INLINE bool try_at(const Wheel& wheel, When w, due_tick& due) noexcept {
        if constexpr (Clock::is_steady && std::is_same_v<When, from_present>) {
            nanoseconds now{};
            if (!clock_.try_not_before(now)) [[unlikely]]
                return false;
            due = {scale_.due(now, w.delay), false};
        } else if constexpr (Clock::is_steady && std::is_same_v<When, from_now<Clock>>) {
            nanoseconds now{};
            if (!try_since_origin(w.now, now)) [[unlikely]]
                return false;
            due = {scale_.due(now, w.delay), false};
        } else {
            due = at(wheel, w);
        }
        return true;
    }

    // always_inline: with several callers, g++ would call it, for 6 instructions more.
    template <class Wheel>
    COGWHEEL_ALWAYS_INLINE due_tick at(const Wheel& wheel, from_present w) noexcept {
        // A timer that is due at once fires in the next turn, which may not have reached the tick of not_before() yet.
        if (!Clock::is_steady || !is_usual(w)) return after(wheel, w.delay, clock_.exact());
        return {scale_.due(clock_.not_before(), w.delay), false};
    }
    template <class Wheel>
    COGWHEEL_ALWAYS_INLINE static due_tick at(const Wheel&, due_tick a) noexcept {
        return a;
    }
    template <class Wheel>
    COGWHEEL_ALWAYS_INLINE due_tick at(const Wheel& wheel, from_now<Clock> w) const noexcept {
        return after(wheel, w.delay, since_origin(w.now));
    }
    template <class Wheel>
    due_tick at(const Wheel& wheel, time_point point) const noexcept {
        const tick due = scale_.due(since_origin(point));
        if constexpr (!Clock::is_steady)
            if (due <= wheel.now() && point > Clock::now()) return {wheel.now() + 1, false};
        return {due, false};
    }
    template <class Wheel>
    due_tick at(const Wheel& wheel, time_range<Clock> w) const noexcept {
        const due_tick first = at(wheel, w.earliest);
        const tick last = scale_.now(since_origin(w.latest));
        if (first.due <= wheel.now() || last <= first.due) return first;
        return {coalesced(wheel, first.due, last), false};
    }

private:
    static constexpr nanoseconds longest_usual = nanoseconds::max() / 2;

    // Does what since_origin() does, for a point from the origin to longest_usual after it; else returns false.
    COGWHEEL_ALWAYS_INLINE bool try_since_origin(time_point t, nanoseconds& since) const noexcept {
        std::int64_t difference = 0;
        const bool overflow = sub_overflow(saturate_to_ns(t.time_since_epoch()).count(),
                                           saturate_to_ns(origin_.time_since_epoch()).count(), difference);
        since = nanoseconds(difference);
        return !overflow && static_cast<std::uint64_t>(difference) <= static_cast<std::uint64_t>(longest_usual.count());
    }

    // If the clock was turned back, a delay counts from the wheel's present tick, so that no timer is early.
    template <class Wheel>
    COGWHEEL_ALWAYS_INLINE due_tick after(const Wheel& wheel, nanoseconds delay, nanoseconds now) const noexcept {
        if constexpr (!Clock::is_steady)
            if (const nanoseconds present = scale_.start_of(wheel.now()); now < present) now = present;
        if (delay <= nanoseconds::zero()) return {scale_.now(now), true};
        // Not saturating_add(): the delay is above zero, so only the upper end can be passed.
        return {scale_.due(nanoseconds::max() - delay < now ? nanoseconds::max() : now + delay), false};
    }

    tick_scale scale_;
    tick_clock<Clock> clock_;
    time_point origin_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
