// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The manual clock itself; manual_clock.hpp has the wheels on it. Nothing here names a type of Asio, so the library
// contains the clock: a process has one, however many of its libraries use it.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <chrono>
#include <optional>

namespace cogwheel::COGWHEEL_ABI::testing::COGWHEEL_ASIO {

/// A clock for tests; meets the standard's Clock requirements. Thread safety: any thread may call its
/// functions. A process has one, which starts at 0 and is never set back: a test reads now() at its start.
class manual_clock {
public:
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<manual_clock>;
    static constexpr bool is_steady = false; // advance() can move it back

    static time_point now() noexcept;

    /// Moves the time on; saturates. Each wheel whose planned wake-up has come posts one turn to its executor. A
    /// negative `by` moves the time back: wheels then do not advance until the clock has caught up.
    static void advance(duration by);

    /// Returns when the next wheel plans to wake up, of all wheels on this clock in the process. A wheel may wake up
    /// without firing a timer. Returns nothing if no wheel plans it: they have no timers, or have posted a turn.
    static std::optional<time_point> next_wake() noexcept;
};

} // namespace cogwheel::COGWHEEL_ABI::testing::COGWHEEL_ASIO
