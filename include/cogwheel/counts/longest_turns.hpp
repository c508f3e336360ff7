// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Keeps the longest turns of the last hour, so that old ones do not hide new ones. Forgets ten minutes at a time.
#pragma once

#include <cogwheel/detail/platform.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace cogwheel::COGWHEEL_ABI {

/// A long turn of a wheel. All zero if there was none.
struct long_turn {
    std::chrono::nanoseconds took{}; ///< with all handlers that ran inside the turn
    std::uint64_t fired = 0;         ///< timers that fired in the turn
    std::chrono::nanoseconds ago{};  ///< the time since its end

    friend bool operator==(const long_turn&, const long_turn&) = default;
};

/// A table of about 750 bytes; no allocation. Thread safety: none.
class longest_turns {
    using nanoseconds = std::chrono::nanoseconds;

public:
    static constexpr std::size_t most = 5; ///< turns of each period, and of the answer
    static constexpr std::size_t periods = 6;
    static constexpr std::chrono::minutes period{10};

    /// Records a turn that ended at `now`, counted from a fixed point in the past. Complexity: O(1).
    void record(nanoseconds took, std::uint64_t fired, nanoseconds now) noexcept {
        segment& s = segments_[static_cast<std::size_t>(number(now)) % periods];
        if (s.number == number(now) && took <= s.shortest) return;
        add(s, {took, fired, now});
    }

    /// Returns the longest turns of the present ten minutes and the fifty before, longest first. Complexity: O(1).
    std::array<long_turn, most> read(nanoseconds now) const noexcept;

private:
    struct row {
        nanoseconds took{};
        std::uint64_t fired = 0;
        nanoseconds ended{};
    };
    struct segment {
        std::int64_t number = 0; // which ten minutes
        nanoseconds shortest{};  // of the rows
        std::array<row, most> rows{};
    };

    static constexpr std::int64_t number(nanoseconds at) noexcept { return at / nanoseconds(period); }
    static void add(segment& s, const row& r) noexcept;

    std::array<segment, periods> segments_{};
};

} // namespace cogwheel::COGWHEEL_ABI
