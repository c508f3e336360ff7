// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How long to wait before the next attempt, as a value:
//
//     auto b = cogwheel::backoff::exponential(100ms).cap(10s).jitter(cogwheel::backoff_jitter::full);
//
// It knows no clock and no random source: both are the caller's. The same seed gives the same delays everywhere. What would
// overflow saturates at the cap.
//
// Jitter is what keeps clients that failed together from coming back together: M. Brooker, "Exponential Backoff And Jitter"
// (AWS Architecture Blog, 2015), whose names and formulas these are.
#pragma once

#include <cogwheel/net/random_ref.hpp>
#include <cogwheel/wheel/tick.hpp>

#include <algorithm>

namespace cogwheel {

enum class backoff_jitter {
    none,         ///< the delay itself: for a single client, and for tests
    full,         ///< 0 .. delay: spreads best, and costs the fewest attempts
    equal,        ///< delay / 2 .. delay: never at once
    decorrelated, ///< first .. 3 x what was waited before; the growth without jitter plays no part
};

/// A regular value. All but next() is checked where it is made: std::invalid_argument says value, range and remedy.
class backoff {
public:
    using nanoseconds = std::chrono::nanoseconds;

    /// Always the same. Zero: at once.
    template <class Rep, class Period>
    static backoff constant(std::chrono::duration<Rep, Period> delay) {
        return backoff(saturate_to_ns(delay), nanoseconds::zero(), 1);
    }
    /// first, first + step, first + 2 step ...
    template <class Rep, class Period, class StepRep, class StepPeriod>
    static backoff linear(std::chrono::duration<Rep, Period> first, std::chrono::duration<StepRep, StepPeriod> step) {
        return backoff(saturate_to_ns(first), saturate_to_ns(step), 1);
    }
    /// first, first x factor, first x factor^2 ...; first above zero, a finite factor of 1 or more.
    template <class Rep, class Period>
    static backoff exponential(std::chrono::duration<Rep, Period> first, double factor = 2) {
        return growing(saturate_to_ns(first), factor);
    }

    /// The longest delay: at least the first one. Without it: 2^63 - 1 ns.
    template <class Rep, class Period>
    backoff cap(std::chrono::duration<Rep, Period> longest) const {
        return capped(saturate_to_ns(longest));
    }
    backoff jitter(backoff_jitter kind) const;

    /// The delay before the `retry`-th retry (1, 2 ...), after `previous` was waited (zero: nothing yet), never above the cap.
    /// Draws once, unless there is no jitter. Complexity: O(log retry). Errors: the generator's.
    template <std::uniform_random_bit_generator Generator>
    nanoseconds next(std::uint32_t retry, nanoseconds previous, Generator& random) const {
        switch (jitter_) {
        case backoff_jitter::full:
            return between(nanoseconds::zero(), without_jitter(retry), random);
        case backoff_jitter::equal: {
            const nanoseconds delay = without_jitter(retry);
            return between(delay / 2, delay, random);
        }
        case backoff_jitter::decorrelated:
            return between(first_, std::min(cap_, times_three(std::max(previous, first_))), random);
        default:
            return without_jitter(retry);
        }
    }
    nanoseconds without_jitter(std::uint32_t retry) const noexcept;

    friend bool operator==(const backoff&, const backoff&) = default;

private:
    backoff(nanoseconds first, nanoseconds step, double factor);
    static backoff growing(nanoseconds first, double factor);
    backoff capped(nanoseconds longest) const;

    static constexpr nanoseconds times_three(nanoseconds d) noexcept { return saturating_add(d, saturating_add(d, d)); }
    template <class Generator>
    static nanoseconds between(nanoseconds least, nanoseconds most, Generator& random) {
        const auto span = static_cast<std::uint64_t>((most - least).count());
        return least + nanoseconds(static_cast<std::int64_t>(detail::scale_bits(detail::random_bits(random), span)));
    }

    nanoseconds first_;
    nanoseconds step_;
    nanoseconds cap_ = nanoseconds::max();
    double factor_;
    backoff_jitter jitter_ = backoff_jitter::none;
};

/// A backoff and how far it has come: for loops that are no async_retry, as a client that reconnects for ever.
class backoff_sequence {
public:
    explicit backoff_sequence(const backoff& b) noexcept : backoff_(b) {}

    template <std::uniform_random_bit_generator Generator>
    std::chrono::nanoseconds next(Generator& random) {
        const auto retry = retry_ == std::numeric_limits<std::uint32_t>::max() ? retry_ : retry_ + 1;
        previous_ = backoff_.next(retry, previous_, random);
        retry_ = retry;
        return previous_;
    }
    /// It worked: the next delay is the first one again.
    void reset() noexcept {
        retry_ = 0;
        previous_ = {};
    }
    /// Delays given out since the last reset.
    std::uint32_t retries() const noexcept { return retry_; }

private:
    backoff backoff_;
    std::uint32_t retry_ = 0;
    std::chrono::nanoseconds previous_{};
};

} // namespace cogwheel
