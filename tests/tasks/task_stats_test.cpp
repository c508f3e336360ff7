// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// task_scheduler::stats(): each number against the truth.
#include "support/tasks/semaphore.hpp"
#include "support/tasks/task_processes.hpp"
#include "support/threads.hpp"

#include <cogwheel/tasks/task_scheduler.hpp>
#include <cogwheel/wheel/hierarchical_wheel.hpp>

#include <doctest/doctest.h>

#include <thread>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;
using level_counts = std::vector<std::size_t>;

namespace {

/// One thread, a queue for one job, and a first job that holds the thread until the gate is opened.
struct full_pool {
    virtual_wheel at{{.tick = 10ms}};
    semaphore gate{0};
    semaphore busy{0};
    std::optional<task_scheduler> tasks;

    explicit full_pool(full_policy policy) {
        task_wall::present = task_noon;
        tasks.emplace(at.wheel, task_scheduler_options{.pool = {.threads = 1, .queue = 1, .when_full = policy}},
                      std::type_identity<task_wall>());
        tasks->add({.name = "holds"}, [this] {
            busy.release();
            gate.acquire();
        });
        at.pass(10ms);
        busy.acquire();
        for (const char* name : {"queued", "third", "fourth"}) tasks->add({.name = name}, [] {});
        at.pass(10ms);
    }
    task_stats at_the_end() {
        gate.release();
        ask_until([&] { return tasks->counts().jobs == 0; });
        return tasks->stats();
    }
};

job_options attempts(std::uint32_t n) { return {.attempts = n, .backoff = backoff::constant(5s)}; }

} // namespace

TEST_CASE("task_stats_of_a_new_scheduler_are_zero") {
    task_rig tasks;
    const task_stats s = tasks->stats();
    CHECK(stats_agree(s));
    CHECK(s.runs_started + s.attempts + s.missed + s.dropped + s.timed_out + s.paused + s.queue == 0);
    CHECK(s.by_level == level_counts{0});
}

TEST_CASE("task_stats_runs_that_end_count_by_their_outcome") {
    task_rig tasks;
    tasks->add({.name = "a", .when = task_trigger::every(1s).times(3)}, failing_job(1));
    tasks->add({.name = "b"}, tasks.lasting(10s));
    tasks.pass(3100ms);
    tasks->cancel("b");
    tasks.run();
    const task_stats s = tasks->stats();
    CHECK(s.runs_started == 4);
    CHECK(s.completed == 2);
    CHECK(s.failed == 1);
    CHECK(s.cancelled == 1);
    CHECK(s.attempts == 4);
    CHECK(s.retries == 0);
    CHECK(s.tasks.finished == 2);
}

TEST_CASE("task_stats_retries_are_attempts_of_one_run") {
    task_rig tasks;
    tasks->add({.name = "in the end"}, failing_job(2), attempts(3));
    tasks->add({.name = "in vain"}, failing_job(9), attempts(2));
    tasks.pass(1s);
    CHECK(tasks->stats().retries == 0);
    CHECK(tasks->stats().tasks.jobs == 2);
    tasks.pass(20s);
    const task_stats s = tasks->stats();
    CHECK(s.runs_started == 2);
    CHECK(s.attempts == 5);
    CHECK(s.retries == 3);
    CHECK(s.completed == 1);
    CHECK(s.failed == 1);
}

TEST_CASE("task_stats_attempts_past_their_limit_are_timed_out_however_they_end") {
    task_rig tasks;
    job_options limited = attempts(2);
    limited.timeout = 2s;
    tasks->add({.name = "a"}, tasks.lasting(10s), limited);
    const auto goes_on = [&]() -> asio::awaitable<void> {
        try {
            co_await tasks.at.wheel.async_wait(10s, asio::use_awaitable);
        } catch (const std::system_error&) { // it was told to stop, and has succeeded
        }
    };
    tasks->add({.name = "b"}, goes_on, limited);
    tasks.pass(1900ms);
    CHECK(tasks->stats().timed_out == 0);
    tasks.pass(20s);
    CHECK(tasks->stats().timed_out == 3);
    CHECK(tasks->stats().completed == 1);
    CHECK(tasks->stats().failed == 1);
}

