// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The shape of a hierarchical wheel: how long a slot of each level is, and how many there are.
#pragma once

#include <array>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <string>

namespace cogwheel {

/// One ring of slots; as a clock's hand, it goes round in tick x slots.
struct wheel_level {
    std::chrono::nanoseconds tick;
    std::size_t slots;

    friend constexpr bool operator==(const wheel_level&, const wheel_level&) = default;
};

/// The levels of a wheel, the finest first. A level's tick is a multiple of the one below, and at most once round that.
class wheel_levels {
public:
    static constexpr std::size_t max_levels = 16;
    static constexpr std::size_t max_slots = std::size_t{1} << 16;

    /// None: the wheel chooses.
    constexpr wheel_levels() = default;

    /// Preconditions: at most max_levels. What else is wrong with them, fault() says.
    constexpr wheel_levels(std::initializer_list<wheel_level> levels) {
        for (const wheel_level& level : levels) push_back(level);
    }

    /// `levels` of the same number of slots, each as long as the one below goes round: 64 x 6 of 1 ms are 2.2 years.
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

    /// Preconditions: size() < max_levels.
    constexpr void push_back(const wheel_level& level) {
        assert(size_ < max_levels && "a wheel has at most 16 levels");
        levels_[size_++] = level;
    }

    /// Empty, or what no wheel can be made of: the level, its value, the range and the remedy.
    std::string fault() const;

private:
    std::array<wheel_level, max_levels> levels_{};
    std::size_t size_ = 0;
};

/// The hands of a clock with a calendar's leaf: 10 ms, seconds, minutes, hours, 30 days.
inline constexpr wheel_levels clock_hands{{std::chrono::milliseconds(10), 100},
                                          {std::chrono::seconds(1), 60},
                                          {std::chrono::minutes(1), 60},
                                          {std::chrono::hours(1), 24},
                                          {std::chrono::hours(24), 30}};

} // namespace cogwheel
