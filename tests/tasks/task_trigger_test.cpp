// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The points of each kind of trigger, what it refuses, and how it reads.
#include "support/constant_names.hpp"

#include <cogwheel/calendar/cron.hpp>
#include <cogwheel/tasks/task.hpp>
#include <cogwheel/tasks/task_info.hpp>
#include <cogwheel/tasks/task_job.hpp>
#include <cogwheel/tasks/task_options.hpp>
#include <cogwheel/tasks/task_trigger.hpp>

#include <doctest/doctest.h>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;
using maybe_point = std::optional<std::chrono::nanoseconds>;

TEST_CASE("task_trigger_points_of_a_period") {
    const auto t = task_trigger::every(10s).first_after(3s);
    CHECK(t.first(100s) == maybe_point(103s));
    CHECK(t.after(103s) == maybe_point(113s));
    CHECK(t.before(113s) == maybe_point(103s));
    CHECK(t.latest(103s, 145s) == 143s);
    CHECK(t.latest(103s, 103s) == 103s);
    CHECK(task_trigger::every(10s).first(100s) == maybe_point(110s));
}

TEST_CASE("task_trigger_once_and_date_have_one_point") {
    CHECK(task_trigger::once(5s).first(100s) == maybe_point(105s));
    CHECK(task_trigger::once(-5s).first(100s) == maybe_point(100s));
    CHECK(!task_trigger::once(5s).after(105s).has_value());
    const auto date = std::chrono::sys_days(std::chrono::year(2027) / 1 / 1) + 30min;
    CHECK(task_trigger::at(date).first(100s) == maybe_point(date.time_since_epoch()));
    CHECK(task_trigger::at(date).on_the_wall());
    CHECK(task_trigger::at(date).first_after(5s).first(100s) == maybe_point(date.time_since_epoch()));
    CHECK(!task_trigger::at(date).before(date.time_since_epoch()).has_value());
}

TEST_CASE("task_trigger_first_after_of_an_expression_is_its_earliest_run") {
    const auto noon = (std::chrono::sys_days(std::chrono::year(2026) / 11 / 22) + 12h).time_since_epoch();
    const auto hourly = task_trigger::cron("@hourly");
    CHECK(hourly.first(noon) == maybe_point(noon));
    CHECK(hourly.first(noon + 1ns) == maybe_point(noon + 1h));
    CHECK(hourly.first_after(90min).first(noon) == maybe_point(noon + 2h));
    CHECK(hourly.latest(noon, noon + 59min) == noon);
    CHECK(hourly.latest(noon, noon + 2h) == noon + 2h);
}