TEST_CASE("task_stats_a_limit_that_passes_after_cancel_is_no_timeout") {
    task_rig tasks;
    asio::steady_timer never(tasks.at.io, asio::steady_timer::time_point::max());
    const auto deaf = [&]() -> asio::awaitable<void> {
        co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        co_await never.async_wait(asio::use_awaitable);
    };
    tasks->add({.name = "a"}, deaf, {.timeout = 2s});
    tasks.pass(1s);
    tasks->cancel("a");
    tasks.pass(5s);
    CHECK(tasks->stats().timed_out == 0);
    CHECK(tasks->stats().tasks.jobs == 1);
    never.cancel();
    tasks.run();
    CHECK(tasks->stats().cancelled == 1);
    CHECK(tasks->stats().execution.max() == 5990ms);
}

TEST_CASE("task_stats_queue_holds_what_waits_for_a_thread_and_not_what_runs") {
    full_pool pool(full_policy::wait());
    const task_stats s = pool.tasks->stats();
    CHECK(s.queue == 3); // one in the pool's queue, two in line for it
    CHECK(s.tasks.queued == 3);
    CHECK(s.tasks.running == 1);
    CHECK(s.tasks.jobs == 4);
    CHECK(s.runs_started == 4);
    CHECK(s.attempts == 1);
    CHECK(in_all_levels(s) == 0);
    pool.tasks->cancel("queued");
    CHECK(pool.tasks->stats().queue == 2);
    const task_stats after = pool.at_the_end();
    CHECK(after.queue == 0);
    CHECK(after.completed == 3);
    CHECK(after.cancelled == 1);
    CHECK(after.attempts == 3);
}

TEST_CASE("task_stats_run_that_the_full_pool_rejects_failed_without_an_attempt") {
    full_pool pool(full_policy::reject());
    CHECK(pool.tasks->stats().queue == 1);
    CHECK(pool.tasks->stats().failed == 2);
    const task_stats s = pool.at_the_end();
    CHECK(s.runs_started == 4);
    CHECK(s.completed == 2);
    CHECK(s.attempts == 2);
    CHECK(stats_agree(s));
}

TEST_CASE("task_stats_run_that_waits_in_line_too_long_failed_and_is_no_timed_out_attempt") {
    full_pool pool(full_policy::wait_for(1s));
    pool.at.pass(2s);
    CHECK(pool.tasks->stats().queue == 1);
    const task_stats s = pool.at_the_end();
    CHECK(s.failed == 2);
    CHECK(s.timed_out == 0);
    CHECK(s.attempts == 2);
}

TEST_CASE("task_stats_latency_includes_the_wait_for_a_thread") {
    full_pool pool(full_policy::wait());
    manual_clock::advance(7s);
    const task_stats s = pool.at_the_end();
    CHECK(s.latency.total() == 4);
    CHECK(s.latency.at_most(9) == 1); // 51.2 ms
    CHECK(s.latency.max() == 7s + 10ms);
    CHECK(s.execution.max() == 7s + 10ms); // the job that held the thread
}

TEST_CASE("task_stats_latency_of_a_retry_counts_from_the_end_of_its_pause") {
    task_rig tasks;
    tasks->add({.name = "a", .when = task_trigger::once(100ms)}, failing_job(1), attempts(2));
    tasks.pass(100ms);
    CHECK(tasks->stats().latency.max() == 0ms);
    tasks.pass(4990ms);
    tasks.leap(250ms); // the loop was blocked
    const task_stats s = tasks->stats();
    CHECK(s.retries == 1);
    CHECK(s.latency.max() == 240ms);
    CHECK(s.latency.sum_seconds() == doctest::Approx(0.24));
}

TEST_CASE("task_stats_latency_of_a_run_counts_from_its_point_and_jitter") {
    task_rig tasks;
    const auto all = task_misfire::catch_up(9);
    tasks->add({.name = "a", .when = task_trigger::every(1s).times(9).jitter(500ms), .misfire = all}, [] {});
    tasks.pass(10s);
    CHECK(tasks->stats().latency.total() == 9);
    CHECK(tasks->stats().latency.max() <= task_rig::tick);
    tasks->add({.name = "b", .when = task_trigger::every(1s).times(4), .misfire = all}, [] {});
    tasks.leap(4s); // the runs were due 3 s, 2 s, 1 s and 0 s before
    const task_stats s = tasks->stats();
    CHECK(s.latency.max() == 3s);
    CHECK(s.latency.sum_seconds() == doctest::Approx(6).epsilon(0.02));
}

