// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A program that schedules its recurring tasks at each start, with on_duplicate::replace.
#include "support/durable/durable_rig.hpp"

#include <string>
#include <vector>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

durable_task hourly(std::string body = "a") {
    return {.id = "hourly", .when = task_trigger::every(1h).times(5), .body = std::move(body)};
}

} // namespace

TEST_CASE("recurring_task_that_is_replaced_more_often_than_it_is_due_runs") {
    for (const durable_backend b : durable_backends()) {
        durable_rig rig(b);
        worker_rig w(rig, quick_worker());
        w.run();
        durable_task often = worker_task("often");
        often.when = task_trigger::every(300ms);
        while (w.deliveries.size() < 3) {
            if (w.deliveries.size() == 2) often.body = "new"; // also if it differs a bit
            rig.add(often, on_duplicate::replace);
            REQUIRE(!rig.error);
            rig.io.run_one_for(20ms);
        }
    }
}

TEST_CASE("recurring_task_that_is_replaced_by_the_same_stays") {
    for (const durable_backend b : durable_backends()) {
        durable_rig rig(b);
        const auto first = rig.add(hourly());
        const auto same = rig.add(hourly(), on_duplicate::replace);
        CHECK(same.existed);
        CHECK(same.generation == first.generation);
        CHECK(same.due == first.due);
        // Those that run once begin anew: that is how one puts a task off again and again.
        const auto once = rig.add(worker_task("once", 1h));
        const auto again = rig.add(worker_task("once", 1h), on_duplicate::replace);
        CHECK(!again.existed);
        CHECK(again.generation > once.generation);
    }
}

TEST_CASE("recurring_task_that_is_replaced_keeps_its_next_run_while_the_trigger_is_the_same") {
    for (const durable_backend b : durable_backends()) {
        durable_rig rig(b);
        auto last = rig.add(hourly());
        const auto due = last.due;
        rig.act([&](auto h) { rig.queue->pause("hourly", h); });
        const auto replaced = [&](const durable_task& t) {
            const auto now = rig.add(t, on_duplicate::replace);
            CHECK(!rig.error);
            CHECK(!now.existed);
            CHECK(now.generation > last.generation);
            last = now;
            return *rig.find("hourly");
        };
        durable_task t = hourly("b");
        durable_info is = replaced(t);
        CHECK(is.body == "b");
        CHECK(is.due == due);
        CHECK(is.paused);
        CHECK(is.runs_left == 5);
        t.max_attempts = 7;
        is = replaced(t);
        CHECK(is.max_attempts == 7);
        CHECK(is.due == due);
        t.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        is = replaced(t);
        CHECK(is.traceparent == t.traceparent);
        CHECK(is.due == due);
        CHECK(rig.add(t, on_duplicate::replace).existed);

        t.when = task_trigger::every(2h).times(5);
        is = replaced(t);
        CHECK(is.due > due);
        CHECK(!is.paused);
        t.misfire = task_misfire::skip();
        replaced(t);
        // In one call, too, one after the other.
        std::vector<durable_task> both{t, t};
        both[1].body = "c";
        const auto answers = rig.get<std::vector<durable_added>>(
            [&](auto h) { rig.queue->schedule_all(both, on_duplicate::replace, h); });
        REQUIRE(answers.size() == 2);
        CHECK(answers[0].receipt.existed);
        CHECK(!answers[1].receipt.existed);
        CHECK(answers[1].receipt.due == last.due);
        CHECK(rig.find("hourly")->body == "c");
    }
}
