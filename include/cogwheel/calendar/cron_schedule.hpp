// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The moments at which a cron expression runs in a time zone, including nights in which the clocks change.
// Library: cogwheel::calendar.
//
//     const cogwheel::cron_expression half_past_two("30 2 * * *");
//     const cogwheel::cron_schedule nightly(half_past_two, cogwheel::zone_info("Europe/Berlin"));
//     nightly.next(now);
#pragma once

#include <cogwheel/calendar/cron.hpp>
#include <cogwheel/calendar/zone_info.hpp>

#include <string_view>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Says what runs when the clocks change. A change forward skips local times; a change back repeats them. An expression
/// follows the clock (cron_expression::follows_the_clock()), or has fixed times.
enum class dst_policy {
    /// If a change skips fixed times, the expression runs once directly after it, even for several times. If a change
    /// repeats a fixed time, only the first one counts. An expression that follows the clock runs at each match.
    vixie,
    /// As vixie, but skipped fixed times do not run.
    skip,
    /// Every expression follows the clock: skipped times do not run, repeated times run twice.
    follow_clock
};
std::string_view to_string(dst_policy) noexcept; ///< the name of the constant

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {
/// Removes "TZ=..." or "CRON_TZ=..." and the blanks around it from the front of `text`. Returns that zone, else
/// `otherwise`. Errors: those of zone_info's constructor.
zone_info take_zone(std::string_view& text, zone_info otherwise);
} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// A cron expression, a time zone and a policy: a value. Thread safety: any thread may call its const functions.
class cron_schedule {
public:
    using sys_seconds = std::chrono::sys_seconds;

    /// Makes a schedule. The default zone is UTC.
    explicit cron_schedule(const cron_expression& expression, zone_info zone = {},
                           dst_policy policy = dst_policy::vixie)
        : expression_(expression), zone_(zone), policy_(policy) {}

    /// Does the same with a text. "TZ=Europe/Berlin " or "CRON_TZ=Europe/Berlin " before the expression replaces
    /// `zone`. Errors: cron_error, those of zone_info's constructor.
    explicit cron_schedule(std::string_view text, zone_info zone = {}, dst_policy policy = dst_policy::vixie);

    /// Returns the first run strictly after `after`, or nothing if there is none up to the year 9999.
    std::optional<sys_seconds> next(sys_seconds after) const;

    /// Returns the last run strictly before `before`, or nothing if there is none from the year 0 on.
    std::optional<sys_seconds> previous(sys_seconds before) const;

    const cron_expression& expression() const noexcept { return expression_; }
    zone_info zone() const noexcept { return zone_; }
    dst_policy policy() const noexcept { return policy_; }

private:
    struct window;
    window window_of(const zone_info::stretch&) const;

    cron_expression expression_;
    zone_info zone_;
    dst_policy policy_;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