TEST_CASE("task_trigger_every_as_text") {
    CHECK(task_trigger::cron("@every 10s").text() == "every 10s");
    CHECK(task_trigger::cron(" \t@every 10s").text() == "every 10s");
    CHECK(task_trigger::cron("@EVERY 1h30m ").period() == 90min);
    CHECK(task_trigger::cron("TZ=UTC @every\t1d2h3m4s5ms6us7ns").period() ==
          24h + 2h + 3min + 4s + 5ms + std::chrono::microseconds(6) + 7ns);
    CHECK(task_trigger::cron("@every 200000s").period() == 200'000s);
    CHECK(task_trigger::cron("@every 106751d").text() == "every 106751d");
    const auto fault = [](const char* text) {
        try {
            task_trigger::cron(text);
            return std::pair<std::size_t, std::string>();
        } catch (const cron_error& e) {
            return std::pair(e.column(), std::string(e.what()));
        }
    };
    CHECK(fault("@every ").first == 7);
    CHECK(fault("@every -5s").first == 8);
    CHECK(fault("@every 1.5h").first == 9);
    CHECK(fault("@every 10").first == 10);
    CHECK(fault("@every 10 s").first == 10);
    CHECK(fault("@every 1h 5m").first == 10);
    CHECK(fault("@every 106752d").second.find("must not exceed 106751d") != std::string::npos);
    CHECK(fault("@every 99999999999999999999ns").second.find("must not exceed") != std::string::npos);
    CHECK(fault("@every 0s").second.find("must be above zero") != std::string::npos);
    CHECK(fault("@everyday").second.find("such as @every 1h30m") != std::string::npos);
}

TEST_CASE("task_trigger_zone_before_the_expression") {
    const auto in_berlin = task_trigger::cron("TZ=Europe/Berlin 0 7 * * MON-FRI");
    CHECK(in_berlin.text() == "0 7 * * MON-FRI Europe/Berlin");
    CHECK(task_trigger::cron(" CRON_TZ=Asia/Tokyo  @daily", zone_info("Europe/Berlin")).text() == "@daily Asia/Tokyo");
    CHECK(in_berlin.first(0s) == task_trigger::cron("0 7 * * MON-FRI", zone_info("Europe/Berlin")).first(0s));
    CHECK(cron_schedule("TZ=Europe/Berlin 0 7 * * *").zone().name() == "Europe/Berlin");
    CHECK(cron_schedule("0 7 * * *").next(std::chrono::sys_seconds()) == std::chrono::sys_seconds(7h));
    CHECK_THROWS_WITH(task_trigger::cron("TZ=Mars/Olympus @daily"), doctest::Contains("Mars/Olympus"));
    CHECK_THROWS_AS(task_trigger::cron("TZ=Europe/Berlin"), cron_error);
}

TEST_CASE("task_trigger_refuses_what_cannot_be") {
    CHECK(task_trigger::every(0s).check() == task_errc::bad_period);
    CHECK(task_trigger::every(-1s).check() == task_errc::bad_period);
    CHECK(task_trigger::every(1s).times(0).check() == task_errc::bad_times);
    CHECK(task_trigger::every(1s).times(-3).check() == task_errc::bad_times);
    CHECK(task_trigger::once(1s).times(2).check() == task_errc::bad_period);
    CHECK(!task_trigger::every(1ns).check());
    CHECK_THROWS_AS(task_trigger::cron("61 * * * *"), cron_error);
}

TEST_CASE("task_trigger_saturates_instead_of_wrapping") {
    constexpr auto max = std::chrono::nanoseconds::max();
    CHECK(task_trigger::once(std::chrono::hours::max()).first(100s) == maybe_point(max));
    CHECK(!task_trigger::every(10s).after(max - 5s).has_value());
    CHECK(task_trigger::every(std::chrono::hours::max()).first(100s) == maybe_point(max));
}

TEST_CASE("task_trigger_in_words") {
    CHECK(task_trigger().text() == "once");
    CHECK(task_trigger::once(90s).text() == "once after 1m30s");
    CHECK(task_trigger::every(1min).times(1).text() == "every 1m, 1 times");
    CHECK(task_trigger::every(1500ms).times(3).text() == "every 1s500ms, 3 times");
    CHECK(task_trigger::cron("0 7 * * MON-FRI", zone_info("Europe/Berlin")).text() == "0 7 * * MON-FRI Europe/Berlin");
    CHECK(task_trigger::at(std::chrono::sys_days(std::chrono::year(2026) / 3 / 1) + 7h).text() ==
          "at 2026-03-01T07:00:00Z");
    CHECK(task_misfire::catch_up(3).text() == "catch_up(3)");
    CHECK(task_misfire::skip().text() == "skip");
    CHECK(task_misfire::fire_once().text() == "fire_once");
}

TEST_CASE("task_trigger_with_jitter_and_end") {
    const auto noon = std::chrono::sys_days(std::chrono::year(2026) / 11 / 22) + 12h;
    const auto t = task_trigger::every(10s).jitter(2s).until(noon);
    CHECK(t.jitter() == 2s);
    CHECK(t.until() == noon);
    CHECK(t.text() == "every 10s, jitter 2s, until 2026-11-22T12:00:00Z");
    CHECK(t.first(100s) == maybe_point(110s)); // the points stay
    CHECK(!t.check());
    CHECK(task_trigger::every(10s).jitter(10s).check() == task_errc::bad_jitter);
    CHECK(task_trigger::every(10s).jitter(-1ns).check() == task_errc::bad_jitter);
    CHECK(!task_trigger::once(1s).jitter(10s).check());
    CHECK(task_trigger::cron("@daily").until(noon).text() == "@daily UTC, until 2026-11-22T12:00:00Z");
}

TEST_CASE("task_constants_have_names") {
    check_names<task_trigger::kind>({{task_trigger::kind::once, "once"},
                                     {task_trigger::kind::date, "date"},
                                     {task_trigger::kind::periodic, "periodic"},
                                     {task_trigger::kind::cron, "cron"}});
    check_names<task_misfire::kind>({{task_misfire::kind::fire_once, "fire_once"},
                                     {task_misfire::kind::skip, "skip"},
                                     {task_misfire::kind::catch_up, "catch_up"}});
    check_names<task_overlap>(
        {{task_overlap::forbid, "forbid"}, {task_overlap::allow, "allow"}, {task_overlap::replace, "replace"}});
    check_names<task_state>({{task_state::pending, "pending"},
                             {task_state::queued, "queued"},
                             {task_state::running, "running"},
                             {task_state::completed, "completed"},
                             {task_state::failed, "failed"},
                             {task_state::cancelled, "cancelled"}});
    check_names<task_event::kind>({{task_event::kind::added, "added"},
                                   {task_event::kind::started, "started"},
                                   {task_event::kind::retrying, "retrying"},
                                   {task_event::kind::completed, "completed"},
                                   {task_event::kind::failed, "failed"},
                                   {task_event::kind::cancelled, "cancelled"},
                                   {task_event::kind::finished, "finished"},
                                   {task_event::kind::interrupted, "interrupted"},
                                   {task_event::kind::unrecorded, "unrecorded"}});
    check_names<task_stop_reason>({{task_stop_reason::none, "none"},
                                   {task_stop_reason::timeout, "timeout"},
                                   {task_stop_reason::cancelled, "cancelled"},
                                   {task_stop_reason::replaced, "replaced"},
                                   {task_stop_reason::stopped, "stopped"}});
    check_names<task_cancel_result>({{task_cancel_result::not_found, "not_found"},
                                     {task_cancel_result::cancelled, "cancelled"},
                                     {task_cancel_result::running, "running"}});
    check_names<full_policy::kind>({{full_policy::kind::wait, "wait"},
                                    {full_policy::kind::wait_for, "wait_for"},
                                    {full_policy::kind::reject, "reject"},
                                    {full_policy::kind::run_on_caller, "run_on_caller"}});
    check_names<interrupted_runs>({{interrupted_runs::again, "again"}, {interrupted_runs::fail, "fail"}});
}
