// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Tasks on a wheel that is full, that is stopped, or all of whose timers somebody cancels.
#include "support/tasks/task_processes.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;
using run_times = std::vector<long>;

namespace {

// Fails the first time.
auto at_the_second_try(task_rig& tasks) {
    return [&tasks, failed = std::make_shared<bool>()] {
        if (!std::exchange(*failed, true)) throw std::runtime_error("again");
        tasks.note()();
    };
}

const job_options twice{.attempts = 2, .backoff = backoff::constant(5s)};

} // namespace

TEST_CASE("task_wheel_full_refuses_what_is_added_and_nothing_is_written") {
    memory_storage storage;
    virtual_wheel small({.max_pending = 1});
    task_scheduler tasks(small.wheel, {.executor = small.io.get_executor(), .storage = &storage});
    tasks.define("note", [] {});
    const auto result = tasks.add_all({{.name = "a", .when = task_trigger::once(1h), .job = "note"},
                                       {.name = "b", .when = task_trigger::once(1h), .job = "note"},
                                       {.name = "c", .when = task_trigger::once(1h), .job = "note"}});
    CHECK(result.added == 1);
    CHECK(result.refused == errc::too_many_timers);
    CHECK(storage.size() == 1);
    CHECK(tasks.add({.name = "d", .when = task_trigger::once(1h), .job = "note"}) == errc::too_many_timers);
    CHECK(storage.size() == 1);
}

TEST_CASE("task_wheel_full_refuses_what_is_added_and_leaves_what_was_written_before") {
    memory_storage storage;
    storage.save({.task = {.name = "nightly", .job = "not known yet", .body = "of the last process"}});
    virtual_wheel small({.max_pending = 1});
    task_scheduler tasks(small.wheel, {.executor = small.io.get_executor(), .storage = &storage});
    tasks.define("note", [] {});
    small.wheel.schedule(1h, [] {});
    const task nightly{.name = "nightly", .when = task_trigger::once(1h), .job = "note", .body = "of this one"};
    SUBCASE("alone") { CHECK(tasks.add(nightly) == errc::too_many_timers); }
    SUBCASE("one of several") { CHECK(tasks.add_all({nightly}).refused == errc::too_many_timers); }
    SUBCASE("stopped") {
        small.wheel.stop();
        CHECK(tasks.add(nightly) == errc::stopped);
    }
    CHECK(!tasks.find("nightly").has_value());
    const auto kept = storage.load();
    REQUIRE(kept.tasks.size() == 1);
    CHECK(kept.tasks.front().task.body == "of the last process");
}

TEST_CASE("task_wheel_full_tasks_that_are_there_get_their_timers") {
    task_rig tasks({}, {.tick = task_rig::tick, .max_pending = 2});
    tasks->add({.name = "once", .when = task_trigger::once(100ms)}, at_the_second_try(tasks), twice);
    tasks->add({.name = "periodic", .when = task_trigger::every(100ms).times(2)}, tasks.note(), {.timeout = 1s});
    CHECK(tasks->add({.name = "refused"}, [] {}) == errc::too_many_timers);
    tasks.pass(90ms);
    tasks.leap(20ms); // both fire
    tasks.at.wheel.schedule(1h, [] {});
    tasks.at.wheel.schedule(1h, [] {});
    tasks.pass(6s);
    CHECK(tasks->find("once")->completed == 1);
    CHECK(tasks->find("periodic")->completed == 2);
}

TEST_CASE("task_wheel_full_recover_leaves_a_task_in_the_storage_and_says_so") {
    memory_storage storage = remains(1s, [](task_rig& before) {
        before->add({.name = "a", .when = task_trigger::once(1min), .job = "note"});
        before->add({.name = "paused", .when = task_trigger::once(1min), .job = "note"});
        before->pause("paused");
    });
    task_rig tasks({.storage = &storage}, {.tick = task_rig::tick, .max_pending = 1});
    tasks->define("note", tasks.note());
    const auto other = tasks.at.wheel.schedule(1h, [] {});
    const auto found = tasks->recover();
    CHECK(found.tasks == 1);
    REQUIRE(found.warnings.size() == 1);
    CHECK(found.warnings[0].starts_with("task 'a' is not armed: "));
    CHECK(!tasks->find("a").has_value());
    CHECK(storage.size() == 2);

    other.cancel();
    CHECK(tasks->recover().tasks == 1);
    tasks.pass(2min);
    CHECK(tasks.ran.size() == 1);
    CHECK(storage.size() == 1); // the paused one
}

