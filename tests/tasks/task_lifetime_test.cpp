// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Who is destroyed when, and where: jobs whose captures call the scheduler, coroutines that outlive it, long lines of
// runs.
#include "support/tasks/task_rig.hpp"
#include "support/threads.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

/// A capture that asks the scheduler something when it is destroyed: a deadlock, if that happens under the lock.
struct asks_at_its_end {
    task_scheduler* tasks;
    int* asked;
    asks_at_its_end(task_scheduler* t, int* n) : tasks(t), asked(n) {}
    asks_at_its_end(const asks_at_its_end&) = delete;
    asks_at_its_end& operator=(const asks_at_its_end&) = delete;
    ~asks_at_its_end() {
        tasks->find("somebody");
        ++*asked;
    }
};

struct asking_rig : task_rig {
    using task_rig::task_rig;
    int asked = 0;
    auto job() {
        return [last = std::make_shared<asks_at_its_end>(&**this, &asked)] {};
    }
    task_scheduler& operator*() { return *operator->(); }
};

} // namespace

TEST_CASE("task_captures_are_destroyed_without_the_lock") {
    asking_rig tasks({.finished = 1});
    tasks->add({.name = "forgotten"}, tasks.job());
    tasks.pass(20ms);
    CHECK(tasks->forget("forgotten"));
    CHECK(tasks.asked == 1);

    tasks->add({.name = "replaced", .when = task_trigger::once(1h)}, tasks.job());
    tasks->add({.name = "replaced", .when = task_trigger::once(1h)}, [] {}, {}, on_duplicate::replace);
    CHECK(tasks.asked == 2);

    tasks->define("job", tasks.job());
    tasks->define("job", [] {});
    CHECK(tasks.asked == 3);

    tasks->add({.name = "refused", .when = task_trigger::every(0s)}, tasks.job());
    CHECK(tasks.asked == 4);

    tasks->add({.name = "first to finish"}, tasks.job());
    tasks.pass(20ms);
    tasks->add({.name = "second to finish"}, [] {});
    tasks.pass(20ms);
    CHECK(tasks.asked == 5);

    tasks.at.wheel.stop();
    tasks->add({.name = "refused by the wheel"}, tasks.job());
    CHECK(tasks.asked == 6);
}

TEST_CASE("task_cancelled_and_forgotten_at_once_is_destroyed_without_the_lock") {
    asking_rig tasks({.finished = 0});
    tasks->add({.name = "a", .when = task_trigger::once(1h)}, tasks.job());
    tasks->cancel("a");
    CHECK(tasks.asked == 1);
}

TEST_CASE("task_replaced_while_its_coroutine_hangs_leaks_nothing") {
    auto held = std::make_shared<int>(0);
    {
        asio::io_context elsewhere;
        task_rig tasks({.executor = elsewhere.get_executor()});
        tasks->add({.name = "a"}, [&tasks, held]() -> asio::awaitable<void> {
            co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
            co_await tasks.at.wheel.async_wait(1h, asio::use_awaitable);
        });
        tasks.pass(20ms);
        elsewhere.poll();
        tasks->add({.name = "a", .when = task_trigger::once(1h)}, [] {}, {}, on_duplicate::replace);
        CHECK(tasks->counts().jobs == 1);
    }
    CHECK(held.use_count() == 1);
}

TEST_CASE("task_long_line_of_waiting_runs_does_not_use_up_the_stack") {
    asio::io_context elsewhere;
    task_rig tasks({.executor = elsewhere.get_executor(), .history = 0});
    std::uint64_t runs = 0;
    tasks->add({.name = "a", .when = task_trigger::every(1ms), .misfire = task_misfire::catch_up(~0U)},
               [&] { ++runs; });
    tasks.leap(100s);
    while (elsewhere.poll() != 0) elsewhere.restart();
    CHECK(runs == 100'000);
}

TEST_CASE("task_long_line_that_the_pool_rejects_or_the_caller_runs_does_not_use_up_the_stack") {
    for (const full_policy policy : {full_policy::reject(), full_policy::run_on_caller()}) {
        virtual_wheel at{{.tick = 10ms}};
        std::atomic<bool> busy{false}, go{false};
        std::uint64_t runs = 0;
        {
            task_scheduler tasks(at.wheel, {.pool = {.threads = 1, .queue = 0, .when_full = policy}, .history = 0});
            tasks.add({.name = "holds"}, [&] {
                busy = true;
                while (!go) std::this_thread::yield();
            });
            at.pass(10ms);
            while (!busy) std::this_thread::yield();
            tasks.add({.name = "a", .when = task_trigger::every(1ms), .misfire = task_misfire::catch_up(~0U)},
                      [&] { ++runs; });
            at.pass(100s);
            const auto a = tasks.find("a").value();
            CHECK(a.completed + a.failed >= 99'990);
            CHECK(a.completed == runs);
            go = true;
        }
    }
}

// The coroutine's last reference to its strand goes on the wheel's thread, when the pool may be gone.
TEST_CASE("task_pool_coroutines_that_used_the_wheel_end_with_the_scheduler") {
    asio::io_context io;
    auto work = asio::make_work_guard(io);
    timer_wheel wheel(io, {.tick = 1ms});
    std::thread one([&] { io.run(); }), two([&] { io.run(); });
    for (int round = 0; round < 50; ++round) {
        std::atomic<int> ended{0};
        task_scheduler tasks(wheel, {.pool = {.threads = 2}});
        for (int i = 0; i < 4; ++i) {
            tasks.add({.name = std::to_string(i)}, [&]() -> asio::awaitable<void> {
                co_await wheel.async_wait(1ms, asio::use_awaitable);
                ++ended;
            });
        }
        while (ended < 4) std::this_thread::yield();
    }
    work.reset();
    one.join();
    two.join();
}

TEST_CASE("task_cancel_that_meets_the_start_of_a_coroutine_reaches_it") {
    asio::io_context io;
    auto work = asio::make_work_guard(io);
    timer_wheel wheel(io, {.tick = 1ms});
    std::thread loop([&] { io.run(); });
    {
        task_scheduler tasks(wheel, {.pool = {.threads = 2}});
        for (int round = 0; round < 200; ++round) {
            std::atomic<bool> begins{false};
            tasks.add({.name = "a"}, [&]() -> asio::awaitable<void> {
                begins = true;
                co_await wheel.async_wait(1h, asio::use_awaitable);
            });
            ask_until([&] { return tasks.find("a")->attempt != 0; });
            for (int spin = 0; spin < round; ++spin) std::this_thread::yield();
            tasks.cancel("a");
            ask_until([&] { return tasks.counts().running == 0; });
            tasks.forget("a");
        }
    }
    work.reset();
    loop.join();
    CHECK(wheel.pending() == 0);
}

TEST_CASE("task_run_that_waits_for_its_next_attempt_goes_with_its_scheduler") {
    const auto life = std::make_shared<int>();
    {
        task_rig tasks;
        tasks->add({.name = "a"}, [life] { throw std::runtime_error("again"); },
                   {.attempts = 2, .backoff = backoff::constant(1h)});
        tasks.pass(20ms);
        CHECK(tasks->find("a")->history.size() == 1);
        CHECK(life.use_count() > 1);
    }
    CHECK(life.use_count() == 1);
}
