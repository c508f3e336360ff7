// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// No memory for a timer just when a task, a retry or a limit wants one. (All other allocations: tests/failure.)
#include "src/tasks/task_scheduler_impl.hpp"
#include "support/tasks/task_rig.hpp"

#include <doctest/doctest.h>

#include <future>
#include <new>
#include <stdexcept>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;
using detail::any_token;
using detail::task_scheduler_impl;
using detail::timer_target;

namespace {

/// A wheel without memory for some timers.
class poor_wheel final : public detail::task_wheel {
public:
    poor_wheel(virtual_wheel& on, int& failures) : on_(on.wheel), failures_(failures) {}

    nanoseconds now() const override { return on_.now(); }
    nanoseconds wall() const override { return on_.wall(); }
    std::error_code arm(any_token& t, nanoseconds due, const std::weak_ptr<timer_target>& to, std::uint64_t number,
                        bool admitted) override {
        if (failures_ != 0 && failures_-- > 0) throw std::bad_alloc();
        return on_.arm(t, due, to, number, admitted);
    }
    void cancel(const any_token& t) noexcept override { on_.cancel(t); }
    void expire(const any_token& t) noexcept override { on_.expire(t); }
    asio::any_io_executor work() const override { return on_.work(); }

private:
    detail::task_wheel_on<decltype(virtual_wheel::wheel), task_wall> on_;
    int& failures_;
};

struct poor_tasks {
    explicit poor_tasks(task_scheduler_options options = {}) {
        task_wall::present = task_noon;
        if (options.pool.threads == 0) options.executor = at.io.get_executor();
        core = std::make_shared<task_scheduler_impl>(std::make_unique<poor_wheel>(at, failures), std::move(options));
    }
    ~poor_tasks() { core->end(); }

    void add(task t, task_job job, job_options options = {}) {
        const auto own = std::make_shared<const detail::defined_job>(std::move(job), std::move(options));
        REQUIRE_FALSE(core->add(std::move(t), own, on_duplicate::reject));
    }
    task_job note() {
        return task_job([this] { ++ran; });
    }

    virtual_wheel at;
    int failures = 0; // of the next timers
    int ran = 0;
    std::shared_ptr<task_scheduler_impl> core;
};

} // namespace

TEST_CASE("task_memory_a_task_that_comes_due_without_any_comes_due_again") {
    poor_tasks tasks;
    tasks.add({.name = "a", .when = task_trigger::every(100ms).times(2)}, tasks.note());
    tasks.failures = 1; // for the point after
    CHECK_THROWS_AS(tasks.at.pass(100ms), std::bad_alloc);
    CHECK(tasks.ran == 0);
    CHECK(tasks.core->find("a")->runs_left == 2);
    tasks.at.pass(10ms);
    CHECK(tasks.ran == 1);
    CHECK(tasks.core->find("a")->missed == 0);
    tasks.at.pass(90ms);
    CHECK(tasks.core->find("a")->completed == 2);
    CHECK(tasks.core->find("a")->state == task_state::completed);
}

TEST_CASE("task_memory_a_task_without_a_timer_gets_one_when_the_scheduler_is_used_next") {
    poor_tasks tasks;
    tasks.add({.name = "a", .when = task_trigger::every(10ms)}, tasks.note());
    tasks.failures = 2; // for the point after, and for another try
    CHECK_THROWS_AS(tasks.at.pass(10ms), std::bad_alloc);
    CHECK(tasks.at.wheel.pending() == 0);
    tasks.failures = 1;
    CHECK_FALSE(tasks.core->forget("no such task"));
    CHECK(tasks.at.wheel.pending() == 0);
    CHECK_FALSE(tasks.core->forget("no such task"));
    CHECK(tasks.at.wheel.pending() == 1);
    tasks.at.pass(10ms);
    CHECK(tasks.ran == 1);
}

