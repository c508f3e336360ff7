// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a queue and its workers promise, on each backend, in real time.
#include "src/durable/script_library.hpp"
#include "support/durable/durable_rig.hpp"
#include "support/durable/plain_redis.hpp"

#include <asio/multiple_exceptions.hpp>
#include <asio/post.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE("worker_runs_each_task_once_and_none_early") {
    for (const durable_backend b : durable_backends()) {
        durable_rig rig(b);
        worker_rig w(rig, quick_worker());
        w.run();
        std::map<std::string, task_trigger::wall_point> due;
        std::vector<durable_task> tasks;
        for (int i = 0; i < 300; ++i)
            tasks.push_back(worker_task("t" + std::to_string(i), std::chrono::milliseconds(i * 7)));
        const auto added = rig.get<std::vector<durable_added>>(
            [&](auto h) { rig.queue->schedule_all(tasks, on_duplicate::reject, h); });
        REQUIRE(added.size() == tasks.size());
        for (const durable_added& a : added) REQUIRE(!a.error);
        rig.run_until([&] { return w.worker.stats().done == 300; });
        std::set<std::string> ids;
        for (const auto& d : w.deliveries) {
            ids.insert(d.id);
            CHECK(d.attempt == 1);
        }
        CHECK(ids.size() == 300);
        CHECK(w.deliveries.size() == 300);
        const durable_counts c = rig.counts();
        CHECK(c.waiting + c.claimed + c.done + c.dead == 0);
    }
}

TEST_CASE("lateness_of_a_task_does_not_depend_on_the_tick_of_the_wheel") {
    for (const durable_backend b : durable_backends()) {
        durable_rig rig(b);
        rig.queue.reset();
        rig.wheel = timer_wheel(rig.io, {.tick = 400ms});
        rig.make_queue();
        durable_worker_options o = quick_worker();
        o.horizon = 4s; // so that the timers of the wheel claim in time
        worker_rig w(rig, o);
        w.run();
        std::vector<durable_task> tasks;
        for (int i = 0; i < 40; ++i) // over two ticks
            tasks.push_back(worker_task("t" + std::to_string(i), 1500ms + std::chrono::milliseconds(i * 20)));
        rig.get<std::vector<durable_added>>([&](auto h) { rig.queue->schedule_all(tasks, on_duplicate::reject, h); });
        rig.run_until([&] { return w.worker.stats().done == 40; });
        std::vector<std::chrono::microseconds> late;
        for (const auto& d : w.deliveries) late.push_back(d.lateness);
        std::ranges::nth_element(late, late.begin() + 20);
        CHECK(late[20] < 100ms); // the wheel alone: 200 ms
    }
}

TEST_CASE("worker_retries_until_the_attempts_are_used_up") {
    for (const durable_backend b : durable_backends()) {
        durable_rig rig(b);
        worker_rig w(rig, quick_worker());
        w.run([](durable_delivery& d) -> durable_outcome {
            if (d.id() == "throws") // as a && b and a || b do
                throw asio::multiple_exceptions(std::make_exception_ptr(std::runtime_error("no luck")));
            if (d.id() == "twice" && d.attempt() < 3) return durable_outcome::retry("not yet");
            if (d.id() == "at once") return durable_outcome::fail("never");
            return durable_outcome::done();
        });
        durable_task throws = worker_task("throws");
        throws.max_attempts = 2;
        rig.add(throws);
        rig.add(worker_task("twice"));
        rig.add(worker_task("at once"));
        rig.run_until([&] { return w.worker.stats().dead == 2 && w.worker.stats().done == 1; });
        CHECK(w.deliveries.size() == 6);
        CHECK(w.worker.stats().retried == 3);
        CHECK(rig.find("throws")->state == durable_state::dead);
        CHECK(rig.find("throws")->message == "no luck");
        CHECK(rig.find("throws")->attempt == 2);
        std::size_t dead = 0;
        std::string cursor;
        do {
            const auto page = rig.get<durable_page>([&](auto h) { rig.queue->dead(cursor, 100, h); });
            dead += page.tasks.size();
            cursor = page.cursor;
        } while (!cursor.empty());
        CHECK(dead == 2);
        CHECK(rig.get<bool>([&](auto h) { rig.queue->purge("throws", h); }));
        CHECK(!rig.find("throws"));
        CHECK(rig.get<bool>([&](auto h) { rig.queue->redrive("at once", h); }));
        rig.run_until([&] { return w.worker.stats().dead == 3; });
        CHECK(w.deliveries.back().attempt == 1);
        CHECK(!rig.get<bool>([&](auto h) { rig.queue->redrive("nobody", h); }));
    }
}

