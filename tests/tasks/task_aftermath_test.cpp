// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What comes after a change: a job that was told to stop is told again, a run that waited gets its place, an attempt
// never began.
#include "support/tasks/semaphore.hpp"
#include "support/tasks/task_processes.hpp"
#include "support/threads.hpp"

#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

// A job that does not heed what it is told, and fails after so long.
auto deaf(task_rig& tasks, std::chrono::nanoseconds lasts) {
    return [&tasks, lasts](task_run& run) -> asio::awaitable<void> {
        CHECK(!run.stop_requested());
        tasks.began.push_back(tasks.since());
        co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        co_await tasks.at.wheel.async_wait(lasts, asio::use_awaitable);
        throw std::runtime_error("too late");
    };
}

const job_options one_second{.attempts = 3, .backoff = backoff::constant(100ms), .timeout = 1s};

struct said_events final : task_observer {
    void on_event(const task_event& e) noexcept override {
        static constexpr const char* words[] = {"added",     "started",  "retrying",    "completed", "failed",
                                                "cancelled", "finished", "interrupted", "unrecorded"};
        all.push_back(e.task + ' ' + words[static_cast<int>(e.what)] + ' ' + std::to_string(e.attempt) +
                      (e.message.empty() ? "" : ": " + e.message));
    }
    std::vector<std::string> take() { return std::exchange(all, {}); }
    std::vector<std::string> all;
};
using said = std::vector<std::string>;

} // namespace

TEST_CASE("task_cancelled_after_or_before_its_limit_is_cancelled_and_not_tried_again") {
    for (const auto cancelled_at : {500ms, 2000ms}) {
        CAPTURE(cancelled_at.count());
        task_rig tasks;
        tasks->add({.name = "a"}, deaf(tasks, 3s), one_second);
        tasks.pass(cancelled_at);
        CHECK(tasks->cancel("a") == task_cancel_result::running);
        tasks.pass(10s);
        const auto a = tasks->find("a").value();
        CHECK(a.state == task_state::cancelled);
        CHECK(a.cancelled == 1);
        CHECK(a.failed == 0);
        REQUIRE(a.history.size() == 1);
        CHECK(a.history[0].state == task_state::cancelled);
        CHECK(a.history[0].message == "too late"); // not for its limit
        CHECK(tasks->counts().jobs == 0);
        CHECK(tasks.at.wheel.pending() == 0);
    }
}

TEST_CASE("task_stopped_after_or_before_its_limit_is_made_again_by_the_next_process") {
    for (const auto stopped_at : {500ms, 2000ms}) {
        CAPTURE(stopped_at.count());
        memory_storage storage;
        {
            task_rig tasks({.storage = &storage});
            tasks->define("deaf", deaf(tasks, 3s), one_second);
            tasks->add({.name = "a", .job = "deaf"});
            tasks.pass(stopped_at);
            tasks->stop();
            tasks.pass(10s);
            CHECK(tasks.began.size() == 1);
            CHECK(tasks->counts().jobs == 0);
            CHECK(tasks->find("a")->history.at(0).state == task_state::cancelled);
        }
        const auto left = storage.load();
        REQUIRE(left.tasks.size() == 1);
        REQUIRE(left.tasks[0].runs.size() == 1);
        CHECK(left.tasks[0].runs[0].attempt == 1);
        CHECK(!left.tasks[0].runs[0].retry_at.has_value());
    }
}

TEST_CASE("task_replaced_after_its_limit_is_cancelled_and_makes_room") {
    task_rig tasks;
    tasks->add({.name = "a", .when = task_trigger::every(2s).times(2), .overlap = task_overlap::replace},
               deaf(tasks, 3s), one_second);
    tasks.pass(5500ms);
    CHECK(tasks.began == std::vector<long>{2000, 5000});
    CHECK(tasks->find("a")->cancelled == 1);
    CHECK(tasks->find("a")->failed == 0);
    tasks.pass(20s);
    CHECK(tasks->find("a")->state == task_state::failed); // the second, three times at its limit
    CHECK(tasks->find("a")->history.size() == 4);
    CHECK(tasks->find("a")->message == "told to stop after its time limit of 1s: too late");
}

