// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Ticks, the only time that the core knows, and the conversion of deadlines and of the present to ticks.
//
// A deadline is rounded up, the present down, and a timer fires when present >= deadline. So a timer is never early,
// and at most one tick late, plus the delay until the caller calls advance().
// All conversions saturate. Everything here is O(1), allocates nothing and reads no clock.
#pragma once

#include <cogwheel/detail/assertion.hpp>
#include <cogwheel/detail/overflow.hpp>
#include <cogwheel/detail/platform.hpp>

#include <bit>
#include <chrono>
#include <compare>
#include <cstdint>
#include <limits>
#include <ratio>
#include <type_traits>
#include <utility>

namespace cogwheel::COGWHEEL_ABI {

/// A point in wheel time: whole ticks since the wheel's origin.
struct tick {
    std::uint64_t value{};

    friend constexpr auto operator<=>(tick, tick) = default;

    /// Returns the last tick. The top bit of the word stays free, so that a signed difference of ticks never wraps.
    static constexpr tick max() noexcept { return {std::numeric_limits<std::uint64_t>::max() >> 1}; }

    /// Returns the tick that is `count` ticks after `t`; saturates at max().
    friend constexpr tick operator+(tick t, std::uint64_t count) noexcept {
        return {count >= max().value - t.value ? max().value : t.value + count};
    }
};

namespace detail {

/// Divides by a number that the compiler does not know, by one multiplication: T. Granlund, P. L. Montgomery, "Division
/// by invariant integers using multiplication" (1994).
class divisor {
public:
    /// Preconditions: 0 < value < 2^63.
    explicit constexpr divisor(std::uint64_t value) noexcept : value_(value) {
#ifdef __SIZEOF_INT128__
        // The factor is 2^(63 + shift) / value, rounded up. A quotient is too large by less than 1 / value, so it
        // rounds down to the exact result.
        shift_ = static_cast<unsigned>(std::bit_width(value - 1));
        // Divides bit by bit, because compilers call a library function for a division of 128 bits.
        std::uint64_t rest = (std::uint64_t{1} << shift_) - value;
        factor_ = 1;
        for (int bit = 0; bit < 63; ++bit) {
            rest *= 2;
            factor_ *= 2;
            if (rest < value) continue;
            rest -= value;
            ++factor_;
        }
        if (rest != 0) ++factor_;
#endif
    }
    constexpr std::uint64_t value() const noexcept { return value_; }