TEST_CASE("task_that_is_cancelled_never_starts") {
    for (const durable_backend b : durable_backends()) {
        durable_rig rig(b);
        worker_rig w(rig, quick_worker());
        w.run();
        rig.add(worker_task("later", 400ms));
        rig.add(worker_task("last", 500ms));
        rig.run_until([&] { return w.worker.stats().held == 2; }); // the worker has claimed both
        CHECK(rig.cancel("later") == durable_cancel_result::cancelled);
        CHECK(rig.cancel("later") == durable_cancel_result::not_found);
        rig.run_until([&] { return w.worker.stats().done == 1; });
        CHECK(w.deliveries.size() == 1);
        CHECK(w.deliveries.front().id == "last");
    }
}

TEST_CASE("task_that_is_cancelled_while_it_runs_is_told_to_stop_and_not_tried_again") {
    for (const durable_backend b : durable_backends()) {
        durable_rig rig(b);
        durable_worker_options o = quick_worker();
        bool told = false;
        o.on_event = [&](const durable_event& e) { told = told || e.what == durable_event::kind::cancelled; };
        durable_worker worker(*rig.queue, o);
        bool begun = false, stopped = false;
        std::optional<std::error_code> ended;
        worker.run(
            [&](durable_delivery& d) -> asio::awaitable<durable_outcome> {
                begun = true;
                asio::steady_timer wait(co_await asio::this_coro::executor, 1h);
                std::error_code ec;
                co_await wait.async_wait(asio::redirect_error(asio::use_awaitable, ec));
                stopped = d.stop_requested();
                co_return durable_outcome::retry("stopped");
            },
            [&](std::error_code ec) { ended = ec; });
        rig.add(worker_task("long"));
        rig.run_until([&] { return begun; });
        CHECK(rig.cancel("long") == durable_cancel_result::running);
        rig.run_until([&] { return stopped; });
        CHECK(told);
        worker.drain();
        rig.run_until([&] { return ended.has_value(); });
        CHECK(!rig.find("long"));
    }
}

TEST_CASE("id_that_exists_is_rejected_kept_or_replaced") {
    for (const durable_backend b : durable_backends()) {
        durable_rig rig(b);
        const durable_receipt first = rig.add(worker_task("x", 1h));
        CHECK(!rig.error);
        CHECK(!first.existed);
        rig.add(worker_task("x", 2h));
        CHECK(rig.error == errc::duplicate_key);
        const durable_receipt kept = rig.add(worker_task("x", 2h), on_duplicate::keep);
        CHECK(!rig.error);
        CHECK(kept.existed);
        CHECK(kept.generation == first.generation);
        CHECK(kept.due == first.due);
        const durable_receipt replaced = rig.add(worker_task("x", 2h), on_duplicate::replace);
        CHECK(replaced.generation > first.generation);
        CHECK(replaced.due > first.due);
        const auto moved =
            rig.get<durable_receipt>([&](auto h) { rig.queue->reschedule("x", task_trigger::once(5h), h); });
        CHECK(!rig.error);
        CHECK(moved.due > replaced.due);
        rig.get<durable_receipt>([&](auto h) { rig.queue->reschedule("nobody", task_trigger::once(5h), h); });
        CHECK(rig.error == durable_errc::no_such_task);
        rig.get<durable_receipt>([&](auto h) { rig.queue->reschedule("x", task_trigger::every(5h), h); });
        CHECK(rig.error == task_errc::bad_period);
        CHECK(rig.find("x")->due == moved.due);
        CHECK(rig.find("x")->body == "body");
    }
}

TEST_CASE("recurring_task_makes_occurrences_with_ids_of_their_own") {
    for (const durable_backend b : durable_backends()) {
        durable_rig rig(b);
        worker_rig w(rig, quick_worker());
        w.run();
        rig.add({.id = "tick", .when = task_trigger::every(50ms).times(4), .misfire = task_misfire::catch_up(10)});
        REQUIRE(!rig.error);
        CHECK(rig.find("tick")->when == "every 50ms, 4 times");
        rig.run_until([&] { return w.worker.stats().done == 4; });
        std::set<std::int64_t> due;
        for (const auto& d : w.deliveries) {
            REQUIRE(d.id.starts_with("tick@"));
            due.insert(std::stoll(d.id.substr(5)));
        }
        CHECK(due.size() == 4);
        CHECK(*due.rbegin() - *due.begin() == 150);
        CHECK(!rig.find("tick"));
    }
}