TEST_CASE("task_that_waited_for_the_run_before_is_under_way_and_one_less_is_left") {
    memory_storage storage;
    task_rig tasks({.storage = &storage});
    tasks->define("long", tasks.lasting(2500ms));
    tasks->add(
        {.name = "a", .when = task_trigger::every(1s).times(3), .job = "long", .misfire = task_misfire::catch_up(5)});
    const auto record = [&] { return storage.load().tasks.at(0); };
    tasks.pass(3400ms); // all are due, the first one runs
    CHECK(tasks->find("a")->runs_left == 2);
    tasks.pass(200ms); // the second has begun
    CHECK(tasks.began == std::vector<long>{1000, 3500});
    CHECK(tasks->find("a")->runs_left == 1);
    CHECK(tasks->find("a")->attempt == 1);
    CHECK(record().runs_left == 1);
    CHECK(!record().next.has_value());
    REQUIRE(record().runs.size() == 2);
    CHECK(record().runs[0] == task_run_record{task_noon + 2s, 1, {}});
    CHECK(record().runs[1] == task_run_record{task_noon + 3s, 0, {}});
    tasks.pass(20s);
    CHECK(tasks.began == std::vector<long>{1000, 3500, 6000});
    CHECK(tasks->find("a")->state == task_state::completed);
    CHECK(tasks->find("a")->completed == 3);
    CHECK(storage.size() == 0);
}

TEST_CASE("task_attempt_that_a_stopped_wheel_refuses_a_limit_is_still_to_be_made") {
    for (const std::uint32_t refused : {1U, 2U}) {
        CAPTURE(refused);
        memory_storage storage;
        {
            asio::io_context elsewhere;
            task_rig tasks({.executor = elsewhere.get_executor(), .storage = &storage});
            tasks->define("limited", [] { throw std::runtime_error("again"); },
                          {.attempts = 5, .backoff = backoff::constant(1s), .timeout = 1h});
            tasks->add({.name = "a", .job = "limited"});
            tasks.pass(20ms);
            for (std::uint32_t attempt = 1; attempt < refused; ++attempt) {
                elsewhere.poll();
                elsewhere.restart();
                tasks.pass(1s);
            }
            tasks.at.wheel.stop();
            tasks.run();
            elsewhere.poll();
            CHECK(tasks->counts().jobs == 0);
            CHECK(tasks->find("a")->history.size() == refused - 1);
        }
        REQUIRE(storage.load().tasks.size() == 1);
        const auto runs = storage.load().tasks[0].runs;
        REQUIRE(runs.size() == 1);
        CHECK(runs[0].attempt == refused);
        CHECK(runs[0].retry_at.has_value()); // it has not begun
        next_process p(storage, 10s);
        p.tasks->define("limited", p.tasks.note());
        const auto found = p.tasks->recover();
        CHECK(found.interrupted.empty());
        p.tasks.pass(20ms);
        CHECK(p.tasks->find("a")->history.at(0).attempt == refused);
    }
}

namespace {

/// One thread, that a job holds from time to time; time stands still.
struct held_pool {
    virtual_wheel at{{.tick = 10ms}};
    semaphore began{0}, gate{0};
    task_scheduler tasks;

    explicit held_pool(full_policy policy)
        : tasks((task_wall::present = task_noon, at.wheel), {.pool = {.threads = 1, .queue = 0, .when_full = policy}},
                std::type_identity<task_wall>()) {}

    ~held_pool() { gate.release(2); } // also when a check has failed

    void pass(std::chrono::nanoseconds by) {
        for (; by > 0ns; by -= 10ms) {
            task_wall::present += 10ms;
            at.pass(10ms);
        }
    }
    void hold(const char* name) {
        tasks.add({.name = name}, [this] {
            began.release();
            gate.acquire();
        });
        pass(10ms);
        began.acquire();
    }
    // The scheduler hears of it a moment after the job has said so.
    void settle(std::size_t jobs) {
        ask_until([&] { return tasks.counts().jobs == jobs; });
    }
};

} // namespace

TEST_CASE("task_that_waited_for_a_thread_and_got_it_is_not_disturbed_when_its_patience_would_end") {
    held_pool pool(full_policy::wait_for(100ms));
    pool.hold("holds");
    bool told = true;
    pool.tasks.add({.name = "a"}, [&](task_run& run) {
        pool.began.release();
        pool.gate.acquire();
        told = run.stop_requested();
    });
    pool.pass(20ms);
    CHECK(pool.at.wheel.pending() == 1);
    pool.gate.release();
    pool.began.acquire();
    CHECK(pool.at.wheel.pending() == 0);
    pool.pass(1s);
    pool.gate.release();
    pool.settle(0);
    CHECK(!told);
    CHECK(pool.tasks.find("a")->state == task_state::completed);
}

