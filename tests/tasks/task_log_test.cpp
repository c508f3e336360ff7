// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a task leaves behind for people and programs that look later: its result, a log, spans.
#include "support/tasks/task_rig.hpp"

#include <cogwheel/tasks/task_log.hpp>

#include <doctest/doctest.h>

#include <sstream>
#include <stdexcept>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE("task_result_is_in_history_and_storage") {
    memory_storage storage;
    {
        task_rig tasks({.storage = &storage});
        int runs = 0;
        tasks->define("count", [&](task_run& run) { run.result("run " + std::to_string(++runs)); });
        CHECK(!tasks->add({.name = "a", .when = task_trigger::every(1s), .job = "count"}));
        tasks.pass(2500ms);
        const auto a = tasks->find("a").value();
        REQUIRE(a.history.size() == 2);
        CHECK(a.history[0].result == "run 1");
        CHECK(a.history[1].result == "run 2");
        CHECK(a.result == "run 2");
        CHECK(to_json(std::vector{a}).find(R"("result":"run 2")") != std::string::npos);
    }
    task_rig later({.storage = &storage});
    later->define("count", [] {});
    CHECK(later->recover().tasks == 1);
    CHECK(later->find("a")->result == "run 2");
    later.pass(4s);                             // its clock begins at noon again
    CHECK(later->find("a")->result == "run 2"); // an attempt without a result keeps it
    CHECK(later->find("a")->history.at(0).result.empty());
}

TEST_CASE("task_result_of_a_failed_attempt_stays_and_the_next_begins_without") {
    task_rig tasks;
    int attempts = 0;
    tasks->add({.name = "a"},
               [&](task_run& run) {
                   if (++attempts == 2) return;
                   run.result("half");
                   throw std::runtime_error("no");
               },
               {.attempts = 2, .backoff = backoff::constant(10ms)});
    tasks.pass(1s);
    const auto a = tasks->find("a").value();
    REQUIRE(a.history.size() == 2);
    CHECK(a.history[0].result == "half");
    CHECK(a.history[1].result.empty());
    CHECK(a.result == "half");
}

TEST_CASE("task_result_has_a_limit") {
    task_rig tasks;
    std::string refused;
    tasks->add({.name = "a"}, [&](task_run& run) {
        run.result(std::string(task_run::max_result, 'x'));
        try {
            run.result(std::string(task_run::max_result + 1, 'y'));
        } catch (const std::length_error& e) {
            refused = e.what();
        }
    });
    tasks.pass(20ms);
    CHECK(refused.find("65537 bytes, but must not exceed 65536") != std::string::npos);
    CHECK(tasks->find("a")->result == std::string(task_run::max_result, 'x'));
}

TEST_CASE("task_log_writes_a_line_for_each_event") {
    std::ostringstream out;
    task_log log(out);
    task_rig tasks({.observer = &log});
    tasks->add({.name = "a \"b\"", .when = task_trigger::once(1s)}, [] { throw std::runtime_error("disk\nfull"); });
    tasks.pass(2s);
    CHECK(
        out.str() ==
        R"({"at":"2026-11-22T12:00:00Z","event":"added","task":"a \"b\"","run":0,"attempt":0,"message":""})"
        "\n"
        R"({"at":"2026-11-22T12:00:01Z","event":"started","task":"a \"b\"","run":1,"attempt":1,"message":""})"
        "\n"
        R"({"at":"2026-11-22T12:00:01Z","event":"failed","task":"a \"b\"","run":1,"attempt":1,"message":"disk\u000afull"})"
        "\n"
        R"({"at":"2026-11-22T12:00:01Z","event":"finished","task":"a \"b\"","run":0,"attempt":0,"message":"disk\u000afull"})"
        "\n");
}

TEST_CASE("task_spans_tell_each_execution_also_of_runs_at_once") {
    struct span {
        std::string task;
        std::uint64_t run;
        std::uint32_t attempt;
        std::chrono::nanoseconds from, took;
        task_state state;
        std::string message;
    };
    std::vector<span> seen;
    task_spans spans([&](const task_span& s) {
        seen.push_back({s.task, s.run, s.attempt, s.started - task_noon, s.ended - s.started, s.state, s.message});
    });
    task_rig tasks({.observer = &spans});
    tasks->add({.name = "a", .when = task_trigger::every(100ms).times(2), .overlap = task_overlap::allow},
               tasks.lasting(150ms));
    int attempts = 0;
    tasks->add({.name = "b", .when = task_trigger::once(1s)},
               [&] {
                   if (++attempts == 1) throw std::runtime_error("no");
               },
               {.attempts = 2, .backoff = backoff::constant(500ms)});
    tasks->add({.name = "never", .when = task_trigger::once(3s)}, [] {});
    tasks.pass(2s);
    tasks->cancel("never");
    REQUIRE(seen.size() == 4);
    CHECK(seen[0].task == "a");
    CHECK(seen[0].from == 100ms);
    CHECK(seen[0].took >= 150ms);
    CHECK(seen[1].from == 200ms);
    CHECK(seen[0].run != seen[1].run);
    CHECK(seen[2].task == "b");
    CHECK(seen[2].state == task_state::failed);
    CHECK(seen[2].message == "no");
    CHECK(seen[3].run == seen[2].run);
    CHECK(seen[3].attempt == 2);
    CHECK(seen[3].state == task_state::completed);
}
