// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Cron tasks that are told when somebody sets the clock. The scheduler here reads it once an hour by itself.
#include "support/asio/virtual_wheel.hpp"
#include "support/no_descriptors.hpp"
#include "support/schedule/watched_wall.hpp"

#include <cogwheel/tasks/task_scheduler.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <vector>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

constexpr watched_wall::time_point told_noon = std::chrono::sys_days(std::chrono::year(2026) / 11 / 22) + 12h;

struct told_tasks {
    virtual_wheel at{{.tick = 10ms}};
    std::vector<std::chrono::hours> ran; // hours since told_noon
    std::unique_ptr<task_scheduler> tasks;

    told_tasks() {
        watched_wall::present = told_noon;
        tasks = std::make_unique<task_scheduler>(
            at.wheel, task_scheduler_options{.executor = at.io.get_executor(), .recheck = 1h},
            std::type_identity<watched_wall>());
    }
    void add(const char* name, task_trigger when) {
        tasks->add({.name = name, .when = std::move(when)}, task_job([this](task_run& run) {
                       ran.push_back(std::chrono::duration_cast<std::chrono::hours>(run.scheduled() - told_noon));
                   }));
        at.run();
    }
    void set(watched_wall::time_point to) {
        watched_wall::set(to);
        at.run();
    }
};

using hours_run = std::vector<std::chrono::hours>;

} // namespace

TEST_CASE("task_clock_set_forward_begins_the_runs_that_it_reaches_at_once") {
    told_tasks t;
    t.add("three", task_trigger::at(told_noon + 3h));
    t.add("each", task_trigger::cron("0 13-23 * * *"));
    t.add("elapsed", task_trigger::once(2h)); // counts by the wheel's clock
    t.set(told_noon + 1h);
    CHECK(t.ran == hours_run{1h});
    t.set(told_noon + 3h + 1min);
    CHECK(t.ran.size() == 3);
    CHECK(t.tasks->find("three")->completed == 1);
    CHECK(t.tasks->find("each")->completed == 2);
    t.set(told_noon + 3h - 30min); // less than three hours back: nothing runs twice
    t.set(told_noon + 3h + 2min);
    CHECK(t.tasks->find("each")->completed == 2);
    t.set(told_noon + 4h);
    CHECK(t.tasks->find("each")->completed == 3);
    CHECK(t.tasks->find("elapsed")->completed == 0);
}

TEST_CASE("task_clock_that_was_ahead_is_set_right") {
    told_tasks t;
    watched_wall::present = told_noon + 24h * 365;
    t.add("each", task_trigger::cron("0 13 * * *"));
    t.set(told_noon);
    CHECK(t.tasks->find("each")->next == told_noon + 1h);
    t.set(told_noon + 1h);
    CHECK(t.ran == hours_run{1h});
}

TEST_CASE("task_clock_watched_lets_run_return_without_tasks_to_wait_for") {
    told_tasks t;
    t.add("a", task_trigger::at(told_noon + 1h));
    t.add("b", task_trigger::cron("0 13 * * *"));
    CHECK_FALSE(t.at.io.stopped());
    CHECK(watched_wall::watches.size() == 1);
    t.set(told_noon + 1h);
    CHECK(t.ran == hours_run{1h, 1h});
    CHECK_FALSE(t.at.io.stopped());
    CHECK(t.tasks->pause("b"));
    t.at.run();
    CHECK(t.at.io.stopped());
    CHECK(t.tasks->resume("b"));
    t.at.run();
    CHECK_FALSE(t.at.io.stopped());
    t.set(told_noon + 25h);
    CHECK(t.ran == hours_run{1h, 1h, 25h});
    t.tasks->cancel("b");
    t.at.run();
    CHECK(t.at.io.stopped());
    t.add("c", task_trigger::at(told_noon + 30h));
    t.tasks->stop();
    t.at.run();
    CHECK(t.at.io.stopped());
    t.tasks.reset();
    CHECK(watched_wall::watches.empty());
}

TEST_CASE("task_clock_set_while_the_watch_is_renewed") {
    told_tasks t;
    t.add("a", task_trigger::cron("0 13-23 * * *"));
    for (int i = 0; i < 3; ++i) {
        watched_wall::set(told_noon + 30min); // on its way
        t.tasks->pause("a");
        t.tasks->resume("a"); // another watch
    }
    t.at.run();
    for (int hour = 1; hour <= 5; ++hour) t.set(told_noon + hour * 1h);
    CHECK(t.ran == hours_run{1h, 2h, 3h, 4h, 5h});
    CHECK(t.tasks->find("a")->missed == 0);
}

TEST_CASE("task_clock_set_right_after_it_was_read") {
    told_tasks t;
    watched_wall::set_after(2, told_noon + 5h); // add() decides by the first reading, and arms the timer by the second
    t.add("a", task_trigger::at(told_noon + 5h));
    t.at.run();
    CHECK(t.ran == hours_run{5h});
}

TEST_CASE("task_clock_is_watched_as_soon_as_that_is_possible") {
    told_tasks t;
    CHECK_FALSE(error_without_descriptors([&] { t.add("a", task_trigger::at(told_noon + 1h)); }));
    CHECK(watched_wall::watches.empty());
    t.add("b", task_trigger::at(told_noon + 2h));
    CHECK(watched_wall::watches.size() == 1);
    t.set(told_noon + 1h);
    CHECK(t.ran == hours_run{1h});
}
