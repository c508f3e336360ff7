// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Checks the options of a wheel. The message for a bad option says what to do.
#include <cogwheel/asio/wheel_options.hpp>
#include <cogwheel/wheel/hashed_wheel.hpp>

#include <bit>
#include <stdexcept>
#include <string>

namespace cogwheel::inline v0::inline COGWHEEL_ASIO {

void wheel_options::validate(bool levelled) const {
    const auto refuse = [](const std::string& why) { throw std::invalid_argument("cogwheel::wheel_options: " + why); };
    constexpr auto longest = std::chrono::nanoseconds::max().count();
    if (tick.count() <= 0)
        refuse("tick is " + std::to_string(tick.count()) + " ns, but must be above zero; 10ms suits most servers");
    if (slots < 1 || slots > hashed_wheel::max_slots)
        refuse("slots is " + std::to_string(slots) + ", but must be 1 .. " + std::to_string(hashed_wheel::max_slots) +
               "; 512 suits most servers, a longer tick reaches farther");
    if (!levels.empty() && !levelled)
        refuse("levels has " + std::to_string(levels.size()) +
               " of them, but must be empty for a wheel of one; use hierarchical_timer_wheel, or leave them out");
    if (const std::string fault = levels.fault(); !fault.empty()) refuse(fault);
    if (!levels.empty() && levels[0].tick != tick)
        refuse("the first of levels has a tick of " + std::to_string(levels[0].tick.count()) + " ns, but tick is " +
               std::to_string(tick.count()) + " ns; make them equal");
    const std::size_t rounded = std::bit_ceil(levels.empty() ? slots : levels[0].slots);
    if (tick.count() > longest / static_cast<std::int64_t>(rounded))
        refuse("tick x slots is " + std::to_string(tick.count()) + " ns x " + std::to_string(rounded) +
               ", but must not exceed 2^63 - 1 ns (292 years); choose a shorter tick");
    if (max_pending < 1) refuse("max_pending is 0, but must be at least 1; leave it out for no limit");
    if (work_per_turn < 1) refuse("work_per_turn is 0, but must be at least 1; 1024 suits most servers");
    if (reserve > std::numeric_limits<std::uint32_t>::max())
        refuse("reserve is " + std::to_string(reserve) + ", but must be 0 .. 4294967295; reserve what you expect");
    if (reserve > max_pending)
        refuse("reserve is " + std::to_string(reserve) + ", but max_pending only " + std::to_string(max_pending) +
               "; reserve no more than may be pending");
}

} // namespace cogwheel::inline v0::inline COGWHEEL_ASIO
