// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What holds where nothing was asked for, and limits that are written in the headers.
#include "src/tasks/task_machine.hpp"
#include "support/tasks/task_rig.hpp"

#include <asio/error.hpp>
#include <doctest/doctest.h>

#include <algorithm>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE("task_options_by_default_are_as_their_headers_say") {
    const job_options job;
    CHECK(job.attempts == 1);
    CHECK(job.backoff.without_jitter(1) == 1s);
    CHECK(job.backoff.without_jitter(2) == 2s);
    CHECK(job.backoff.without_jitter(7) == 1min);
    CHECK_FALSE(job.timeout);
    const task_scheduler_options options;
    CHECK(options.pool.threads == 0);
    CHECK(options.pool.queue == 1024);
    CHECK((options.pool.when_full.what() == full_policy::kind::wait));
    CHECK(options.misfire_grace == 1s);
    CHECK(options.storage_pause == 1s);
    CHECK(options.recheck == 1min);
}

TEST_CASE("task_run_throws_if_it_was_told_to_stop_and_only_then") {
    task_rig tasks;
    std::error_code thrown;
    bool went_on = false;
    tasks->add({.name = "a", .when = task_trigger::once(1s)}, [&](task_run& run) {
        run.throw_if_stopped();
        went_on = true;
        tasks->cancel(run.name());
        try {
            run.throw_if_stopped();
        } catch (const std::system_error& e) {
            thrown = e.code();
        }
    });
    tasks.pass(2s);
    CHECK(went_on);
    CHECK(thrown == asio::error::operation_aborted);
}

TEST_CASE("task_machine_of_an_expression_counts_ten_thousand_points_and_no_more") {
    for (const std::int64_t missed :
         {std::int64_t{9'998}, std::int64_t{9'999}, std::int64_t{10'000}, std::int64_t{50'000}}) {
        CAPTURE(missed);
        task t;
        t.when = task_trigger::cron("* * * * * *");
        t.misfire = task_misfire::skip();
        detail::task_machine m(t, 100ms);
        m.begin(0s);
        CHECK(m.expired(std::chrono::seconds(missed) + 500ms).begin.empty());
        CHECK(m.missed() == static_cast<std::uint64_t>(std::min<std::int64_t>(missed + 1, 10'000)));
    }
}
