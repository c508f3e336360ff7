// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A clock on the wall that was ahead and is set right: while tasks wait, and over a restart.
#include "support/tasks/task_processes.hpp"

#include <doctest/doctest.h>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;
using run_times = std::vector<long>;

namespace {

// The points for which the task has run, in minutes since noon.
run_times due_minutes_of(task_rig& tasks, const char* name = "a") {
    run_times minutes;
    const task_info task = tasks->find(name).value();
    for (const task_attempt& a : task.history) minutes.push_back(static_cast<long>((a.scheduled - task_noon) / 1min));
    return minutes;
}

void clock_minutes(task_rig& tasks, int minutes) {
    for (int i = 0; i < minutes; ++i) tasks.leap(1min);
}

// What a process leaves behind whose clock is ahead. The next one's is right: noon.
template <class Add>
memory_storage remains_of_the_future(std::chrono::nanoseconds ahead, std::chrono::nanoseconds life, Add add) {
    return remains(life, [&](task_rig& tasks) {
        task_wall::present += ahead;
        add(tasks);
    });
}

} // namespace

TEST_CASE("task_clock_that_was_ahead_when_a_task_was_added") {
    for (const std::chrono::nanoseconds ahead :
         {std::chrono::nanoseconds(90min), std::chrono::nanoseconds(24h * 365 + 10min)}) {
        for (const char* const expression : {"0 13 * * *", "*/20 * * * *"}) {
            CAPTURE(std::string(expression));
            task_rig tasks;
            task_wall::present += ahead;
            tasks->add({.name = "a", .when = task_trigger::cron(expression)}, tasks.note());
            clock_minutes(tasks, 1);
            task_wall::present = task_noon + 1s;
            clock_minutes(tasks, 61);
            CHECK(due_minutes_of(tasks) == (expression[0] == '0' ? run_times{60} : run_times{20, 40, 60}));
        }
    }
}

TEST_CASE("task_clock_that_was_a_day_ahead_while_a_task_ran") {
    task_rig tasks;
    task_wall::present += 24h;
    tasks->add({.name = "a", .when = task_trigger::cron("0 13 * * *")}, tasks.note());
    clock_minutes(tasks, 61);
    REQUIRE(tasks.ran.size() == 1);
    task_wall::present = task_noon;
    clock_minutes(tasks, 61);
    CHECK(tasks.ran.size() == 2);
    CHECK(due_minutes_of(tasks).back() == 60);
    CHECK(tasks->find("a")->next == task_noon + 25h);
}

TEST_CASE("task_clock_put_back_by_less_than_three_hours_repeats_what_follows_it") {
    struct {
        const char* expression;
        dst_policy policy;
        run_times minutes;
    } const table[] = {
        {"0 12-23 * * *", dst_policy::vixie, {0, 60, 120, 180}}, // fixed times
        {"0 12-23 * * *", dst_policy::skip, {0, 60, 120, 180}},
        {"0 12-23 * * *", dst_policy::follow_clock, {0, 60, 120, 60, 120, 180}},
        {"0 * * * *", dst_policy::vixie, {0, 60, 120, 60, 120, 180}},
    };
    for (const auto& t : table) {
        CAPTURE(std::string(t.expression));
        task_rig tasks;
        tasks->add({.name = "a", .when = task_trigger::cron(t.expression, {}, t.policy)}, tasks.note());
        clock_minutes(tasks, 130);
        task_wall::present -= 2h;
        clock_minutes(tasks, 175);
        CHECK(due_minutes_of(tasks) == t.minutes);
    }
}

TEST_CASE("task_clock_put_back_by_three_hours_repeats_fixed_times") {
    task_rig tasks;
    tasks->add({.name = "a", .when = task_trigger::cron("0 12-23 * * *")}, tasks.note());
    clock_minutes(tasks, 190);
    task_wall::present -= 3h;
    clock_minutes(tasks, 55);
    CHECK(due_minutes_of(tasks) == run_times{0, 60, 120, 180, 60});
}

