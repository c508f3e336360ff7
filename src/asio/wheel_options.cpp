// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "../detail/error_text.hpp"
#include "../detail/throwing.hpp"

#include <cogwheel/asio/wheel_options.hpp>
#include <cogwheel/detail/constant_name.hpp>
#include <cogwheel/wheel/hashed_wheel.hpp>

#include <bit>
#include <string>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

namespace {

[[noreturn, gnu::cold]] void refuse(const char* why, std::initializer_list<detail::any_integer> numbers) {
    detail::throw_invalid_argument(detail::error_text("cogwheel::wheel_options: ").add(why, numbers).c_str());
}

} // namespace

[[gnu::cold]] void wheel_options::check_levels() const {
    if (const std::string fault = levels.fault(); !fault.empty()) refuse(fault.c_str(), {});
    if (!levels.empty() && levels[0].tick != tick)
        refuse("the first of levels has a tick of % ns, but tick is % ns; make them equal",
               {levels[0].tick.count(), tick.count()});
}

[[gnu::cold]] void wheel_options::check_others(bool levelled) const {
    constexpr auto longest = std::chrono::nanoseconds::max().count();
    if (tick.count() <= 0) refuse("tick is % ns, but must be above zero; 10ms suits most servers", {tick.count()});
    if (slots < 1 || slots > hashed_wheel::max_slots)
        refuse("slots is %, but must be 1 .. %; 512 suits most servers, a longer tick reaches farther",
               {slots, hashed_wheel::max_slots});
    if (!levels.empty() && !levelled)
        refuse("levels has % of them, but must be empty for a wheel of one; use hierarchical_timer_wheel, or leave "
               "them out",
               {levels.size()});
    const std::size_t rounded = std::bit_ceil(levels.empty() ? slots : levels[0].slots);
    if (tick.count() > longest / static_cast<std::int64_t>(rounded))
        refuse("tick x slots is % ns x %, but must not exceed 2^63 - 1 ns (292 years); choose a shorter tick",
               {tick.count(), rounded});
    if (max_pending < 1) refuse("max_pending is 0, but must be at least 1; leave it out for no limit", {});
    if (work_per_turn < 1) refuse("work_per_turn is 0, but must be at least 1; 1024 suits most servers", {});
    if (reserve > std::numeric_limits<std::uint32_t>::max())
        refuse("reserve is %, but must be 0 .. 4294967295; reserve what you expect", {reserve});
    if (reserve > max_pending)
        refuse("reserve is %, but max_pending only %; reserve no more than may be pending", {reserve, max_pending});
}

std::string_view to_string(tick_clock_kind kind) noexcept {
    return detail::constant_name(kind, {"automatic", "counter", "system"});
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
