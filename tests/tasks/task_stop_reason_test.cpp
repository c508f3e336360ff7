// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A job can ask why it is told to stop.
#include "support/tasks/task_rig.hpp"

#include <asio/use_awaitable.hpp>
#include <doctest/doctest.h>

#include <vector>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

using reasons = std::vector<task_stop_reason>;

/// Its job waits for an hour, and notes why it is told to stop.
struct stopping_rig {
    task_rig tasks;
    reasons seen;

    auto job() {
        return [this](task_run& run) -> asio::awaitable<void> {
            CHECK(run.stop_reason() == task_stop_reason::none);
            try {
                co_await tasks.at.wheel.async_wait(1h, asio::use_awaitable);
            } catch (const std::system_error&) {
                seen.push_back(run.stop_reason());
                throw;
            }
        };
    }
};

} // namespace

TEST_CASE("stop_reason_timeout_of_each_attempt") {
    stopping_rig r;
    r.tasks->add({.name = "a"}, r.job(), {.attempts = 2, .timeout = 2s});
    r.tasks.pass(1min);
    CHECK(r.seen == reasons{task_stop_reason::timeout, task_stop_reason::timeout});
}

TEST_CASE("stop_reason_cancelled") {
    stopping_rig r;
    r.tasks->add({.name = "a"}, r.job());
    r.tasks.pass(1s);
    r.tasks->cancel("a");
    r.tasks.run();
    CHECK(r.seen == reasons{task_stop_reason::cancelled});
}

TEST_CASE("stop_reason_replaced_by_the_next_run_or_by_another_task") {
    stopping_rig r;
    r.tasks->add({.name = "a", .when = task_trigger::every(1s).times(2), .overlap = task_overlap::replace}, r.job());
    r.tasks.pass(2s);
    r.tasks.run();
    CHECK(r.seen == reasons{task_stop_reason::replaced});
    r.tasks->add({.name = "a", .when = task_trigger::once(1h)}, [] {}, {}, on_duplicate::replace);
    r.tasks.run();
    CHECK(r.seen == reasons{task_stop_reason::replaced, task_stop_reason::replaced});
}

TEST_CASE("stop_reason_stopped") {
    stopping_rig r;
    r.tasks->add({.name = "a"}, r.job());
    r.tasks.pass(1s);
    r.tasks->stop();
    r.tasks.run();
    CHECK(r.seen == reasons{task_stop_reason::stopped});
}

TEST_CASE("stop_reason_of_a_job_that_does_not_heed_its_timeout") {
    stopping_rig r;
    r.tasks->add({.name = "a"},
                 [&](task_run& run) -> asio::awaitable<void> {
                     co_await asio::this_coro::throw_if_cancelled(false);
                     for (int i = 0; i < 2; ++i) {
                         co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
                         co_await r.tasks.at.wheel.async_wait(10s, asio::use_awaitable);
                         r.seen.push_back(run.stop_reason());
                     }
                 },
                 {.timeout = 5s});
    r.tasks.pass(15s);
    CHECK(r.seen == reasons{task_stop_reason::timeout});
    r.tasks->cancel("a");
    r.tasks.pass(10s);
    CHECK(r.seen == reasons{task_stop_reason::timeout, task_stop_reason::cancelled});
}
