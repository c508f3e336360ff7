// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The scheduler's own pool: real threads, and what each policy does when they are busy and the queue is full.
#include "support/tasks/semaphore.hpp"
#include "support/tasks/task_rig.hpp"
#include "support/threads.hpp"

#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

/// One thread, a queue for one job, and a job that holds the thread until the gate is opened.
struct busy_pool {
    virtual_wheel at{{.tick = 10ms}};
    semaphore gate{0}, done{0};
    semaphore busy{0};
    std::atomic<int> ran{0};
    std::thread::id ran_on;
    std::optional<task_scheduler> tasks;

    explicit busy_pool(full_policy policy) {
        task_wall::present = task_noon;
        tasks.emplace(at.wheel, task_scheduler_options{.pool = {.threads = 1, .queue = 1, .when_full = policy}},
                      std::type_identity<task_wall>());
        tasks->add({.name = "holds"}, [this] {
            busy.release();
            gate.acquire();
            done.release();
        });
        at.pass(10ms);
        busy.acquire();
        tasks->add({.name = "queued"}, note());
        at.pass(10ms);
        tasks->add({.name = "third"}, note());
        at.pass(10ms);
    }
    std::function<void()> note() {
        return [this] {
            ran_on = std::this_thread::get_id();
            ++ran;
            done.release();
        };
    }
    void open(int jobs) {
        gate.release();
        for (int i = 0; i < jobs; ++i) done.acquire();
    }
    // The job has said that it is done; the scheduler hears of it a moment later.
    task_state state_of(const char* name) {
        for (;;) {
            const auto t = tasks->find(name).value();
            if (t.state != task_state::queued && t.state != task_state::running) return t.state;
            std::this_thread::yield();
        }
    }
};

} // namespace

TEST_CASE("pool_without_a_queue_runs_as_many_coroutines_at_once_as_it_has_threads") {
    virtual_wheel at{{.tick = 10ms}};
    task_wall::present = task_noon;
    semaphore begun{0};
    task_scheduler tasks(at.wheel, {.pool = {.threads = 2, .queue = 0}}, std::type_identity<task_wall>());
    for (const char* name : {"first", "second", "third"})
        tasks.add({.name = name}, [&]() -> asio::awaitable<void> {
            asio::steady_timer never(co_await asio::this_coro::executor, asio::steady_timer::time_point::max());
            begun.release();
            co_await never.async_wait(asio::use_awaitable);
        });
    at.pass(10ms);
    for (int i = 0; i < 2; ++i) begun.acquire();
    CHECK(tasks.find("third")->state == task_state::queued); // although both threads wait for work
    CHECK(tasks.counts().running == 2);
    tasks.cancel("first");
    begun.acquire(); // the third one
    CHECK(tasks.find("second")->state == task_state::running);
    CHECK(tasks.find("third")->state == task_state::running);
}

TEST_CASE("pool_whose_threads_are_busy_what_is_due_is_queued") {
    busy_pool pool(full_policy::wait());
    CHECK(pool.tasks->find("holds")->state == task_state::running);
    CHECK(pool.tasks->find("queued")->state == task_state::queued); // in the pool
    CHECK(pool.tasks->find("third")->state == task_state::queued);  // in line for it
    CHECK(to_string(pool.tasks->find("third")->state) == "queued");
    pool.tasks->add({.name = "later", .when = task_trigger::once(1h)}, [] {});
    const task_counts n = pool.tasks->counts();
    CHECK(n.pending == 1);
    CHECK(n.queued == 2);
    CHECK(n.running == 1);
    CHECK(n.finished == 0);
    CHECK(n.jobs == 3);
    pool.open(3);
    CHECK(pool.state_of("third") == task_state::completed);
}

TEST_CASE("pool_a_queued_run_beside_one_that_runs_is_a_running_task") {
    busy_pool pool(full_policy::wait());
    semaphore begun{0}, end{0};
    pool.tasks->add({.name = "twice", .when = task_trigger::every(10ms).times(2), .overlap = task_overlap::allow}, [&] {
        begun.release();
        end.acquire();
    });
    for (int turn = 0; turn < 5; ++turn) pool.at.pass(10ms);
    REQUIRE(pool.tasks->counts().jobs == 5);
    CHECK(pool.tasks->find("twice")->state == task_state::queued);
    pool.open(3);
    begun.acquire();
    CHECK(pool.tasks->find("twice")->state == task_state::running);
    end.release();
    begun.acquire();
    end.release();
    CHECK(pool.state_of("twice") == task_state::completed);
}

TEST_CASE("pool_that_is_full_wait_runs_it_later") {
    busy_pool pool(full_policy::wait());
    CHECK(pool.tasks->find("third")->state == task_state::queued);
    CHECK(pool.ran == 0);
    pool.open(3);
    CHECK(pool.state_of("third") == task_state::completed);
    CHECK(pool.ran == 2);
}

TEST_CASE("pool_that_is_full_reject_fails_the_attempt") {
    busy_pool pool(full_policy::reject());
    CHECK(pool.tasks->find("third")->state == task_state::failed);
    CHECK(pool.tasks->find("third")->message == make_error_code(task_errc::queue_full).message());
    pool.open(2);
    CHECK(pool.state_of("queued") == task_state::completed);
    CHECK(pool.ran == 1);
}

TEST_CASE("pool_that_is_full_wait_for_gives_up_after_its_time") {
    busy_pool pool(full_policy::wait_for(1s));
    pool.at.pass(980ms);
    CHECK(pool.tasks->find("third")->state == task_state::queued);
    pool.at.pass(30ms);
    CHECK(pool.tasks->find("third")->state == task_state::failed);
    CHECK(pool.tasks->find("third")->message == "it waited in line for the pool as long as it may, 1s");
    pool.open(2);
    CHECK(pool.state_of("queued") == task_state::completed);
}

