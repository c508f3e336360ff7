// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The manual clock itself; manual_clock.hpp has the wheels on it. The library contains the clock, which names no type
// of Asio. So a process has one clock, even if several of its libraries use it.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <chrono>
#include <optional>

namespace cogwheel::COGWHEEL_ABI::testing::COGWHEEL_ASIO {

/// A clock for tests; meets the standard's Clock requirements. It starts at 0 with the process and is never reset: a
/// test reads now() at its start. Thread safety: any thread.
class manual_clock {
public:
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<manual_clock>;
    static constexpr bool is_steady = false; // advance() can move it back

    static time_point now() noexcept;

    /// Moves the time forward by `by`; saturates. Each wheel whose planned wake-up has come posts one turn to its
    /// executor. A negative `by` moves the time back: wheels then do not advance until the clock has caught up.
    static void advance(duration by);

    /// Returns the earliest planned wake-up of all wheels on this clock. A wheel may wake up without firing a timer.
    /// Returns nothing if no wheel has planned one: the wheels have no timers, or have posted a turn.
    static std::optional<time_point> next_wake() noexcept;
};

} // namespace cogwheel::COGWHEEL_ABI::testing::COGWHEEL_ASIO
