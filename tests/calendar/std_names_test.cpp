// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A program may open the namespaces std::chrono and cogwheel at once: no name of one hides or doubles one of the other.
#include <cogwheel/calendar/cron_schedule.hpp>
#include <cogwheel/calendar/zone_info.hpp>
#include <cogwheel/schedule/interval.hpp>
#include <cogwheel/schedule/wall_clock.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <version>

using namespace std::chrono;
using namespace cogwheel;

TEST_CASE("names_of_std_chrono_and_of_cogwheel_go_together") {
    const zone_info berlin("Europe/Berlin");
    const sys_seconds winter = sys_days(2026y / January / 1);
    CHECK(berlin.to_local(winter) == local_days(2026y / January / 1) + 1h);
    const cron_schedule noon("0 12 * * *", berlin);
    CHECK(noon.next(winter) == winter + 11h);
}