TEST_CASE("task_attempt_that_never_began_has_neither_begun_before_nor_lasted") {
    held_pool pool(full_policy::reject());
    pool.tasks.add({.name = "a"}, [] { throw std::runtime_error("again"); },
                   {.attempts = 3, .backoff = backoff::constant(1s)});
    pool.pass(10ms);
    ask_until([&] { return !pool.tasks.find("a")->history.empty(); });
    pool.hold("holds");
    pool.pass(5s);
    const auto history = pool.tasks.find("a")->history;
    REQUIRE(history.size() == 3);
    CHECK(history[0].started == task_noon + 10ms);
    for (std::uint32_t n = 1; n < 3; ++n) {
        CAPTURE(n);
        CHECK(history[n].attempt == n + 1);
        CHECK(history[n].state == task_state::failed);
        CHECK(history[n].message == make_error_code(task_errc::queue_full).message());
        CHECK(history[n].ended == task_noon + 10ms + n * 1s);
        CHECK(history[n].started == history[n].ended);
    }
    pool.gate.release();
}

TEST_CASE("task_cancelled_before_its_attempt_began_has_no_history") {
    asio::io_context elsewhere;
    task_rig tasks({.executor = elsewhere.get_executor()});
    tasks->add({.name = "a"}, tasks.note());
    tasks.pass(20ms);
    tasks->cancel("a");
    elsewhere.poll();
    CHECK(tasks->find("a")->history.empty());
    CHECK(tasks->find("a")->cancelled == 1);
}

TEST_CASE("task_observer_hears_how_each_task_ends") {
    said_events events;
    task_rig tasks({.observer = &events});
    const auto fails = [] { throw std::runtime_error("no"); };
    const job_options again{.attempts = 2, .backoff = backoff::constant(1s)};
    tasks->add({.name = "a", .when = task_trigger::once(1h)}, tasks.note());
    tasks->cancel("a");
    CHECK(events.take() == said{"a added 0", "a finished 0"});

    tasks->add({.name = "b"}, deaf(tasks, 1s));
    tasks.pass(20ms);
    tasks->cancel("b");
    CHECK(events.take() == said{"b added 0", "b started 1"}); // its job goes on
    tasks.pass(2s);
    CHECK(events.take() == said{"b cancelled 1: too late", "b finished 0: too late"});

    tasks->add({.name = "c"}, fails, again);
    tasks.pass(20ms);
    tasks->cancel("c");
    CHECK(events.take() == said{"c added 0", "c started 1", "c retrying 1: no", "c cancelled 1", "c finished 0"});

    tasks->add({.name = "d"}, fails, again);
    tasks.pass(20ms);
    tasks->add({.name = "d", .when = task_trigger::once(1s)}, tasks.note(), {}, on_duplicate::replace);
    tasks.pass(2s);
    CHECK(events.take() == said{"d added 0", "d started 1", "d retrying 1: no", "d cancelled 1", "d added 0",
                                "d started 1", "d completed 1", "d finished 0"});

    tasks->add({.name = "e", .when = task_trigger::once(1s), .misfire = task_misfire::skip()}, tasks.note());
    tasks.leap(1h);
    CHECK(events.take() == said{"e added 0", "e finished 0: " + make_error_code(task_errc::missed).message()});

    tasks->add({.name = "f"}, fails);
    tasks.pass(20ms);
    CHECK(events.take() == said{"f added 0", "f started 1", "f failed 1: no", "f finished 0: no"});

    tasks->add({.name = "g"}, fails, again);
    tasks->add({.name = "h", .when = task_trigger::once(1h)}, tasks.note());
    tasks.pass(20ms);
    events.take();
    tasks->stop();
    CHECK(events.take() == said{"g cancelled 1"}); // finished is neither
}

TEST_CASE("task_observer_and_storage_hear_nothing_of_jobs_that_outlive_the_scheduler") {
    asio::io_context elsewhere;
    auto storage = std::make_optional<memory_storage>();
    auto events = std::make_optional<said_events>();
    asio::steady_timer never(elsewhere, std::chrono::steady_clock::time_point::max());
    {
        task_rig tasks({.executor = elsewhere.get_executor(), .storage = &*storage, .observer = &*events});
        const auto job = [&](task_run&) -> asio::awaitable<void> {
            co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
            co_await never.async_wait(asio::use_awaitable);
        };
        tasks->define("job", job);
        tasks->add({.name = "a", .job = "job"});
        tasks->add({.name = "b"}, job);
        tasks.pass(20ms);
        elsewhere.poll();
    }
    const auto said_before = events->take();
    CHECK(said_before.size() == 4);
    CHECK(storage->size() == 1);
    never.cancel();
    elsewhere.restart();
    elsewhere.run();
    CHECK(events->take() == said{});
    CHECK(storage->size() == 1); // as it was left for recover()
}