    /// Rounds down. Preconditions: dividend < 2^63.
    friend constexpr std::uint64_t operator/(std::uint64_t dividend, const divisor& d) noexcept {
#ifdef __SIZEOF_INT128__
        return static_cast<std::uint64_t>((wide{2 * dividend} * d.factor_) >> 64) >> d.shift_;
#else
        return dividend / d.value_;
#endif
    }

private:
    std::uint64_t value_;
#ifdef __SIZEOF_INT128__
    __extension__ using wide = unsigned __int128;
    std::uint64_t factor_ = 0;
    unsigned shift_ = 0;
#endif
};

// The limit lies below 2^63 ns (9.22e9 s). The difference is larger than the rounding error of a double.
inline constexpr double most_seconds = 9.2e9;

template <class Rep, class Period>
constexpr std::chrono::nanoseconds saturated(std::chrono::duration<Rep, Period> d) noexcept {
    using std::chrono::nanoseconds;
    if constexpr (std::is_integral_v<Rep>) {
        using wide = std::common_type_t<Rep, std::intmax_t>;
        constexpr double units = most_seconds * Period::den / Period::num;
        const wide count = d.count();
        if constexpr (units < static_cast<double>(std::numeric_limits<wide>::max())) {
            constexpr auto whole_units = static_cast<wide>(units);
            constexpr wide most = whole_units + (static_cast<double>(whole_units) < units ? 1 : 0);
            if (count >= most) return nanoseconds::max();
            if constexpr (std::is_signed_v<wide>)
                if (count <= -most) return nanoseconds::min();
        }
        // std::chrono::ceil() multiplies first. If no unit is a multiple of the other (1/3 s), that can overflow.
        using factor = std::ratio_divide<Period, std::nano>;
        const wide whole = count / wide{factor::den} * wide{factor::num};
        const wide rest = count % wide{factor::den} * wide{factor::num};
        const wide up = rest > 0 && rest % wide{factor::den} != 0 ? 1 : 0;
        return nanoseconds(static_cast<std::int64_t>(whole + rest / wide{factor::den} + up));
    } else if constexpr (sizeof(Rep) < sizeof(double)) {
        return saturated(std::chrono::duration<double, Period>(d)); // in float, ceil() of a week is 19 ms early
    } else {
        const double seconds = std::chrono::duration_cast<std::chrono::duration<double>>(d).count();
        if (seconds >= most_seconds) return nanoseconds::max();
        if (seconds <= -most_seconds) return nanoseconds::min();
        if (seconds != seconds) return nanoseconds::zero();
        return std::chrono::ceil<nanoseconds>(d);
    }
}

/// Returns the duration, rounded up. Saturates: for units finer than nanoseconds, or no multiple of them,
/// std::chrono::ceil() can overflow.
template <class Duration>
constexpr Duration ceil_to(std::chrono::nanoseconds ns) noexcept {
    using rep = typename Duration::rep;
    if constexpr (std::is_same_v<Duration, std::chrono::nanoseconds>) {
        return ns;
    } else if constexpr (!std::is_integral_v<rep>) {
        return std::chrono::ceil<Duration>(ns);
    } else {
        using factor = std::ratio_divide<std::nano, typename Duration::period>;
        constexpr std::int64_t num = factor::num, den = factor::den;
        static_assert(num <= std::numeric_limits<std::int64_t>::max() / den, "the clock's unit is too odd a fraction");
        const std::int64_t rest = ns.count() % den * num;
        std::int64_t count = 0;
        const bool beyond = mul_overflow(ns.count() / den, num, count) ||
                            add_overflow(count, rest / den + (rest % den > 0 ? 1 : 0), count);
        if (beyond || !std::in_range<rep>(count)) return ns.count() > 0 ? Duration::max() : Duration::min();
        return Duration(static_cast<rep>(count));
    }
}

/// Converts any std::chrono duration to nanoseconds, rounded up. NaN becomes zero. Saturates: 9.2e9 s (291 years)
/// or more become nanoseconds::max(), -9.2e9 s or less nanoseconds::min(). A nanoseconds argument stays as it is.
/// An implicit conversion of hours::max() would overflow, and a timer that should never fire could fire at once.
// always_inline: a constant then costs nothing. For another delay, one comparison tells the compiler that the result
// lies between zero and 146 years.
template <class Rep, class Period>
COGWHEEL_ALWAYS_INLINE constexpr std::chrono::nanoseconds
saturate_to_ns(std::chrono::duration<Rep, Period> d) noexcept {
    using std::chrono::nanoseconds;
    using factor = std::ratio_divide<Period, std::nano>;
    if constexpr (std::is_same_v<std::chrono::duration<Rep, Period>, nanoseconds>) {
        return d;
    } else if constexpr (std::is_integral_v<Rep> && factor::den == 1) {
        using wide = std::common_type_t<Rep, std::intmax_t>;
        constexpr auto half = static_cast<wide>(most_seconds / 2 * Period::den / Period::num);
        if constexpr (half > 0)
            if (d.count() > 0 && d.count() < half) [[likely]]
                return nanoseconds(static_cast<std::int64_t>(wide{d.count()} * factor::num));
    }
    return saturated(d);
}

/// Returns a + b; saturates at both ends.
constexpr std::chrono::nanoseconds saturating_add(std::chrono::nanoseconds a, std::chrono::nanoseconds b) noexcept {
    using std::chrono::nanoseconds;
    std::int64_t sum = 0;
    if (add_overflow(a.count(), b.count(), sum)) [[unlikely]]
        return b.count() > 0 ? nanoseconds::max() : nanoseconds::min();
    return nanoseconds(sum);
}

} // namespace detail

/// Converts the time since the wheel's origin to ticks, and back. All ticks have the same length.
///
///     constexpr cogwheel::tick_scale scale(10ms);
///     scale.due(25ms);      // tick 3: a deadline is rounded up
///     scale.now(25ms);      // tick 2: the present is rounded down
///     scale.start_of({3});  // 30 ms
class tick_scale {
public:
    /// Makes a scale of ticks of this length. Preconditions: length > 0.
    explicit constexpr tick_scale(std::chrono::nanoseconds length) noexcept : length_(checked(length)) {}

    constexpr std::chrono::nanoseconds length() const noexcept {
        return std::chrono::nanoseconds(static_cast<std::int64_t>(length_.value()));
    }

    /// Returns the tick at which a timer due at `since_origin` fires, rounded up. A time before the origin becomes tick
    /// 0, and nanoseconds::max() becomes tick::max().
    constexpr tick due(std::chrono::nanoseconds since_origin) const noexcept {
        if (since_origin <= std::chrono::nanoseconds::zero()) return {0};
        if (since_origin == std::chrono::nanoseconds::max()) return tick::max();
        return {(static_cast<std::uint64_t>(since_origin.count()) - 1) / length_ + 1};
    }

    /// Returns the tick at which a timer fires that is due `delay` after `now`. Preconditions: both are at most
    /// nanoseconds::max() / 2; now >= 0; delay > 0.
    constexpr tick due(std::chrono::nanoseconds now, std::chrono::nanoseconds delay) const noexcept {
        const std::uint64_t sum = static_cast<std::uint64_t>(now.count()) + static_cast<std::uint64_t>(delay.count());
        return {(sum - 1) / length_ + 1};
    }

    /// Returns the tick that the wheel has reached at `since_origin`, rounded down; tick 0 before the origin.
    constexpr tick now(std::chrono::nanoseconds since_origin) const noexcept {
        if (since_origin <= std::chrono::nanoseconds::zero()) return {0};
        return {static_cast<std::uint64_t>(since_origin.count()) / length_};
    }

    /// Returns the time from the origin to the start of tick `t`; saturates.
    constexpr std::chrono::nanoseconds start_of(tick t) const noexcept {
        constexpr auto limit = static_cast<std::uint64_t>(std::chrono::nanoseconds::max().count());
        if (t.value > limit / length_) return std::chrono::nanoseconds::max();
        return std::chrono::nanoseconds(static_cast<std::int64_t>(t.value * length_.value()));
    }

private:
    static constexpr std::uint64_t checked(std::chrono::nanoseconds length) noexcept {
        COGWHEEL_ASSERT(length.count() > 0 && "a tick must be longer than zero");
        return static_cast<std::uint64_t>(length.count());
    }
    detail::divisor length_;
};

} // namespace cogwheel::COGWHEEL_ABI
