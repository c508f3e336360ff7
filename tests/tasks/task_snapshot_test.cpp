// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Tasks as others see them: the table, JSON, and an observer.
#include "support/tasks/task_rig.hpp"

#include <cogwheel/tasks/task_table.hpp>

#include <doctest/doctest.h>

#include <span>
#include <stdexcept>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE("task_table_has_a_line_a_task") {
    task_rig tasks;
    tasks->add({.name = "backup", .when = task_trigger::cron("0 13 * * *")}, [] {});
    tasks->add({.name = "poll", .when = task_trigger::every(10s).times(3)},
               [] { throw std::runtime_error("no\nanswer"); });
    tasks.pass(15s);
    CHECK(task_table(tasks->snapshot(), task_wall::present) ==
          "NAME    WHEN                STATE    NEXT       RUNS  FAILED  LEFT  LAST TROUBLE\n"
          "backup  0 13 * * * UTC      pending  in 59m45s     0       0  -\n"
          "poll    every 10s, 3 times  pending  in 5s         0       1  2     no answer\n");
}

TEST_CASE("task_table_of_any_text_has_straight_columns_and_no_control_characters") {
    const auto named = [](const char* name) {
        task_info t;
        t.name = name;
        t.when = "once";
        t.message = "m\x1b[2J\xc2\x9bK\x7f\xc3"; // of 7 and of 8 bits, and half a character
        return t;
    };
    const std::vector<task_info> tasks{named("plain"), named("Z\xc3\xbcrich"), named("\xe6\x97\xa5\xe6\x9c\xac"),
                                       named("e\xcc\x81"), named("\xffx")};
    CHECK(task_table(tasks, task_noon) ==
          "NAME    WHEN  STATE    NEXT  RUNS  FAILED  LEFT  LAST TROUBLE\n"
          "plain   once  pending  -        0       0  0     m [2J K ?\n"
          "Z\xc3\xbcrich  once  pending  -        0       0  0     m [2J K ?\n"
          "\xe6\x97\xa5\xe6\x9c\xac    once  pending  -        0       0  0     m [2J K ?\n"
          "e\xcc\x81       once  pending  -        0       0  0     m [2J K ?\n"
          "?x      once  pending  -        0       0  0     m [2J K ?\n");
}

TEST_CASE("task_json_has_all_that_is_known") {
    task_rig tasks;
    tasks->add({.name = "a \"quoted\"", .when = task_trigger::once(1s)},
               [] { throw std::runtime_error("no\nanswer"); });
    tasks.pass(2s);
    CHECK(
        to_json(tasks->snapshot()) ==
        R"([{"name":"a \"quoted\"","job":"","when":"once after 1s","state":"failed","paused":false,"next":null,"runs_left":0,"attempt":0,)"
        R"("completed":0,"failed":1,"cancelled":0,"missed":0,"dropped":0,"message":"no\u000aanswer","result":"","traceparent":"","history":[)"
        R"({"scheduled":"2026-11-22T12:00:01Z","started":"2026-11-22T12:00:01Z","ended":"2026-11-22T12:00:01Z",)"
        R"("attempt":1,"state":"failed","message":"no\u000aanswer","result":""}]}])");
    CHECK(to_json({}) == "[]");
}

TEST_CASE("task_json_is_utf8_whatever_the_names_are") {
    const auto named = [](std::string_view name) {
        task_info t;
        t.name = name;
        const std::string json = to_json(std::span(&t, 1));
        return json.substr(10, json.find("\",\"job\"") - 10);
    };
    CHECK(named("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80") ==
          "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80");
    CHECK(named("\xff") == "\\ufffd");
    CHECK(named("\xc3") == "\\ufffd");
    CHECK(named("\xc0\xaf") == "\\ufffd\\ufffd");
    CHECK(named("\xed\xa0\x80") == "\\ufffd\\ufffd\\ufffd");
    CHECK(named("\xf4\x90\x80\x80") == "\\ufffd\\ufffd\\ufffd\\ufffd");
    CHECK(named(std::string_view("\0\x1f\\", 3)) == "\\u0000\\u001f\\\\");
}

namespace {

struct event_log final : task_observer {
    std::vector<std::string> lines;
    void on_event(const task_event& e) noexcept override {
        constexpr std::array words{"added",     "started",  "retrying",    "completed", "failed",
                                   "cancelled", "finished", "interrupted", "unrecorded"};
        lines.push_back(e.task + ' ' + words[static_cast<std::size_t>(e.what)] + ' ' + std::to_string(e.attempt) +
                        (e.message.empty() ? "" : ": " + e.message));
    }
};

} // namespace

TEST_CASE("task_observer_hears_everything_in_order") {
    event_log log;
    task_rig tasks({.observer = &log});
    tasks->add({.name = "a"},
               [](task_run& run) {
                   if (run.attempt() == 1) throw std::runtime_error("oh");
               },
               {.attempts = 2, .backoff = backoff::constant(1s)});
    tasks.pass(5s);
    tasks->add({.name = "b", .when = task_trigger::once(1h)}, [] {});
    tasks->cancel("b");
    CHECK(log.lines == std::vector<std::string>{"a added 0", "a started 1", "a retrying 1: oh", "a started 2",
                                                "a completed 2", "a finished 0", "b added 0", "b finished 0"});
}