TEST_CASE("queue_that_is_paused_begins_nothing") {
    for (const durable_backend b : durable_backends()) {
        durable_rig rig(b);
        worker_rig w(rig, quick_worker());
        w.run();
        rig.act([&](auto h) { rig.queue->pause(h); });
        CHECK(rig.counts().paused);
        rig.add(worker_task("x"));
        rig.run_until([&] { return rig.counts().overdue == 1; });
        CHECK(w.deliveries.empty());
        rig.act([&](auto h) { rig.queue->resume(h); });
        rig.run_until([&] { return w.worker.stats().done == 1; });
    }
}

TEST_CASE("worker_that_drains_gives_back_and_finishes") {
    for (const durable_backend b : durable_backends()) {
        durable_rig rig(b);
        durable_worker_options o = quick_worker();
        o.claim_lease = 1h; // so that nobody gets the claims when they run out
        worker_rig first(rig, o), second(rig, quick_worker());
        asio::steady_timer hold(rig.io, 1h);
        bool runs = false;
        std::optional<std::error_code> ended;
        first.worker.run(
            [&](durable_delivery&) -> asio::awaitable<void> {
                runs = true;
                std::error_code ec;
                co_await hold.async_wait(asio::redirect_error(asio::use_awaitable, ec));
            },
            [&](std::error_code ec) { ended = ec; });
        rig.add(worker_task("long"));
        rig.run_until([&] { return runs; });
        for (int i = 0; i < 20; ++i) rig.add(worker_task("later" + std::to_string(i), 500ms));
        rig.run_until([&] { return first.worker.stats().held == 20; });
        first.worker.drain();
        second.run();
        rig.run_until([&] { return second.worker.stats().done == 20; });
        CHECK(!ended);
        hold.cancel();
        rig.run_until([&] { return ended.has_value(); });
        CHECK(!*ended);
        CHECK(first.worker.stats().done == 1);
        CHECK(first.worker.stats().held == 0);
        CHECK(rig.counts().claimed == 0);
    }
}

TEST_CASE("worker_that_is_stopped_or_destroyed_leaves_the_task_to_others") {
    for (const durable_backend b : durable_backends()) {
        durable_rig rig(b);
        auto first = std::make_unique<worker_rig>(rig, quick_worker());
        bool runs = false;
        std::optional<std::error_code> ended;
        first->worker.run(
            [&](durable_delivery&) -> asio::awaitable<void> {
                runs = true;
                asio::steady_timer long_wait(co_await asio::this_coro::executor, 1h);
                std::error_code ec;
                co_await long_wait.async_wait(asio::redirect_error(asio::use_awaitable, ec));
            },
            [&](std::error_code ec) { ended = ec; });
        rig.add(worker_task("x"));
        rig.run_until([&] { return runs; });
        first.reset();
        rig.run_until([&] { return ended.has_value(); });
        CHECK(*ended == asio::error::operation_aborted);
        worker_rig second(rig, quick_worker());
        second.run();
        rig.run_until([&] { return second.worker.stats().done == 1; });
        CHECK(second.deliveries.front().attempt == 2);
    }
}

TEST_CASE("lease_is_extended_while_a_handler_runs") {
    for (const durable_backend b : durable_backends()) {
        durable_rig rig(b);
        worker_rig first(rig, quick_worker()), second(rig, quick_worker());
        bool ended = false;
        const auto handler = [&](durable_delivery& d) -> asio::awaitable<durable_outcome> {
            asio::steady_timer wait(co_await asio::this_coro::executor, 2500ms); // two and a half leases
            std::error_code ec;
            co_await wait.async_wait(asio::redirect_error(asio::use_awaitable, ec));
            ended = !d.stop_requested();
            co_return durable_outcome::done();
        };
        first.run(handler);
        second.run(handler);
        rig.add(worker_task("x"));
        rig.run_until([&] { return ended; });
        rig.run_until([&] { return rig.counts().claimed == 0; });
        CHECK(first.deliveries.size() + second.deliveries.size() == 1);
    }
}