TEST_CASE("task_stats_wall_clock_that_is_set_is_no_latency") {
    for (const auto set : {-1h, +1h}) {
        task_rig tasks;
        tasks->add({.name = "a", .when = task_trigger::at(task_noon + 30s)}, [] {});
        tasks.pass(10s);
        task_wall::present += set;
        tasks.pass(2h);
        const task_stats s = tasks->stats();
        CHECK(s.attempts == 1);
        CHECK(s.latency.max() <= task_rig::tick);
    }
}

TEST_CASE("task_stats_run_at_a_date_counts_from_that_date") {
    task_rig tasks;
    tasks->add({.name = "a", .when = task_trigger::at(task_noon + 30s)}, [] {});
    tasks.pass(29s);
    tasks.leap(1400ms);
    CHECK(tasks->stats().latency.max() == 400ms);
}

TEST_CASE("task_stats_execution_is_the_time_of_the_job_by_the_wheels_clock") {
    task_rig tasks;
    tasks->add({.name = "a"}, [] {
        manual_clock::advance(1250ms);
        task_wall::present += 48h;
    });
    tasks->add({.name = "b", .when = task_trigger::once(1h)}, [] { throw std::runtime_error("no"); });
    tasks.pass(10ms);
    const task_stats s = tasks->stats();
    CHECK(s.execution.total() == 1);
    CHECK(s.execution.max() == 1250ms);
    CHECK(s.execution.sum_seconds() == 1.25);
    tasks.pass(1h);
    CHECK(tasks->stats().execution.total() == 2);
}

TEST_CASE("task_stats_missed_and_dropped_runs_of_tasks_that_are_gone_count_on") {
    task_rig tasks({.finished = 1});
    const auto skip = [&](const char* name, std::int64_t times) {
        tasks->add(
            {.name = name, .when = task_trigger::every(1s).times(times), .misfire = task_misfire::skip()}, [] {}, {},
            on_duplicate::replace);
    };
    skip("forgotten", 1);
    tasks.leap(3500ms); // two runs are missed, the third one is in time
    CHECK(tasks->stats().missed == 2);
    CHECK(tasks->stats().missed == tasks->find("forgotten")->missed);
    CHECK(tasks->forget("forgotten"));
    skip("replaced", 9);
    tasks.leap(2500ms);
    skip("replaced", 9);
    CHECK(tasks->find("replaced")->missed == 0);
    CHECK(tasks->stats().missed == 3);
    tasks->cancel("replaced");

    tasks->add({.name = "drops", .when = task_trigger::every(1s)}, tasks.lasting(1h));
    tasks.pass(4100ms);
    CHECK(tasks->find("drops")->dropped == 3);
    CHECK(tasks->stats().dropped == 3);
    tasks->cancel("drops");
    tasks.run();
    tasks->add({.name = "last"}, [] {});
    tasks.pass(20ms);
    CHECK(!tasks->find("drops").has_value()); // only one finished task is remembered
    CHECK(tasks->stats().dropped == 3);
    CHECK(tasks->stats().missed == 3);
}

TEST_CASE("task_stats_paused_tasks_count_until_they_are_resumed_or_over") {
    task_rig tasks;
    for (const char* name : {"a", "b", "c"}) tasks->add({.name = name, .when = task_trigger::once(1h)}, [] {});
    tasks->pause("a");
    tasks->pause("a");
    tasks->pause("b");
    CHECK(tasks->stats().paused == 2);
    CHECK(tasks->stats().tasks.pending == 3);
    CHECK(tasks->stats().by_level == level_counts{1});
    tasks->resume("a");
    CHECK(tasks->stats().paused == 1);
    CHECK(tasks->stats().by_level == level_counts{2});
    tasks->cancel("b");
    CHECK(tasks->stats().paused == 0);
    CHECK(tasks->stats().tasks.finished == 1);
}

TEST_CASE("task_stats_run_cancelled_while_it_runs_is_under_way_until_its_job_ends") {
    task_rig tasks;
    tasks->add({.name = "a"}, tasks.lasting(10s));
    tasks.pass(2010ms);
    CHECK(tasks->cancel("a") == task_cancel_result::running);
    CHECK(tasks->stats().tasks.jobs == 1);
    CHECK(tasks->stats().cancelled == 0);
    tasks.run();
    const task_stats s = tasks->stats();
    CHECK(s.tasks.jobs == 0);
    CHECK(s.cancelled == 1);
    CHECK(s.execution.max() == 2s);
}

