// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The options of a timer_wheel.
//
//     cogwheel::timer_wheel wheel{io, {.tick = 1ms, .max_pending = 100'000}};
#pragma once

#include <cogwheel/detail/which_asio.hpp>
#include <cogwheel/wheel/wheel_levels.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// How a wheel reads the present when a delay is given.
enum class tick_clock_kind : std::uint8_t {
    automatic, ///< `counter` for ticks of 1 ms or more, else `system`
    /// By the processor's counter, if the kernel uses it for its steady clock (Linux on x86-64 and aarch64); else as
    /// `system`. Takes less than half of the time. A timer may be up to 0.1 ms later, and is never early.
    counter,
    system ///< by the clock of the wheel
};
std::string_view to_string(tick_clock_kind) noexcept; ///< the name of the constant

/// The options that the constructor of a timer_wheel takes and validates.
struct wheel_options {
    /// The precision: a timer fires at most one tick late, plus the delay of the loop. Above zero. tick x slots
    /// (rounded up; of the first level, if there are `levels`) must be below 2^63 ns (292 years).
    std::chrono::nanoseconds tick = std::chrono::milliseconds(10);

    /// The number of slots, 1 .. 65,536; rounded up to a power of two. A timer beyond tick x slots costs at most one
    /// look per revolution. A hierarchical wheel without `levels` has this number (at least 2) in each level, and no
    /// such looks.
    std::size_t slots = 512;

    /// The levels of a hierarchical wheel; if not empty, used in place of `slots`. The tick of the first level must
    /// equal `tick`. Must be empty for other wheels. See clock_hands, wheel_levels::uniform.
    wheel_levels levels{};

    /// How many timers may be pending at once, at least 1. The wheel refuses more timers with errc::too_many_timers.
    std::size_t max_pending = std::numeric_limits<std::size_t>::max();

    /// How many timers one turn may fire before other handlers run, at least 1. Looks at timers that do not fire count
    /// by their cost. A turn also completes up to this number of cancelled timers.
    std::uint32_t work_per_turn = 1024;

    /// The number of timers for which the wheel allocates slots and entries in advance: up to this number, it allocates
    /// no further ones. Must not exceed max_pending or 2^32 - 1. Does not include the memory of the timers.
    std::size_t reserve = 0;

    /// Uses huge pages of memory (2 MB) for the wheel's pool and entries. From 100,000 timers on, this saves about one
    /// TLB miss in each call that works on a timer. The wheel takes memory in multiples of 2 MB. The first use of each
    /// 2 MB takes about 0.1 ms, to clear them. Needs Linux with transparent huge pages (`madvise` or `always`).
    /// Elsewhere, the only effect is larger steps in allocation and in trim().
    bool huge_pages = false;

    /// Turns always read the wheel's clock. Only std::chrono::steady_clock has a counter; others ignore this option.
    tick_clock_kind tick_clock = tick_clock_kind::automatic;

    /// Throws std::invalid_argument if an option is bad; the message names the value, the range and the remedy.
    /// `levelled`: the options are for a hierarchical wheel.
    void validate(bool levelled = false) const {
        if (levelled) check_levels(); // a program without such a wheel does not contain this
        check_others(levelled);
    }

private:
    void check_levels() const;
    void check_others(bool levelled) const;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