TEST_CASE("task_wheel_stopped_loses_nothing_that_is_written") {
    memory_storage storage;
    {
        asio::io_context elsewhere;
        task_rig tasks({.executor = elsewhere.get_executor(), .storage = &storage});
        tasks->define("fails", [&] { throw std::runtime_error("again"); },
                      {.attempts = 3, .backoff = backoff::constant(5s)});
        tasks->define("limited", [&] { tasks.ran.push_back(0); }, {.timeout = 1s});
        tasks->add({.name = "retries", .job = "fails"});
        tasks->add({.name = "has a limit", .job = "limited"});
        tasks->add({.name = "repeats", .when = task_trigger::every(10ms), .job = "limited"});
        tasks.pass(10ms);
        tasks.at.wheel.stop();
        elsewhere.run();
        CHECK(tasks.ran.empty());
        CHECK(storage.size() == 3);
    }
    CHECK(storage.size() == 3);
}

TEST_CASE("task_wheel_stopped_holds_nobody_up") {
    memory_storage storage;
    {
        task_rig tasks({.storage = &storage});
        tasks->define("fails", at_the_second_try(tasks), twice);
        tasks->add({.name = "waits for its next attempt", .job = "fails"});
        tasks->add({.name = "waits for its time", .when = task_trigger::once(1h), .job = "fails"});
        tasks.pass(20ms);
        CHECK(tasks->counts().jobs == 1);
        SUBCASE("stopped") { tasks.at.wheel.stop(); }
        SUBCASE("stopped behind all others") {
            tasks.at.wheel.cancel_all();
            tasks.at.wheel.stop();
        }
        tasks.pass(20ms);
        CHECK(tasks.at.io.stopped()); // run() returns
        CHECK(tasks->counts().jobs == 0);
        CHECK(storage.size() == 2);
    }
    next_process p(storage, 1s);
    CHECK(p.found.tasks == 2);
    CHECK(p.found.interrupted.empty());
}

TEST_CASE("task_wheel_stopped_while_a_job_runs_that_then_fails_holds_nobody_up") {
    memory_storage storage;
    task_rig tasks({.storage = &storage});
    tasks->define(
        "fails",
        [&] {
            tasks.at.wheel.stop();
            throw std::runtime_error("again");
        },
        twice);
    tasks->add({.name = "a", .job = "fails"});
    tasks.pass(40ms);
    CHECK(tasks.at.io.stopped()); // run() returns
    CHECK(tasks->counts().jobs == 0);
    const auto kept = storage.load();
    REQUIRE(kept.tasks.size() == 1);
    REQUIRE(kept.tasks.front().runs.size() == 1);
    CHECK(kept.tasks.front().runs.front().attempt == 2);
}

TEST_CASE("task_wheel_all_timers_cancelled_tasks_go_on") {
    task_rig tasks;
    tasks->add({.name = "periodic", .when = task_trigger::every(10s).times(2)}, tasks.note());
    tasks->add({.name = "again"}, at_the_second_try(tasks), twice);
    tasks->add({.name = "limited"}, tasks.lasting(1h), {.timeout = 7s});
    tasks.pass(1s);
    tasks.at.wheel.cancel_all();
    tasks.run();
    tasks.pass(4s);
    CHECK(tasks.ran.empty());
    tasks.pass(16s);
    CHECK(tasks.ran == run_times{5'010, 10'000, 20'000});
    CHECK(tasks->find("limited")->state == task_state::failed);
}
