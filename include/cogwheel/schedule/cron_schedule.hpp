// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A cron expression in a time zone: at which moments it runs, also in the nights in which the clocks are changed. Library
// cogwheel::calendar.
//
//     const cogwheel::cron_schedule nightly(cogwheel::cron_expression("30 2 * * *"), cogwheel::time_zone("Europe/Berlin"));
//     nightly.next(now);
#pragma once

#include <cogwheel/schedule/cron.hpp>
#include <cogwheel/schedule/time_zone.hpp>

namespace cogwheel {

/// What happens when clocks are changed. An expression "follows the clock" if its minutes or hours begin with a star; the others have fixed
/// times.
enum class dst_policy {
    vixie, ///< as Vixie's cron. Fixed times that are left out run once, right after the change; repeated ones run the first time
    ///< only. What follows the clock runs whenever the clock says so.
    skip,        ///< fixed times that are left out do not run; repeated ones run the first time only
    follow_clock ///< whatever the clock says: nothing where it is put forward, twice where it is put back
};

class cron_schedule {
public:
    using sys_seconds = std::chrono::sys_seconds;

    explicit cron_schedule(const cron_expression& expression, time_zone zone = {},
                           dst_policy policy = dst_policy::vixie)
        : expression_(expression), zone_(zone), policy_(policy) {}

    /// The first run after `after`; each call leads strictly ahead. Nothing beyond the year 9999.
    std::optional<sys_seconds> next(sys_seconds after) const;

    /// The last run before `before`.
    std::optional<sys_seconds> previous(sys_seconds before) const;

    const cron_expression& expression() const noexcept { return expression_; }
    time_zone zone() const noexcept { return zone_; }
    dst_policy policy() const noexcept { return policy_; }

private:
    struct window;
    window window_of(const zone_stretch&) const;

    cron_expression expression_;
    time_zone zone_;
    dst_policy policy_;
};

} // namespace cogwheel