TEST_CASE("task_stats_stop_cancels_runs_and_leaves_no_timer") {
    task_rig tasks;
    tasks->add({.name = "runs"}, tasks.lasting(10s));
    tasks->add({.name = "retries"}, failing_job(1), attempts(2));
    tasks->add({.name = "waits", .when = task_trigger::once(1h)}, [] {});
    tasks.pass(1s);
    CHECK(in_all_levels(tasks->stats()) == 1);
    tasks->stop();
    CHECK(in_all_levels(tasks->stats()) == 0);
    CHECK(tasks->stats().cancelled == 1); // the one that waited for its second attempt
    CHECK(stats_agree(tasks->stats()));
    tasks.run();
    CHECK(tasks->stats().cancelled == 2);
    CHECK(tasks->stats().tasks.jobs == 0);
}

TEST_CASE("task_stats_recovered_runs_begin_and_their_latency_spans_the_gap") {
    memory_storage storage = remains(100ms, [](task_rig& before) {
        before->add({.name = "interrupted", .job = "long"});
        before->add({.name = "retries", .job = "fails"});
    });
    next_process next(std::move(storage), 1min);
    CHECK(next.tasks->stats().runs_started == 2);
    CHECK(next.tasks->stats().tasks.jobs == 2);
    next.tasks.pass(20ms);
    const task_stats s = next.tasks->stats();
    CHECK(s.attempts == 2);
    CHECK(s.retries == 1);
    CHECK(s.latency.at_most(8) == 1); // the interrupted attempt was due when recover() found it
    CHECK(s.latency.max() > 54s);     // the retry was due 5 s after the first process had made an attempt
    CHECK(s.latency.max() < 56s);
}

namespace {

using levelled = basic_timer_wheel<manual_clock, multi_threaded, hierarchical_wheel>;

struct levelled_tasks {
    asio::io_context io;
    levelled wheel;
    task_scheduler tasks;

    explicit levelled_tasks(const wheel_levels& levels)
        : wheel(io, {.tick = levels[0].tick, .levels = levels}), tasks(wheel, {.executor = io.get_executor()}) {}
    void once(std::chrono::nanoseconds delay) {
        tasks.add({.name = std::to_string(delay.count()), .when = task_trigger::once(delay)}, [] {});
    }
    level_counts by_level() const { return tasks.stats().by_level; }
};

} // namespace

TEST_CASE("task_stats_by_level_is_how_far_ahead_the_timers_are") {
    levelled_tasks t({{10ms, 4}, {40ms, 4}, {160ms, 4}}); // they reach 40 ms, 160 ms and 640 ms
    CHECK(t.by_level() == level_counts{0, 0, 0});
    t.once(30ms);
    t.once(40ms);
    CHECK(t.by_level() == level_counts{2, 0, 0});
    t.once(41ms);
    t.once(160ms);
    CHECK(t.by_level() == level_counts{2, 2, 0});
    for (const auto delay : {161ms, 640ms, 3'600'000ms}) t.once(delay); // the last one is beyond all levels
    CHECK(t.by_level() == level_counts{2, 2, 3});
    pass(t.io, 120ms);
    CHECK(t.by_level() == level_counts{1, 1, 2});
    t.tasks.pause("3600000000000");
    t.tasks.cancel("640000000");
    CHECK(t.by_level() == level_counts{1, 1, 0});
}

TEST_CASE("task_stats_reach_of_a_level_is_the_same_before_it_holds_a_timer") {
    levelled_tasks t({{10ms, 100}, {1s, 60}}); // the wheel rounds up to 128 slots
    t.once(1250ms);
    t.once(1290ms);
    CHECK(t.by_level() == level_counts{1, 1});
    t.once(50s);
    CHECK(t.by_level() == level_counts{1, 2});
}

TEST_CASE("task_stats_on_a_wheel_that_is_gone_still_count") {
    std::optional<virtual_wheel> at(std::in_place);
    auto other = std::make_unique<testing::manual_timer_wheel>(at->io);
    task_scheduler tasks(*other, {.executor = at->io.get_executor()});
    tasks.add({.name = "a", .when = task_trigger::once(1h)}, [] {});
    other.reset();
    run_ready(at->io);
    CHECK(tasks.stats().tasks.pending == 1);
    CHECK(tasks.stats().by_level.size() == 1);
}
