// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// One paused task: no worker begins it, whatever its due time does; and the history of attempts that a task has.
#include "support/durable/durable_rig.hpp"

#include <cogwheel/durable/error.hpp>

#include <asio/redirect_error.hpp>

namespace {

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

void hold_task(durable_rig& rig, const std::string& id, bool paused) {
    rig.act([&](auto h) { paused ? rig.queue->pause(id, h) : rig.queue->resume(id, h); });
}

} // namespace

TEST_CASE("paused_task_does_not_begin_until_it_is_resumed") {
    for (const durable_backend b : durable_backends()) {
        durable_rig rig(b);
        worker_rig w(rig, quick_worker());
        w.run();
        const auto added = rig.add(worker_task("paused", 400ms));
        rig.run_until([&] { return w.worker.stats().held == 1; }); // the worker has claimed it
        hold_task(rig, "paused", true);
        CHECK(!rig.error);
        CHECK(rig.find("paused")->paused);
        CHECK(rig.find("paused")->generation > added.generation);
        CHECK(rig.find("paused")->due == added.due);
        hold_task(rig, "paused", true); // it is already
        CHECK(!rig.error);
        rig.add(worker_task("later", 600ms));
        rig.run_until([&] { return w.worker.stats().done == 1; });
        REQUIRE(w.deliveries.size() == 1);
        CHECK(w.deliveries[0].id == "later");
        CHECK(rig.counts().overdue == 0);
        CHECK(rig.counts().waiting == 1);
        rig.get<durable_receipt>([&](auto h) { rig.queue->reschedule("paused", task_trigger::once(0ms), h); });
        CHECK(!rig.error);
        CHECK(rig.find("paused")->paused);
        rig.add(worker_task("later"));
        rig.run_until([&] { return w.worker.stats().done == 2; });
        CHECK(w.deliveries.size() == 2);

        hold_task(rig, "paused", false);
        CHECK(!rig.error);
        rig.run_until([&] { return w.worker.stats().done == 3; });
        CHECK(w.deliveries.back().id == "paused");
        CHECK(w.deliveries.back().attempt == 1);
        hold_task(rig, "paused", true);
        CHECK(rig.error == durable_errc::no_such_task);
    }
}

TEST_CASE("paused_task_is_paused_after_a_restart_and_can_be_cancelled_or_replaced") {
    for (const durable_backend b : durable_backends()) {
        durable_rig rig(b);
        for (const char* id : {"cancelled", "replaced"}) {
            rig.add(worker_task(id));
            hold_task(rig, id, true);
        }
        rig.make_queue();
        CHECK(rig.find("cancelled")->paused);
        CHECK(rig.counts().overdue == 0);
        CHECK(rig.cancel("cancelled") == durable_cancel_result::cancelled);
        rig.add(worker_task("replaced"), on_duplicate::replace);
        CHECK(!rig.find("replaced")->paused);
        worker_rig w(rig, quick_worker());
        w.run();
        rig.run_until([&] { return w.worker.stats().done == 1; });
        CHECK(w.deliveries[0].id == "replaced");
    }
}

TEST_CASE("paused_running_task_is_refused_and_a_recurring_one_makes_no_occurrences") {
    for (const durable_backend b : durable_backends()) {
        durable_rig rig(b);
        worker_rig w(rig, quick_worker());
        std::error_code refused;
        w.run([&](durable_delivery& d) -> asio::awaitable<durable_outcome> {
            if (d.id() == "running") {
                std::error_code ec;
                co_await rig.queue->pause(d.id(), asio::redirect_error(asio::use_awaitable, ec));
                refused = ec;
            }
            co_return durable_outcome::done();
        });
        rig.add(worker_task("running"));
        rig.run_until([&] { return w.worker.stats().done == 1; });
        CHECK(refused == durable_errc::running);

        durable_task often = worker_task("often");
        often.when = task_trigger::every(10ms);
        rig.add(often);
        hold_task(rig, "often", true);
        CHECK(!rig.error);
        rig.run_until([&] { return w.worker.stats().held + w.worker.stats().in_flight == 0; }); // occurrences under way
        const auto before = w.deliveries.size();
        rig.add(worker_task("later", 100ms));
        rig.run_until([&] { return w.deliveries.back().id == "later"; });
        CHECK(w.deliveries.size() == before + 1);
        hold_task(rig, "often", false);
        rig.run_until([&] { return w.deliveries.size() > before + 3; });
    }
}

TEST_CASE("history_of_a_task_names_each_failed_attempt_even_if_it_is_done") {
    for (const durable_backend b : durable_backends()) {
        durable_options options;
        options.retention = 1h;
        durable_rig rig(b, options);
        worker_rig w(rig, quick_worker());
        w.run([&](durable_delivery& d) {
            if (d.id() == "done" && d.attempt() == 3) return durable_outcome::done("fine");
            return durable_outcome::retry("failure " + std::to_string(d.attempt()));
        });
        rig.add(worker_task("done"));
        durable_task dead = worker_task("dead");
        dead.max_attempts = 2;
        rig.add(dead);
        rig.run_until([&] { return w.worker.stats().done == 1 && w.worker.stats().dead == 1; });
        const auto done = rig.find("done");
        CHECK(done->result == "fine");
        CHECK(done->message.empty());
        REQUIRE(done->history.size() == 2);
        for (std::uint32_t i = 0; i < 2; ++i) {
            CHECK(done->history[i].attempt == i + 1);
            CHECK(done->history[i].message == "failure " + std::to_string(i + 1));
            CHECK(!done->history[i].lease_ran_out);
            CHECK(done->history[i].ended >= done->due - 1h);
        }
        CHECK(rig.find("dead")->message == "failure 2");
        CHECK(rig.find("dead")->history.size() == 2);
        rig.make_queue(); // a journal has it, too
        CHECK(rig.find("dead")->history.size() == 2);
        CHECK(rig.get<bool>([&](auto h) { rig.queue->redrive("dead", h); }));
        CHECK(rig.find("dead")->history.empty());
    }
}