TEST_CASE("task_clock_put_back_a_little_runs_nothing_twice") {
    task_rig tasks({.recheck = 100ms});
    tasks->add({.name = "a", .when = task_trigger::cron("0 13 * * *")}, tasks.note());
    clock_minutes(tasks, 59);
    tasks.pass(60'050ms);
    REQUIRE(tasks.ran.size() == 1);
    task_wall::present -= 1s;
    tasks.pass(5s);
    CHECK(tasks.ran.size() == 1);
    CHECK(tasks->find("a")->next == task_noon + 25h);
}

TEST_CASE("task_clock_slower_than_the_wheel_s_runs_all_and_nothing_twice") {
    task_rig tasks;
    tasks->add({.name = "a", .when = task_trigger::cron("*/5 * * * *")}, tasks.note());
    while (task_wall::present < task_noon + 62min) {
        task_wall::present -= 30ms;
        tasks.leap(1s);
    }
    CHECK(due_minutes_of(tasks) == run_times{0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60});
}

// Set right at 12:59:50, looked at at 13:00:20.
TEST_CASE("task_clock_point_that_passes_before_the_next_look_is_made_up_for") {
    task_rig tasks;
    task_wall::present += 24h * 365;
    tasks->add({.name = "a", .when = task_trigger::cron("0 13 * * *")}, tasks.note());
    tasks.leap(30s);
    task_wall::present = task_noon + 59min + 50s;
    tasks.leap(30s);
    CHECK(tasks.ran.size() == 1);
    CHECK(tasks->find("a")->history.at(0).scheduled == task_noon + 1h);
}

TEST_CASE("task_clock_put_back_while_the_wheel_drops_its_timers") {
    task_rig tasks;
    task_wall::present += 24h * 365;
    tasks->add({.name = "a", .when = task_trigger::cron("0 13 * * *")}, tasks.note());
    tasks.leap(10s);
    task_wall::present = task_noon;
    tasks.at.wheel.cancel_all();
    clock_minutes(tasks, 61);
    CHECK(due_minutes_of(tasks) == run_times{60});
}

TEST_CASE("task_clock_put_back_does_not_shorten_a_first_delay") {
    task_rig tasks;
    task_wall::present += 24h;
    tasks->add({.name = "a", .when = task_trigger::cron("*/20 * * * *").first_after(1h)}, tasks.note());
    clock_minutes(tasks, 1);
    task_wall::present = task_noon;
    clock_minutes(tasks, 59);
    CHECK(tasks.ran.empty());
    clock_minutes(tasks, 22);
    CHECK(due_minutes_of(tasks) == run_times{60, 80});
}

TEST_CASE("task_clock_put_back_is_written_down") {
    memory_storage storage;
    task_rig tasks({.storage = &storage});
    tasks->define("note", tasks.note());
    task_wall::present += 24h * 365;
    tasks->add({.name = "a", .when = task_trigger::cron("0 13 * * *"), .job = "note"});
    tasks.leap(1min);
    task_wall::present = task_noon;
    tasks.leap(1min);
    CHECK(storage.load().tasks.at(0).next == task_noon + 1h);
}

TEST_CASE("recover_finds_anew_what_a_clock_that_was_ahead_has_found") {
    next_process p(
        remains_of_the_future(24h * 365, 100ms,
                              [](task_rig& tasks) {
                                  tasks->add({.name = "a", .when = task_trigger::cron("0 13 * * *"), .job = "note"});
                                  tasks->add({.name = "b", .when = task_trigger::every(30min), .job = "note"});
                                  tasks->add({.name = "c", .when = task_trigger::once(20min), .job = "note"});
                              }),
        0s);
    CHECK(p.tasks->find("a")->next == task_noon + 1h);
    for (const task_record& r : p.storage.load().tasks) CHECK(r.next <= task_noon + 1h);
    clock_minutes(p.tasks, 61);
    CHECK(due_minutes_of(p.tasks, "a") == run_times{60});
    CHECK(due_minutes_of(p.tasks, "b") == run_times{30, 60});
    CHECK(due_minutes_of(p.tasks, "c") == run_times{20});
}

TEST_CASE("recover_keeps_next_points_that_are_as_far_away_as_they_may_be") {
    const auto date = task_noon + 24h * 400;
    next_process p(
        remains(0s,
                [&](task_rig& tasks) {
                    tasks->add(
                        {.name = "a", .when = task_trigger::cron("0 13 * * *").first_after(24h * 30), .job = "note"});
                    tasks->add({.name = "b", .when = task_trigger::every(1min).first_after(24h * 30), .job = "note"});
                    tasks->add({.name = "c", .when = task_trigger::at(date), .job = "note"});
                    tasks->add({.name = "d", .when = task_trigger::once(24h * 30), .job = "note"});
                    tasks->add({.name = "e", .when = task_trigger::cron("0 12 * * *"), .job = "note"});
                    tasks.pass(10ms);
                }),
        0s);
    CHECK(p.tasks->find("a")->next == task_noon + 24h * 30 + 1h);
    CHECK(p.tasks->find("b")->next == task_noon + 24h * 30);
    CHECK(p.tasks->find("c")->next == date);
    CHECK(p.tasks->find("d")->next == task_noon + 24h * 30);
    CHECK(p.tasks->find("e")->next == task_noon + 24h); // it has run at this very moment
}

TEST_CASE("recover_tries_again_after_the_backoff_though_the_clock_was_ahead") {
    next_process p(
        remains_of_the_future(24h * 365, 100ms, [](task_rig& tasks) { tasks->add({.name = "a", .job = "fails"}); }),
        0s);
    CHECK(p.tasks.ran.empty());
    p.tasks.pass(6s);
    CHECK(p.tasks.ran == run_times{5000});
}
