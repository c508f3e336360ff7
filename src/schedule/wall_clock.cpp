// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include <cogwheel/schedule/wall_clock.hpp>

namespace cogwheel {

void wall_clock_options::validate() const {
    if (recheck <= std::chrono::nanoseconds::zero())
        throw std::invalid_argument("cogwheel::wall_clock_options: recheck is " + std::to_string(recheck.count()) +
                                    " ns, but must be above zero; a minute suits most schedules");
}

cron_expression turns_of(calendar_hand hand) {
    switch (hand) {
    case calendar_hand::second:
        return cron_expression("* * * * * *");
    case calendar_hand::minute:
        return cron_expression("* * * * *");
    case calendar_hand::hour:
        return cron_expression("@hourly");
    case calendar_hand::day:
        return cron_expression("@daily");
    case calendar_hand::month:
        return cron_expression("@monthly");
    case calendar_hand::year:
        return cron_expression("@yearly");
    }
    throw std::invalid_argument("cogwheel::turns_of: there is no such hand");
}

} // namespace cogwheel
