// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Tasks that are cancelled, run out of time, or are in the way of the next run; and jobs that are told so.
#include "support/tasks/task_rig.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;
using run_times = std::vector<long>;

TEST_CASE("task_cancelled_before_its_run_never_runs") {
    task_rig tasks;
    tasks->add({.name = "a", .when = task_trigger::once(1s)}, tasks.note());
    CHECK(tasks->cancel("a") == task_cancel_result::cancelled);
    CHECK(tasks->cancel("a") == task_cancel_result::not_found);
    CHECK(tasks->cancel("b") == task_cancel_result::not_found);
    CHECK(tasks.at.wheel.pending() == 0);
    tasks.pass(5s);
    CHECK(tasks.ran.empty());
    CHECK(tasks->find("a")->state == task_state::cancelled);
}

TEST_CASE("task_cancelled_on_its_way_to_the_executor_never_runs") {
    asio::io_context elsewhere;
    task_rig tasks({.executor = elsewhere.get_executor()});
    tasks->add({.name = "a"}, tasks.note());
    tasks.pass(20ms);
    CHECK(tasks->find("a")->state == task_state::queued);
    CHECK(tasks->cancel("a") == task_cancel_result::cancelled);
    elsewhere.run();
    CHECK(tasks.ran.empty());
    CHECK(tasks->find("a")->state == task_state::cancelled);
}

TEST_CASE("task_cancelled_at_each_step_of_its_start_does_not_wait_for_its_end") {
    for (int steps = 0; steps < 8; ++steps) {
        CAPTURE(steps);
        asio::io_context elsewhere;
        task_rig tasks({.executor = elsewhere.get_executor()});
        tasks->add({.name = "a"}, tasks.lasting(1h));
        tasks.pass(20ms);
        for (int i = 0; i < steps; ++i) elsewhere.poll_one();
        tasks->cancel("a");
        do {
            tasks.run();
            elsewhere.restart();
        } while (elsewhere.poll() != 0);
        CHECK(tasks->counts().running == 0);
        CHECK(tasks->find("a")->state == task_state::cancelled);
        CHECK(tasks.ran.empty());
        CHECK(tasks.at.wheel.pending() == 0);
    }
}

TEST_CASE("task_cancelled_coroutine_is_told_on_its_own_executor") {
    asio::io_context elsewhere;
    task_rig tasks({.executor = elsewhere.get_executor()});
    tasks->add({.name = "a"}, tasks.lasting(1h));
    tasks.pass(20ms);
    elsewhere.poll();
    CHECK(tasks->cancel("a") == task_cancel_result::running);
    CHECK(tasks.at.wheel.pending() == 1); // it still waits
    elsewhere.restart();
    elsewhere.poll();
    CHECK(tasks.at.wheel.pending() == 0);
}

TEST_CASE("task_cancelled_while_it_runs_and_kept_is_the_new_one") {
    memory_storage storage;
    task_rig tasks({.storage = &storage});
    tasks->define("slow", tasks.lasting(10s));
    tasks->define("note", tasks.note());
    const auto add = [&](const char* job, on_duplicate policy) {
        return tasks->add({.name = "a", .when = task_trigger::every(1s), .job = job}, policy);
    };
    CHECK(!add("slow", on_duplicate::reject));
    tasks.pass(1500ms);
    CHECK(tasks->cancel("a") == task_cancel_result::running);
    CHECK(storage.size() == 0);
    CHECK(add("note", on_duplicate::reject) == errc::duplicate_key);
    CHECK(!add("note", on_duplicate::keep)); // while the job of the old one still runs
    CHECK(!add("slow", on_duplicate::keep)); // which is kept
    tasks.pass(2500ms);
    CHECK(tasks.ran == run_times{2500, 3500});
    CHECK(tasks->find("a")->state == task_state::pending);
    CHECK(storage.size() == 1);
}