TEST_CASE("result_is_kept_for_the_retention_and_its_id_is_in_use") {
    for (const durable_backend b : durable_backends()) {
        durable_options o;
        o.retention = 1h;
        durable_rig rig(b, o);
        worker_rig w(rig, quick_worker());
        w.run([](durable_delivery& d) {
            return durable_outcome::done(std::string(d.id() == "big" ? durable_outcome::max_result + 1 : 3, 'r'));
        });
        rig.add(worker_task("x"));
        rig.add(worker_task("big"));
        rig.run_until([&] { return w.worker.stats().done == 2; });
        CHECK(rig.find("x")->state == durable_state::done);
        CHECK(rig.find("x")->result == "rrr");
        CHECK(rig.find("big")->state == durable_state::done);
        CHECK(rig.find("big")->result == std::string(durable_outcome::max_result, 'r'));
        CHECK(rig.add(worker_task("x"), on_duplicate::keep).existed);
        CHECK(rig.cancel("x") == durable_cancel_result::not_found);
    }
}

TEST_CASE("worker_has_no_more_attempts_at_once_than_it_may") {
    for (const durable_backend b : durable_backends()) {
        durable_rig rig(b);
        durable_worker_options o = quick_worker();
        o.max_in_flight = 3;
        worker_rig w(rig, o);
        int now = 0, most = 0;
        w.run([&](durable_delivery&) -> asio::awaitable<void> {
            most = std::max(most, ++now);
            asio::steady_timer wait(co_await asio::this_coro::executor);
            do { // the first ones wait for each other, all for one more than there may be
                wait.expires_after(5ms);
                co_await wait.async_wait(asio::use_awaitable);
            } while (most < 3);
            --now;
        });
        for (int i = 0; i < 40; ++i) rig.add(worker_task(std::to_string(i)));
        rig.run_until([&] { return w.worker.stats().done == 40; });
        CHECK(most == 3);
    }
}

TEST_CASE("tasks_outlive_the_program_that_scheduled_them") {
    for (const durable_backend b : durable_backends()) {
        durable_rig rig(b);
        for (int i = 0; i < 50; ++i) rig.add(worker_task(std::to_string(i), 30ms));
        rig.make_queue();
        worker_rig w(rig, quick_worker());
        w.run();
        rig.run_until([&] { return w.worker.stats().done == 50; });
        CHECK(w.deliveries.size() == 50);
    }
}

TEST_CASE("worker_whose_answers_one_shard_refuses_goes_on_with_the_others") {
    if (!redis_server::installed()) return;
    durable_rig rig(durable_backend::redis);
    plain_redis redis(rig.server->socket());
    worker_rig w(rig, quick_worker());
    std::map<std::string, asio::steady_timer> gates;
    w.run([&](durable_delivery& d) -> asio::awaitable<durable_outcome> {
        auto& gate = gates.try_emplace(d.id(), co_await asio::this_coro::executor, 1h).first->second;
        std::error_code ec;
        co_await gate.async_wait(asio::redirect_error(asio::use_awaitable, ec));
        co_return durable_outcome::done();
    });
    constexpr std::size_t count = 24;
    for (std::size_t i = 0; i < count; ++i) rig.add(worker_task("t" + std::to_string(i)));
    rig.run_until([&] { return gates.size() == count; });
    const auto key = [&](const char* name) { return "{cw:" + durable_options().name + ":2}:" + name; };
    const auto refused = static_cast<std::uint64_t>(redis({"HLEN", key("meta")}).integer());
    REQUIRE(refused >= 3); // more than the batches that may be under way
    REQUIRE(refused < count);
    redis({"RENAME", key("meta"), "aside"});
    redis({"SET", key("meta"), "text"});
    for (auto& [id, gate] : gates) {
        gate.cancel();
        rig.io.restart();
        rig.io.run_for(5ms); // an answer each, not one of all
    }
    rig.run_until([&] { return w.worker.stats().done == count - refused; });
    redis({"RENAME", "aside", key("meta")});
    redis({"CONFIG", "SET", "slowlog-max-len", "100000"});
    redis({"CONFIG", "SET", "slowlog-log-slower-than", "0"});
    rig.run_until([&] { return w.worker.stats().done == count; });
    CHECK(w.worker.stats().stale == 0);
    // The refused ones were asked again together.
    const std::string finish = detail::script_library().at("finish_plain").sha;
    const auto log = redis({"SLOWLOG", "GET", "-1"});
    const auto calls = std::ranges::count_if(log.elements(), [&](const redis_reply& entry) {
        const auto& words = entry.elements()[3].elements();
        return words.size() > 1 && words[1].text() == finish;
    });
    CHECK(calls == 1);
}

