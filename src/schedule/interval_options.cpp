// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Checks the options of an interval. Each message names the value, the range and the remedy.
#include <cogwheel/detail/constant_name.hpp>
#include <cogwheel/schedule/interval_options.hpp>
#include <cogwheel/schedule/on_duplicate.hpp>

#include <stdexcept>
#include <string>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

void interval_options::validate(bool has_start) const {
    const auto refuse = [](const std::string& why) {
        throw std::invalid_argument("cogwheel::interval_options: " + why);
    };
    const auto ns = [](std::chrono::nanoseconds d) { return std::to_string(d.count()) + " ns"; };
    constexpr auto zero = std::chrono::nanoseconds::zero();
    if (period <= zero)
        refuse("period is " + ns(period) + ", but must be above zero; for work without a pause post() it again");
    if (first_delay && *first_delay < zero)
        refuse("first_delay is " + ns(*first_delay) + ", but must be zero or more; zero ticks at once");
    if (first_delay && has_start)
        refuse("first_delay is " + ns(*first_delay) +
               ", but the first tick has a point in time; leave one of them out");
    if (times < 1)
        refuse("times is " + std::to_string(times) + ", but must be at least 1; leave it out to tick for ever");
    if (jitter < zero || jitter >= period)
        refuse("jitter is " + ns(jitter) + ", but must be zero or more and below the period of " + ns(period) +
               "; a tenth of the period spreads well");
}

std::string_view to_string(interval_pace pace) noexcept {
    return detail::constant_name(pace, {"fixed_rate", "fixed_delay"});
}

std::string_view to_string(interval_misfire misfire) noexcept {
    return detail::constant_name(misfire, {"skip", "delay", "burst"});
}

std::string_view to_string(on_duplicate policy) noexcept {
    return detail::constant_name(policy, {"reject", "replace", "keep"});
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
