// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The delay before the next attempt, as a value:
//
//     auto b = cogwheel::backoff::exponential(100ms).cap(10s).jitter(cogwheel::backoff_jitter::full);
//
// A backoff computes delays; the caller waits, and passes in a random generator. The same random bits give the same
// delays on every platform. A delay that would overflow becomes the cap.
//
// Jitter spreads the retries of clients that failed together. Names and formulas follow M. Brooker, "Exponential
// Backoff And Jitter" (AWS Architecture Blog, 2015). One thing differs: decorrelated jitter draws below the cap. The
// article draws first, then cuts at the cap.
#pragma once

#include <cogwheel/resilience/random.hpp>
#include <cogwheel/wheel/tick.hpp>

#include <algorithm>
#include <string_view>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// The random part of each delay.
enum class backoff_jitter {
    none,         ///< no random part: for a single client, and for tests
    full,         ///< 0 .. delay: spreads clients over the whole delay
    equal,        ///< delay / 2 .. delay: waits at least half of the delay
    decorrelated, ///< first .. 3 x the previous delay (at first: 3 x first), at most the cap; ignores step and factor
};
std::string_view to_string(backoff_jitter) noexcept; ///< the name of the constant

/// Computes the delays before retries. A value: cheap to copy, comparable.
/// Errors: the factories, cap() and jitter() throw std::invalid_argument with the value, the range and the remedy.
class backoff {
public:
    using nanoseconds = std::chrono::nanoseconds;

    /// Returns a backoff whose delays are all equal. `delay`: zero or more.
    template <class Rep, class Period>
    static backoff constant(std::chrono::duration<Rep, Period> delay) {
        return backoff(detail::saturate_to_ns(delay), nanoseconds::zero(), 1);
    }
    /// Returns a backoff with the delays first, first + step, first + 2 step ... Both values: zero or more.
    template <class Rep, class Period, class StepRep, class StepPeriod>
    static backoff linear(std::chrono::duration<Rep, Period> first, std::chrono::duration<StepRep, StepPeriod> step) {
        return backoff(detail::saturate_to_ns(first), detail::saturate_to_ns(step), 1);
    }
    /// Returns a backoff with the delays first, first x factor, first x factor^2 ...
    /// Parameters: `first`: above zero. `factor`: 1 or more, and finite.
    template <class Rep, class Period>
    static backoff exponential(std::chrono::duration<Rep, Period> first, double factor = 2) {
        return growing(detail::saturate_to_ns(first), factor);
    }

    /// Returns a copy whose delays are at most `longest`. `longest`: at least the first delay. Default: 2^63 - 1 ns.
    template <class Rep, class Period>
    backoff cap(std::chrono::duration<Rep, Period> longest) const {
        return capped(detail::saturate_to_ns(longest));
    }
    /// Returns a copy with this jitter. backoff_jitter::decorrelated needs a first delay above zero.
    backoff jitter(backoff_jitter kind) const;

    /// Returns the delay before a retry, at most the cap.
    /// Parameters: `retry`: its number, from 1. `previous`: the delay before the previous retry; zero for the first.
    ///   `random`: the generator of the jitter; without jitter it is not called.
    /// Complexity: O(log retry). Errors: those of `random`.
    template <detail::random_generator Generator>
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
    /// Returns the same delay without jitter. Complexity: O(log retry).
    nanoseconds without_jitter(std::uint32_t retry) const noexcept;

    friend bool operator==(const backoff&, const backoff&) = default;

private:
    backoff(nanoseconds first, nanoseconds step, double factor);
    static backoff growing(nanoseconds first, double factor);
    backoff capped(nanoseconds longest) const;

    static constexpr nanoseconds times_three(nanoseconds d) noexcept {
        return detail::saturating_add(d, detail::saturating_add(d, d));
    }
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

/// Returns the delays of a backoff one after the other: for a loop of your own, such as a client that reconnects.
/// Example:
///
///     cogwheel::backoff_sequence pauses(cogwheel::backoff::exponential(100ms).cap(10s));
///     while (!connect()) wait(pauses.next(random));
///     pauses.reset(); // connected: start again with the first pause
class backoff_sequence {
public:
    explicit backoff_sequence(const backoff& b) noexcept : backoff_(b) {}

    /// Returns the next delay. Errors: those of `random`; then the sequence does not change.
    template <detail::random_generator Generator>
    std::chrono::nanoseconds next(Generator& random) {
        const auto retry = retry_ == std::numeric_limits<std::uint32_t>::max() ? retry_ : retry_ + 1;
        previous_ = backoff_.next(retry, previous_, random);
        retry_ = retry;
        return previous_;
    }
    /// Starts again with the first delay. Call it after a success.
    void reset() noexcept {
        retry_ = 0;
        previous_ = {};
    }
    /// Returns how many delays next() has returned since the last reset(). Saturates.
    std::uint32_t retries() const noexcept { return retry_; }

private:
    backoff backoff_;
    std::uint32_t retry_ = 0;
    std::chrono::nanoseconds previous_{};
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
