// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The trace of the caller reaches the job: in each attempt, after a restart, in logs and spans.
#include "support/tasks/task_rig.hpp"

#include <cogwheel/tasks/task_log.hpp>

#include <doctest/doctest.h>

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

const std::string task_trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

} // namespace

TEST_CASE("task_trace_is_that_of_each_attempt_and_run") {
    task_rig tasks;
    std::vector<std::string> seen;
    tasks->add({.name = "a", .when = task_trigger::every(1s).times(2), .traceparent = task_trace},
               [&](task_run& run) {
                   seen.push_back(run.traceparent());
                   if (run.attempt() == 1) throw std::runtime_error("again");
               },
               {.attempts = 2, .backoff = backoff::constant(10ms)});
    tasks.pass(3s);
    CHECK(seen == std::vector(4, task_trace));
    CHECK(tasks->find("a")->traceparent == task_trace);
    CHECK(to_json(tasks->snapshot()).find("\"traceparent\":\"" + task_trace) != std::string::npos);
}

TEST_CASE("task_trace_without_one_is_empty") {
    task_rig tasks;
    std::string seen = "none";
    tasks->add({.name = "a"}, [&](task_run& run) { seen = run.traceparent(); });
    tasks.pass(1s);
    CHECK(seen.empty());
}

TEST_CASE("task_trace_survives_a_restart") {
    memory_storage storage;
    std::vector<std::string> seen;
    const auto job = [&](task_run& run) { seen.push_back(run.traceparent()); };
    {
        task_rig tasks({.storage = &storage});
        tasks->define("job", job);
        CHECK(!tasks->add({.name = "a", .when = task_trigger::once(1s), .job = "job", .traceparent = task_trace}));
    }
    task_rig later({.storage = &storage});
    later->define("job", job);
    CHECK(later->recover().tasks == 1);
    later.pass(2s);
    CHECK(seen == std::vector{task_trace});
}

TEST_CASE("task_trace_that_is_none_is_refused") {
    task_rig tasks;
    for (std::string bad : {std::string("x"), task_trace + "0", task_trace.substr(1), "FF" + task_trace.substr(2),
                            "ff" + task_trace.substr(2), "00_" + task_trace.substr(3), task_trace + "\r\n"}) {
        CAPTURE(bad);
        CHECK(tasks->add({.name = "a", .traceparent = bad}, [] {}) == task_errc::bad_trace);
    }
    CHECK(tasks->snapshot().empty());
    CHECK(!tasks->add({.name = "a", .traceparent = task_trace}, [] {}));
}

TEST_CASE("task_trace_damaged_in_a_storage_is_dropped_with_a_warning") {
    memory_storage storage;
    task_record record;
    record.task = {.name = "a", .when = task_trigger::once(1s), .job = "job", .traceparent = "damaged"};
    record.runs_left = 1;
    record.next = task_noon + 1s;
    storage.save(record);
    task_rig tasks({.storage = &storage});
    std::string seen = "none";
    tasks->define("job", [&](task_run& run) { seen = run.traceparent(); });
    const task_recovery found = tasks->recover();
    CHECK(found.tasks == 1);
    CHECK(found.warnings == std::vector<std::string>{"task 'a' loses its traceparent, which is not one"});
    tasks.pass(2s);
    CHECK(seen.empty());
}

TEST_CASE("task_trace_stands_in_the_log_and_the_spans") {
    std::ostringstream out;
    task_log log(out);
    task_rig logged({.observer = &log});
    logged->add({.name = "a", .traceparent = task_trace}, [] {});
    logged.pass(1s);
    CHECK(out.str().find(R"("event":"completed","task":"a","run":1,"attempt":1,"message":"","traceparent":")" +
                         task_trace) != std::string::npos);

    std::vector<std::string> seen;
    task_spans spans([&](const task_span& s) { seen.emplace_back(s.traceparent); });
    task_rig spanned({.observer = &spans});
    spanned->add({.name = "a", .traceparent = task_trace}, [] {});
    spanned.pass(1s);
    CHECK(seen == std::vector{task_trace});
}