TEST_CASE("worker_stopped_after_many_handlers_have_ended_sends_all_their_answers") {
    for (const durable_backend b : durable_backends()) {
        durable_rig rig(b);
        durable_worker_options o = quick_worker();
        o.batch = 10;
        worker_rig w(rig, o);
        std::vector<std::shared_ptr<asio::steady_timer>> gates;
        w.run([&](durable_delivery&) -> asio::awaitable<durable_outcome> {
            const auto gate = std::make_shared<asio::steady_timer>(co_await asio::this_coro::executor, 1h);
            gates.push_back(gate);
            std::error_code ec;
            co_await gate->async_wait(asio::redirect_error(asio::use_awaitable, ec));
            co_return durable_outcome::done();
        });
        constexpr std::size_t count = 95;
        std::vector<durable_task> tasks;
        for (std::size_t i = 0; i < count; ++i) tasks.push_back(worker_task("t" + std::to_string(i)));
        rig.get<std::vector<durable_added>>([&](auto h) { rig.queue->schedule_all(tasks, on_duplicate::reject, h); });
        rig.run_until([&] { return gates.size() == count; });
        for (const auto& gate : gates) gate->cancel();
        rig.run_until([&] { return w.worker.stats().in_flight == 0; });
        w.worker.stop();
        rig.run_until([&] { return w.ended.has_value(); });
        rig.run_until([&] { return rig.counts().claimed == 0; });
    }
}

TEST_CASE("worker_stopped_right_after_a_handler_has_ended_sends_its_answer") {
    for (const durable_backend b : durable_backends()) {
        durable_rig rig(b);
        worker_rig w(rig, quick_worker());
        w.run([&](durable_delivery&) {
            asio::post(rig.io, [&] { w.worker.stop(); }); // when the handler has ended
            return durable_outcome::done();
        });
        rig.add(worker_task("x"));
        rig.run_until([&] { return w.ended.has_value(); });
        rig.run_until([&] { return !rig.find("x"); });
        CHECK(w.deliveries.size() == 1);
    }
}

TEST_CASE("context_destroyed_while_a_worker_waits_frees_the_worker") {
    std::weak_ptr<int> alive;
    {
        queue_in_memory q;
        durable_worker worker(q.queue, quick_worker());
        const auto held = std::make_shared<int>();
        alive = held;
        bool ended = false;
        worker.run([held](durable_delivery&) {}, [&, held](std::error_code) { ended = true; });
        while (worker.stats().own_shards == 0) q.io.run_one(); // then all its loops wait
        for (int i = 0; i < 100; ++i) q.io.poll_one();
        CHECK(!ended);
    } // without running what stop() and close() have posted
    CHECK(alive.expired());
}

TEST_CASE("bulk_call_answers_each_task_on_its_own") {
    for (const durable_backend b : durable_backends()) {
        durable_rig rig(b);
        std::vector<durable_task> tasks;
        for (std::size_t i = 0; i < durable_queue::max_batch; ++i) tasks.push_back(worker_task(std::to_string(i), 1h));
        tasks[3].id.clear();
        tasks[4].id = "5";
        const auto add = [&] {
            return rig.get<std::vector<durable_added>>(
                [&](auto h) { rig.queue->schedule_all(tasks, on_duplicate::reject, h); });
        };
        const auto added = add();
        CHECK(added[3].error == durable_errc::bad_id);
        CHECK(!added[4].error);
        CHECK(added[5].error == errc::duplicate_key);
        CHECK(rig.counts().waiting == tasks.size() - 2);
        std::set<std::string> listed;
        std::string cursor;
        do {
            const auto page = rig.get<durable_page>([&](auto h) { rig.queue->list(cursor, 100, h); });
            for (const durable_info& t : page.tasks) listed.insert(t.id);
            cursor = page.cursor;
        } while (!cursor.empty());
        CHECK(listed.size() == tasks.size() - 2);
        const auto audit = rig.get<durable_audit>([&](auto h) { rig.queue->audit(h); });
        CHECK(audit.repaired == 0);
        CHECK(audit.tasks >= tasks.size() - 2);
        tasks.push_back(worker_task("one more"));
        add();
        CHECK(rig.error == durable_errc::too_many_tasks);
    }
}
