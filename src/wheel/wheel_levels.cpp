// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "../detail/error_text.hpp"

#include <cogwheel/wheel/wheel_levels.hpp>

namespace cogwheel::COGWHEEL_ABI {

[[gnu::cold]] std::string wheel_levels::fault() const {
    const auto refused = [](const char* text, std::initializer_list<detail::any_integer> numbers) -> std::string {
        return detail::error_text().add(text, numbers).c_str();
    };
    for (std::size_t i = 0; i < size_; ++i) {
        const wheel_level& level = levels_[i];
        if (level.tick.count() <= 0)
            return refused("level %: its tick is % ns, but must be above zero; 10ms suits the first of most wheels",
                           {i + 1, level.tick.count()});
        if (level.slots < 2 || level.slots > max_slots)
            return refused("level %: it has % slots, but must have 2 .. %; 64 suits most levels",
                           {i + 1, level.slots, max_slots});
        if (i == 0) continue;
        const wheel_level& below = levels_[i - 1];
        if (level.tick <= below.tick || level.tick % below.tick != std::chrono::nanoseconds::zero())
            return refused("level %: its tick is % ns, but must be a multiple of % ns, the tick of the level "
                           "below; choose a multiple",
                           {i + 1, level.tick.count(), below.tick.count()});
        if (level.tick / below.tick > static_cast<std::int64_t>(below.slots))
            return refused("level %: its tick is % ns, but the level below goes round in % x % ns; give that one "
                           "% slots, or put a level between them",
                           {i + 1, level.tick.count(), below.slots, below.tick.count(), level.tick / below.tick});
    }
    return {};
}

} // namespace cogwheel::COGWHEEL_ABI