TEST_CASE("task_cancelled_while_it_runs_is_told") {
    task_rig tasks;
    tasks->add({.name = "a", .when = task_trigger::every(1s)}, tasks.lasting(10s));
    tasks.pass(1500ms);
    CHECK(tasks->cancel("a") == task_cancel_result::running);
    tasks.run();
    CHECK(tasks->find("a")->state == task_state::cancelled);
    CHECK(tasks->find("a")->cancelled == 1);
    tasks.pass(20s);
    CHECK(tasks.began.size() == 1);
    CHECK(tasks.ran.empty()); // the wait was cut short
    CHECK(tasks.at.wheel.pending() == 0);
}

TEST_CASE("task_cancelled_while_it_runs_what_waits_for_it_does_not_run") {
    task_rig tasks;
    tasks->add({.name = "a", .when = task_trigger::every(1s), .misfire = task_misfire::catch_up(5)},
               tasks.lasting(1500ms));
    tasks.pass(2200ms); // the second one waits
    CHECK(tasks->cancel("a") == task_cancel_result::running);
    tasks.pass(20s);
    CHECK(tasks.began == run_times{1000});
    CHECK(tasks->find("a")->state == task_state::cancelled);
}

TEST_CASE("task_replaced_run_leaves_its_last_words") {
    task_rig tasks;
    tasks->add({.name = "a", .when = task_trigger::every(1s), .overlap = task_overlap::replace},
               [&](task_run& run) -> asio::awaitable<void> {
                   try {
                       co_await tasks.at.wheel.async_wait(10s, asio::use_awaitable);
                   } catch (const std::exception&) {
                       throw std::runtime_error("stopped at " + std::to_string(run.attempt()));
                   }
               });
    tasks.pass(2s);
    tasks.run();
    CHECK(tasks->find("a")->cancelled == 1);
    CHECK(tasks->find("a")->message == "stopped at 1");
    tasks->cancel("a");
    tasks.run();
}

TEST_CASE("task_cancelled_from_its_own_job") {
    task_rig tasks;
    tasks->add({.name = "a", .when = task_trigger::every(1s)}, [&](task_run& run) {
        tasks.ran.push_back(tasks.since());
        CHECK(tasks->cancel(run.name()) == task_cancel_result::running);
        CHECK(run.stop_requested());
        run.throw_if_stopped();
    });
    tasks.pass(5s);
    CHECK(tasks.ran.size() == 1);
    CHECK(tasks->find("a")->state == task_state::cancelled);
}

TEST_CASE("task_cancelled_in_its_last_run_that_ends_well_is_completed") {
    task_rig tasks;
    const auto job = [&](task_run& run) { tasks->cancel(run.name()); };
    tasks->add({.name = "last"}, job);
    tasks->add({.name = "not the last", .when = task_trigger::every(1s)}, job);
    tasks.pass(5s);
    CHECK(tasks->find("last")->state == task_state::completed);
    CHECK(tasks->find("not the last")->state == task_state::cancelled);
    CHECK(tasks->find("not the last")->completed == 1);
}

TEST_CASE("task_cancelled_between_attempts_is_cancelled_at_once") {
    task_rig tasks;
    tasks->add({.name = "a"}, [] { throw std::runtime_error("again"); },
               {.attempts = 3, .backoff = backoff::constant(1min)});
    tasks.pass(1s);
    CHECK(tasks->cancel("a") == task_cancel_result::cancelled);
    CHECK(tasks.at.wheel.pending() == 0);
    CHECK(tasks->counts().jobs == 0);
}

TEST_CASE("task_time_limit_tells_the_job_and_counts_as_a_failure") {
    task_rig tasks;
    tasks->add({.name = "a"}, tasks.lasting(10s), {.attempts = 2, .backoff = backoff::constant(1s), .timeout = 2s});
    tasks.pass(10s);
    CHECK(tasks.began.size() == 2);
    CHECK(tasks.ran.empty());
    const auto a = tasks->find("a").value();
    CHECK(a.state == task_state::failed);
    CHECK(a.history.at(0).ended - a.history.at(0).started == 2s);
    CHECK(a.message.find("time limit of 2s") != std::string::npos);
}

