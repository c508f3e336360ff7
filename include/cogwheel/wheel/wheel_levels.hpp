// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#pragma once

#include <cogwheel/detail/assertion.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <string>

namespace cogwheel::COGWHEEL_ABI {

/// One level: a ring of 2 .. 65,536 slots, each of length `tick`. The wheel rounds `slots` up to a power of two.
struct wheel_level {
    std::chrono::nanoseconds tick;
    std::size_t slots;

    friend constexpr bool operator==(const wheel_level&, const wheel_level&) = default;
};

/// The levels of a wheel, the finest first. The tick of a level is a whole multiple of the tick of the level below (the
/// next finer one). The factor lies between 2 and the `slots` of the level below.
///
///     constexpr cogwheel::wheel_levels levels{{10ms, 100}, {1s, 60}, {1min, 60}}; // reaches one hour
///     cogwheel::hierarchical_wheel wheel(nodes, levels);
class wheel_levels {
public:
    static constexpr std::size_t max_levels = 16;
    static constexpr std::size_t max_slots = std::size_t{1} << 16;

    /// Makes an empty list: the wheel then chooses its levels.
    constexpr wheel_levels() = default;

    /// Takes the levels unchecked; fault() checks them. Preconditions: at most max_levels.
    constexpr wheel_levels(std::initializer_list<wheel_level> levels) {
        for (const wheel_level& level : levels) push_back(level);
    }

    /// Returns `levels` levels with the same number of slots. A slot is as long as `slots` slots of the level below.
    /// Preconditions: 1 <= levels <= max_levels; tick x slots^(levels - 1) fits nanoseconds.
    static constexpr wheel_levels uniform(std::chrono::nanoseconds tick, std::size_t slots = 64,
                                          std::size_t levels = 6) {
        wheel_levels all;
        for (std::size_t i = 0; i < levels; ++i) {
            if (i != 0) tick *= static_cast<std::int64_t>(slots);
            all.push_back({tick, slots});
        }
        return all;
    }

    constexpr bool empty() const noexcept { return size_ == 0; }
    constexpr std::size_t size() const noexcept { return size_; }
    constexpr const wheel_level& operator[](std::size_t i) const noexcept { return levels_[i]; }
    constexpr const wheel_level* begin() const noexcept { return levels_.data(); }
    constexpr const wheel_level* end() const noexcept { return levels_.data() + size_; }

    /// Appends a level, coarser than the others. Preconditions: size() < max_levels.
    constexpr void push_back(const wheel_level& level) {
        COGWHEEL_ASSERT(size_ < max_levels && "a wheel has at most 16 levels");
        levels_[size_++] = level;
    }

    /// Returns an empty string for good levels; else names the first bad level, its value, the range and the remedy.
    std::string fault() const;

private:
    std::array<wheel_level, max_levels> levels_{};
    std::size_t size_ = 0;
};

/// Levels like the hands of a clock: 100 slots of 10 ms, 60 of a second, 60 of a minute, 24 of an hour, 30 of a day.
inline constexpr wheel_levels clock_hands{{std::chrono::milliseconds(10), 100},
                                          {std::chrono::seconds(1), 60},
                                          {std::chrono::minutes(1), 60},
                                          {std::chrono::hours(1), 24},
                                          {std::chrono::hours(24), 30}};

} // namespace cogwheel::COGWHEEL_ABI