TEST_CASE("pool_that_is_full_wait_for_runs_what_finds_room_in_time") {
    busy_pool pool(full_policy::wait_for(1s));
    pool.open(3);
    CHECK(pool.state_of("third") == task_state::completed);
    CHECK(pool.at.wheel.pending() == 0);
}

TEST_CASE("pool_that_is_full_run_on_caller_runs_it_in_the_wheels_turn") {
    busy_pool pool(full_policy::run_on_caller());
    CHECK(pool.ran == 1);
    CHECK(pool.ran_on == std::this_thread::get_id());
    CHECK(pool.tasks->find("third")->state == task_state::completed);
    pool.open(2);
}

TEST_CASE("pool_in_line_cancelled_leaves_the_line") {
    busy_pool pool(full_policy::wait());
    CHECK(pool.tasks->cancel("third") == task_cancel_result::cancelled);
    pool.open(2);
    CHECK(pool.state_of("queued") == task_state::completed);
    CHECK(pool.ran == 1);
}

TEST_CASE("pool_destroyed_with_jobs_in_line_waits_for_those_that_run") {
    std::atomic<bool> ended{false};
    virtual_wheel at{{.tick = 10ms}};
    semaphore busy{0};
    {
        task_scheduler tasks(at.wheel, {.pool = {.threads = 1, .queue = 4}});
        tasks.add({.name = "runs"}, [&](task_run& run) {
            busy.release();
            while (!run.stop_requested()) std::this_thread::yield();
            ended = true;
        });
        for (const char* name : {"b", "c", "d", "e", "f", "g"}) tasks.add({.name = name}, [] {});
        at.pass(10ms);
        busy.acquire();
    }
    CHECK(ended);
    CHECK(at.wheel.pending() == 0);
}

// Every one runs exactly once, whatever thread adds it.
TEST_CASE("pool_hundred_threads_add_a_hundred_thousand_tasks_and_each_runs_once") {
    constexpr int threads = 100, each = 1000;
    asio::io_context io;
    auto work = asio::make_work_guard(io);
    timer_wheel wheel(io, {.tick = 1ms});
    std::vector<std::atomic<int>> runs(threads * each);
    std::atomic<int> left{threads * each};
    std::promise<void> all;
    std::thread loop([&] { io.run(); });
    {
        task_scheduler tasks(wheel, {.pool = {.threads = 4, .queue = 64}, .finished = 0});
        std::vector<std::thread> adders;
        std::atomic<int> refused{0};
        for (int t = 0; t < threads; ++t) {
            adders.emplace_back([&, t] {
                for (int i = 0; i < each; ++i) {
                    const int n = t * each + i;
                    const auto when = task_trigger::once(std::chrono::milliseconds(n % 50));
                    refused += static_cast<bool>(tasks.add({.name = std::to_string(n), .when = when}, [&, n] {
                        ++runs[static_cast<std::size_t>(n)];
                        if (--left == 0) all.set_value();
                    }));
                }
            });
        }
        for (auto& a : adders) a.join();
        CHECK(refused == 0);
        all.get_future().wait();
    }
    work.reset();
    loop.join();
    CHECK(std::all_of(runs.begin(), runs.end(), [](const std::atomic<int>& n) { return n == 1; }));
    CHECK(wheel.pending() == 0);
}

// Adding, cancelling and asking from everywhere, while jobs run and fail: the counts agree at the end.
TEST_CASE("pool_threads_add_cancel_and_ask_at_once") {
    asio::io_context io;
    auto work = asio::make_work_guard(io);
    timer_wheel wheel(io, {.tick = 1ms});
    std::thread loop([&] { io.run(); });
    std::atomic<int> ran{0}, added{0}, cancelled{0};
    {
        task_scheduler tasks(wheel, {.pool = {.threads = 2, .queue = 8}, .finished = 100'000});
        std::vector<std::thread> users;
        for (int t = 0; t < 4; ++t) {
            users.emplace_back([&, t] {
                for (int i = 0; i < 500; ++i) {
                    const std::string name = std::to_string(t) + '-' + std::to_string(i);
                    added += !tasks.add({.name = name, .when = task_trigger::once(std::chrono::milliseconds(i % 5))},
                                        [&](task_run& run) {
                                            ++ran;
                                            if (run.attempt() == 1) throw std::runtime_error("again");
                                        },
                                        {.attempts = 2, .backoff = backoff::constant(1ms), .timeout = 1min});
                    if (i % 3 == 0 && tasks.cancel(name) == task_cancel_result::cancelled) ++cancelled;
                    if (i % 50 == 0) tasks.snapshot();
                }
            });
        }
        for (auto& u : users) u.join();
        ask_until([&] { return tasks.counts().finished == static_cast<std::size_t>(added); });
        std::uint64_t completed = 0, gone = 0;
        for (const task_info& t : tasks.snapshot()) {
            completed += t.completed;
            gone += t.state == task_state::cancelled;
        }
        CHECK(added == 2000);
        CHECK(completed + gone == 2000);
        CHECK(static_cast<std::uint64_t>(ran) >= 2 * completed);
        CHECK(gone >= static_cast<std::uint64_t>(cancelled));
        CHECK(tasks.counts().jobs == 0);
    }
    work.reset();
    loop.join();
    CHECK(wheel.pending() == 0);
}
