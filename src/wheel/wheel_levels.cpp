// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Checks levels. The text for a bad level says what to do.
#include <cogwheel/wheel/wheel_levels.hpp>

namespace cogwheel::inline v0 {

std::string wheel_levels::fault() const {
    const auto name = [](std::size_t i) { return "level " + std::to_string(i + 1) + ": "; };
    const auto ns = [](std::chrono::nanoseconds d) { return std::to_string(d.count()) + " ns"; };
    for (std::size_t i = 0; i < size_; ++i) {
        const wheel_level& level = levels_[i];
        if (level.tick.count() <= 0)
            return name(i) + "its tick is " + ns(level.tick) +
                   ", but must be above zero; 10ms suits the first of most wheels";
        if (level.slots < 2 || level.slots > max_slots)
            return name(i) + "it has " + std::to_string(level.slots) + " slots, but must have 2 .. " +
                   std::to_string(max_slots) + "; 64 suits most levels";
        if (i == 0) continue;
        const wheel_level& below = levels_[i - 1];
        if (level.tick <= below.tick || level.tick % below.tick != std::chrono::nanoseconds::zero())
            return name(i) + "its tick is " + ns(level.tick) + ", but must be a multiple of " + ns(below.tick) +
                   ", the tick of the level below; choose a multiple";
        if (level.tick / below.tick > static_cast<std::int64_t>(below.slots))
            return name(i) + "its tick is " + ns(level.tick) + ", but the level below goes round in " +
                   std::to_string(below.slots) + " x " + ns(below.tick) + "; give that one " +
                   std::to_string(level.tick / below.tick) + " slots, or put a level between them";
    }
    return {};
}

} // namespace cogwheel::inline v0
