// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include <cogwheel/schedule/wall_clock.hpp>

namespace cogwheel::inline v0::inline COGWHEEL_ASIO {

void wall_clock_options::validate() const {
    if (recheck <= std::chrono::nanoseconds::zero())
        throw std::invalid_argument("cogwheel::wall_clock_options: recheck is " + std::to_string(recheck.count()) +
                                    " ns, but must be above zero; a minute suits most schedules");
}

cron_expression start_of_each(calendar_unit unit) {
    switch (unit) {
    case calendar_unit::second:
        return cron_expression("* * * * * *");
    case calendar_unit::minute:
        return cron_expression("* * * * *");
    case calendar_unit::hour:
        return cron_expression("@hourly");
    case calendar_unit::day:
        return cron_expression("@daily");
    case calendar_unit::month:
        return cron_expression("@monthly");
    case calendar_unit::year:
        return cron_expression("@yearly");
    }
    throw std::invalid_argument("cogwheel::start_of_each: there is no such unit");
}

} // namespace cogwheel::inline v0::inline COGWHEEL_ASIO