TEST_CASE("task_memory_a_task_without_a_timer_is_cancelled_while_its_job_runs") {
    poor_tasks tasks;
    tasks.add({.name = "a", .when = task_trigger::every(10ms)}, task_job([&] {
                  ++tasks.ran;
                  tasks.failures = 2;
                  CHECK_THROWS_AS(tasks.at.pass(10ms), std::bad_alloc);
                  tasks.failures = 1;
                  CHECK(tasks.core->cancel("a") == task_cancel_result::running);
                  CHECK_FALSE(tasks.core->forget("no such task"));
                  CHECK(tasks.at.wheel.pending() == 0);
              }));
    tasks.at.pass(10ms);
    CHECK(tasks.ran == 1);
    CHECK(tasks.core->find("a")->state == task_state::cancelled);
}

TEST_CASE("task_memory_a_task_that_was_cancelled_before_it_came_back_does_not_hold_run") {
    poor_tasks tasks;
    tasks.add({.name = "a", .when = task_trigger::every(10ms)}, tasks.note());
    tasks.failures = 1;
    CHECK_THROWS_AS(tasks.at.pass(10ms), std::bad_alloc);
    CHECK(tasks.core->cancel("a") == task_cancel_result::cancelled);
    tasks.at.run();
    CHECK(tasks.at.io.stopped()); // no work is left
    CHECK(tasks.core->counts().jobs == 0);
}

TEST_CASE("task_memory_a_timer_that_all_were_cancelled_with_comes_back") {
    poor_tasks tasks;
    tasks.add({.name = "a", .when = task_trigger::every(10ms)}, tasks.note());
    tasks.at.wheel.cancel_all();
    tasks.failures = 1;
    CHECK_THROWS_AS(tasks.at.run(), std::bad_alloc);
    tasks.at.pass(10ms);
    CHECK(tasks.ran == 1);
}

TEST_CASE("task_memory_a_retry_without_a_timer_has_failed") {
    memory_storage storage;
    poor_tasks tasks({.storage = &storage});
    tasks.add({.name = "a", .when = task_trigger::once(10ms)}, task_job([&] {
                  tasks.failures = 1;
                  throw std::runtime_error("the first time");
              }),
              {.attempts = 2, .backoff = backoff::constant(10ms)});
    tasks.at.pass(10ms);
    const auto info = tasks.core->find("a");
    CHECK(info->state == task_state::failed);
    CHECK(info->failed == 1);
    CHECK(info->message == std::make_error_code(std::errc::not_enough_memory).message());
    CHECK(tasks.core->counts().jobs == 0);
}

TEST_CASE("task_memory_an_attempt_without_a_timer_for_its_limit_is_made_again") {
    poor_tasks tasks;
    tasks.add({.name = "a", .when = task_trigger::once(10ms)}, task_job([&](task_run& run) {
                  CHECK(run.attempt() == 1);
                  ++tasks.ran;
              }),
              {.timeout = 1h});
    tasks.failures = 1; // for the limit
    tasks.at.pass(10ms);
    CHECK(tasks.ran == 1);
    CHECK(tasks.core->find("a")->state == task_state::completed);
}

TEST_CASE("task_memory_in_line_without_a_timer_for_its_patience_is_rejected") {
    std::promise<void> begun, free; // outlive the thread of the pool
    poor_tasks tasks({.pool = {.threads = 1, .queue = 0, .when_full = full_policy::wait_for(1h)}});
    tasks.add({.name = "first", .when = task_trigger::once(10ms)}, task_job([&] {
                  begun.set_value();
                  free.get_future().wait();
              }));
    tasks.at.pass(10ms);
    begun.get_future().wait();
    tasks.add({.name = "second", .when = task_trigger::once(10ms)}, tasks.note());
    tasks.failures = 1;
    tasks.at.pass(10ms);
    CHECK(tasks.core->find("second")->state == task_state::failed);
    CHECK(tasks.core->find("second")->message == std::make_error_code(std::errc::not_enough_memory).message());
    free.set_value();
}