TEST_CASE("task_that_ends_well_in_spite_of_its_limit_is_completed") {
    task_rig tasks;
    tasks->add({.name = "a"},
               [&](task_run& run) -> asio::awaitable<void> {
                   try {
                       co_await tasks.at.wheel.async_wait(10s, asio::use_awaitable);
                   } catch (const std::system_error&) {
                       CHECK(run.stop_requested());
                   }
               },
               {.timeout = 1s});
    tasks.pass(2s);
    CHECK(tasks->find("a")->state == task_state::completed);
}

TEST_CASE("task_time_limit_is_cancelled_with_the_attempt") {
    task_rig tasks;
    tasks->add({.name = "a"}, tasks.note(), {.timeout = 1h});
    tasks.pass(20ms);
    CHECK(tasks.ran.size() == 1);
    CHECK(tasks.at.wheel.pending() == 0);
}

TEST_CASE("task_time_limit_does_not_outlive_an_attempt_that_is_made_again") {
    task_rig tasks;
    tasks->add({.name = "a"}, [] { throw std::runtime_error("again"); },
               {.attempts = 2, .backoff = backoff::constant(1min), .timeout = 1h});
    tasks.pass(20ms);
    CHECK(tasks.at.wheel.pending() == 1); // the next attempt
}

TEST_CASE("task_overlap_forbid_drops_allow_runs_both_replace_stops_the_old") {
    task_rig tasks;
    const auto add = [&](std::string name, task_overlap overlap) {
        tasks->add({.name = std::move(name), .when = task_trigger::every(1s), .overlap = overlap},
                   tasks.lasting(1500ms));
    };
    add("forbid", task_overlap::forbid);
    tasks.pass(4900ms);
    CHECK(tasks.began == run_times{1000, 3000});
    CHECK(tasks->find("forbid")->dropped == 2);
    tasks->cancel("forbid");

    task_rig both;
    both->add({.name = "allow", .when = task_trigger::every(1s), .overlap = task_overlap::allow}, both.lasting(1500ms));
    both.pass(3200ms);
    CHECK(both.began == run_times{1000, 2000, 3000});
    CHECK(both.ran == run_times{2500});
    CHECK(both->counts().jobs == 2);

    task_rig one;
    one->add({.name = "replace", .when = task_trigger::every(1s).times(3), .overlap = task_overlap::replace},
             one.lasting(1500ms));
    one.pass(5s);
    CHECK(one.began == run_times{1000, 2000, 3000});
    CHECK(one.ran == run_times{4500}); // the last one is in nobody's way
    CHECK(one->find("replace")->cancelled == 2);
    CHECK(one->find("replace")->state == task_state::completed);
}

TEST_CASE("task_replaced_while_it_runs_tells_the_old_job_and_keeps_the_name") {
    task_rig tasks;
    tasks->add({.name = "a"}, tasks.lasting(10s));
    tasks.pass(20ms);
    tasks->add({.name = "a", .when = task_trigger::once(1s)}, tasks.note(), {}, on_duplicate::replace);
    tasks.pass(20s);
    CHECK(tasks.ran == run_times{1020});
    CHECK(tasks->find("a")->completed == 1);
    CHECK(tasks->find("a")->cancelled == 0);
    CHECK(tasks->counts().jobs == 0);
}

TEST_CASE("task_scheduler_stopped_takes_no_more_and_tells_its_jobs") {
    task_rig tasks;
    tasks->add({.name = "runs"}, tasks.lasting(10s));
    tasks->add({.name = "waits", .when = task_trigger::once(1s)}, tasks.note());
    tasks.pass(20ms);
    tasks->stop();
    CHECK(tasks->add({.name = "late"}, [] {}) == errc::stopped);
    tasks.pass(20s);
    CHECK(tasks.ran.empty());
    CHECK(tasks.at.wheel.pending() == 0);
    CHECK(tasks->counts().jobs == 0);
}

TEST_CASE("task_scheduler_destroyed_while_jobs_are_on_their_way") {
    asio::io_context elsewhere;
    int ran = 0;
    {
        task_rig tasks({.executor = elsewhere.get_executor()});
        tasks->add({.name = "a"}, [&ran] { ++ran; });
        tasks.pass(20ms);
    }
    elsewhere.run();
    CHECK(ran == 0);
}
