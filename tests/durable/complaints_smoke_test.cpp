// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What users of other task queues complain of, on a real queue: docs/durable.md has the list, with the tests elsewhere.
#include "src/durable/cluster_slots.hpp"
#include "src/durable/script_library.hpp"
#include "src/durable/shard_calls.hpp"
#include "src/durable/task_table.hpp"
#include "support/durable/durable_rig.hpp"
#include "support/durable/redis_cluster.hpp"
#include "support/durable/redis_sentinels.hpp"
#include "support/durable/store_rig.hpp"

#include <asio/steady_timer.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

bool no_redis() {
    if (redis_server::installed()) return false;
    MESSAGE("skipped: redis-server is not installed");
    return true;
}

// Until it is taken: after a failover or a restart, the server may not be back yet.
void add_for_sure(durable_rig& rig, const std::string& id) {
    rig.run_until([&] {
        rig.add(worker_task(id), on_duplicate::keep);
        return !rig.error;
    });
}

} // namespace

TEST_CASE("complaint_late_by_polling_a_task_is_in_the_workers_wheel_before_it_is_due") {
    for (const durable_backend b : durable_backends()) {
        durable_rig rig(b);
        durable_worker_options o = quick_worker();
        o.claim_interval = 500ms; // what polls would be late by
        worker_rig w(rig, o);
        w.run();
        // The machine may stand still until the task is due. Then there is nothing to see, and another one comes.
        bool seen = false;
        for (int i = 0; i < 20 && !seen; ++i) {
            const auto receipt = rig.add(worker_task("t" + std::to_string(i), 900ms));
            const auto handled = w.deliveries.size();
            rig.run_until([&] { return w.worker.stats().held == 1 || w.deliveries.size() > handled; });
            seen = w.worker.stats().held == 1 && std::chrono::system_clock::now() < receipt.due;
            rig.run_until([&] { return w.worker.stats().done == handled + 1; });
        }
        CHECK(seen);
    }
}

TEST_CASE("complaint_early_no_handler_starts_before_the_servers_clock_says_so") {
    for (const durable_backend b : durable_backends()) {
        durable_rig rig(b);
        worker_rig w(rig, quick_worker());
        std::map<std::string, std::chrono::system_clock::time_point> started;
        w.run([&](durable_delivery& d) {
            started.emplace(d.id(), std::chrono::system_clock::now()); // the server has the same clock
            return durable_outcome::done();
        });
        std::map<std::string, task_trigger::wall_point> due;
        for (int i = 0; i < 100; ++i) {
            const std::string id = std::to_string(i);
            due[id] = rig.add(worker_task(id, std::chrono::milliseconds(i * 13 % 97))).due;
        }
        rig.run_until([&] { return w.worker.stats().done == 100; });
        for (const auto& [id, at] : due) CHECK(started.at(id) >= at);
    }
}

TEST_CASE("complaint_nothing_runs_after_a_restart_of_redis_the_worker_goes_on_by_itself") {
    if (no_redis()) return;
    durable_rig rig(durable_backend::redis);
    worker_rig w(rig, quick_worker());
    w.run();
    add_for_sure(rig, "before");
    rig.run_until([&] { return w.worker.stats().done == 1; });
    for (int i = 0; i < 3; ++i) {
        rig.server->restart();
        const std::string id = "after " + std::to_string(i);
        add_for_sure(rig, id);
        rig.run_until([&] { return w.deliveries.back().id == id; });
    }
    rig.server->stop(); // hangs, and keeps its connections
    rig.run_until([&] { return w.worker.stats().troubles > 3; });
    rig.server->cont();
    add_for_sure(rig, "hung");
    rig.run_until([&] { return w.deliveries.back().id == "hung"; });
    CHECK(!w.ended);
}

TEST_CASE("complaint_nothing_runs_after_an_election_the_worker_finds_the_new_master") {
    if (no_redis()) return;
    redis_sentinels group;
    durable_rig rig(group.client());
    worker_rig w(rig, quick_worker());
    w.run();
    add_for_sure(rig, "before");
    rig.run_until([&] { return w.worker.stats().done == 1; });
    group.master.kill();
    add_for_sure(rig, "after");
    rig.run_until([&] { return w.deliveries.back().id == "after"; });
    CHECK(group.replica.call({"ROLE"}).starts_with("master"));
}

TEST_CASE("complaint_nothing_runs_after_an_election_a_program_that_starts_now_waits_for_the_other_replica") {
    if (no_redis()) return;
    redis_sentinels group;
    group.replica.kill();
    asio::io_context io;
    timer_wheel wheel(io);
    int refusals = 0;
    durable_options o;
    o.durability = durable_durability::replicas(1);
    o.redis = group.client();
    o.redis.log = [&](std::string_view line) {
        if (line.find("the server has 0 replicas online") == line.npos) return;
        ++refusals;
        group.replica.start();
    };
    durable_queue queue(wheel, o);
    std::optional<std::error_code> opened;
    queue.open([&](std::error_code ec) { opened = ec; });
    while (!opened) io.run_one();
    CHECK_MESSAGE(!*opened, queue.trouble());
    CHECK(refusals == 1);
}

TEST_CASE("complaint_far_task_runs_many_times_it_is_claimed_when_it_is_near_and_once") {
    using namespace cogwheel::detail;
    constexpr std::int64_t hour_us = 3'600'000'000;
    task_table table;
    const retention_limits limits;
    std::int64_t now = 1'700'000'000'000'000;
    new_task t{.id = "far"};
    t.due = 30 * 24 * hour_us / 1'000;
    t.relative = true;
    const added_task added = table.add(now, {t}, on_duplicate::reject).at(0);
    std::vector<std::int64_t> claimed_before_due; // ms
    const auto claim = [&] {
        for (const auto& c : table.claim(now, 1'000, 100, 30'000, limits).tasks)
            claimed_before_due.push_back(c.due - now / 1'000);
    };
    // Two workers look each hour, and at last each second, as if a lease were an hour.
    while (now / 1'000 < added.due - 10'000) {
        claim();
        claim();
        now = std::min(now + hour_us, (added.due - 10'000) * 1'000);
    }
    CHECK(claimed_before_due.empty());
    std::int64_t begun = 0;
    for (; now / 1'000 < added.due + 10'000; now += 250'000) {
        claim();
        claim();
        const std::vector<begin_request> far{{.id = "far", .generation = added.generation}};
        const bool once = table.begin(now, 30'000, 1, far).at(0).attempt == 1;
        begun += once && table.begin(now, 30'000, 2, far).at(0).attempt == 0 ? 1 : 0;
        if (begun == 1) break;
    }
    claim();
    CHECK(begun == 1);
    REQUIRE(claimed_before_due.size() == 1);
    CHECK(claimed_before_due[0] <= 1'000);
}

TEST_CASE("complaint_double_fire_of_many_workers_with_the_same_claim_one_begins") {
    using namespace cogwheel::detail;
    for (const durable_backend b : durable_backends()) {
        durable_rig rig(b);
        // All of them claim from all shards. They are too slow for what they have claimed, so that others claim it too.
        durable_worker_options o = quick_worker();
        o.claim_lease = 100ms;
        o.other_shards = o.claim_interval;
        o.max_in_flight = 2;
        const auto slow = [](durable_delivery&) -> asio::awaitable<void> {
            asio::steady_timer wait(co_await asio::this_coro::executor, 20ms);
            co_await wait.async_wait(asio::use_awaitable);
        };
        // Before a worker runs: all are due soon, however long the machine takes to add them.
        for (int i = 0; i < 200; ++i) rig.add(worker_task(std::to_string(i), 400ms));
        std::vector<std::unique_ptr<worker_rig>> workers;
        for (int i = 0; i < 5; ++i) {
            workers.push_back(std::make_unique<worker_rig>(rig, o));
            workers.back()->run(slow);
        }
        const auto sum = [&](auto member) {
            std::uint64_t all = 0;
            for (const auto& w : workers) all += w->worker.stats().*member;
            return all;
        };
        rig.run_until([&] { return sum(&durable_worker_stats::done) == 200; });
        std::multiset<std::string> ids;
        for (const auto& w : workers)
            for (const auto& d : w->deliveries) ids.insert(d.id);
        CHECK(sum(&durable_worker_stats::claimed) > 200);
        CHECK(ids.size() == 200);
        CHECK(std::set<std::string>(ids.begin(), ids.end()).size() == 200);
        CHECK(rig.counts().claimed == 0); // and none is stuck
    }
}

TEST_CASE("complaint_double_fire_of_two_workers_that_hold_the_same_claim_one_begins") {
    using namespace cogwheel::detail;
    on_both_stores([](store_rig& rig) {
        std::vector<new_task> tasks;
        for (int i = 0; tasks.size() < 50; ++i) {
            new_task t{.id = "t" + std::to_string(i)};
            t.relative = true;
            t.max_attempts = 3;
            if (rig.store().shard_of(t.id) == 0) tasks.push_back(t);
        }
        rig.value(rig.store().add(0, tasks, on_duplicate::reject));
        // A claim whose lease of 0 ms has run out comes again: half of the number, 100, are such.
        const auto first = rig.value(rig.store().claim(0, 1'000, 100, 0, rig.limits)).tasks;
        const auto second = rig.value(rig.store().claim(0, 1'000, 100, 0, rig.limits)).tasks;
        REQUIRE(first.size() == 50);
        REQUIRE(second.size() == 50);
        int begun = 0;
        for (std::size_t i = 0; i < 50; ++i)
            for (const std::uint32_t nonce : i % 2 == 0 ? std::array{1u, 2u} : std::array{2u, 1u}) {
                const stored_task& t = (nonce == 1 ? first : second)[i];
                const std::vector<begin_request> one{{.id = t.id, .generation = t.generation}};
                begun += rig.value(rig.store().begin(30'000, nonce, one)).tasks.at(0)->attempt > 0 ? 1 : 0;
            }
        CHECK(begun == 50);
    });
}

TEST_CASE("complaint_memory_is_never_freed_a_queue_that_has_done_all_leaves_its_counter_only") {
    if (no_redis()) return;
    durable_rig rig(durable_backend::redis);
    worker_rig w(rig, quick_worker());
    w.run([](durable_delivery& d) {
        return d.attempt() == 1 && d.id().size() == 2 ? durable_outcome::retry("again")
                                                      : durable_outcome::done("result");
    });
    for (int i = 0; i < 40; ++i) rig.add(worker_task(std::to_string(i)));
    rig.add({.id = "tick", .when = task_trigger::every(10ms).times(5), .misfire = task_misfire::catch_up(10)});
    rig.run_until([&] { return w.worker.stats().done == 45; });
    // Each shard keeps its last generation (`seq`); the queue keeps its workers and the number of its shards.
    const std::string keys = rig.server->call({"KEYS", "*"});
    CHECK_MESSAGE(keys.find(":seq\n") != keys.npos, keys);
    for (const char* name : {"due", "meta", "body", "done", "dead", "note"})
        CHECK_MESSAGE(keys.find(std::string(":") + name + "\n") == keys.npos, keys);
}

TEST_CASE("complaint_uniqueness_lock_sticks_an_id_is_free_once_its_task_is_gone") {
    for (const durable_backend b : durable_backends()) {
        durable_rig rig(b);
        const auto refused = [&] {
            rig.add(worker_task("x"));
            return rig.error == errc::duplicate_key;
        };
        worker_rig w(rig, quick_worker());
        w.run([](durable_delivery& d) {
            return d.body() == "fails" ? durable_outcome::fail("no") : durable_outcome::done();
        });
        for (int i = 0; i < 3; ++i) { // done
            CHECK(!refused());
            rig.run_until([&] { return w.worker.stats().done == static_cast<std::uint64_t>(i) + 1; });
        }
        rig.add(worker_task("x", 1h)); // cancelled
        CHECK(refused());
        CHECK(rig.cancel("x") == durable_cancel_result::cancelled);
        durable_task fails = worker_task("x"); // dead: in use until it is purged
        fails.body = "fails";
        rig.add(fails);
        rig.run_until([&] { return w.worker.stats().dead == 1; });
        CHECK(refused());
        CHECK(rig.get<bool>([&](auto h) { rig.queue->purge("x", h); }));
        CHECK(!refused());
        rig.run_until([&] { return w.worker.stats().done == 4; });
    }
}

TEST_CASE("complaint_crossslot_all_keys_of_a_call_are_in_one_slot") {
    using namespace cogwheel::detail;
    const script_library library;
    for (const char* queue : {"q", "-", "A-b_9"})
        for (std::uint32_t shard = 0; shard < 64; ++shard) {
            const shard_calls calls(library, queue, shard);
            for (const std::string& key : calls.keys()) CHECK(slot_of(key) == slot_of(calls.keys()[0]));
        }
}

TEST_CASE("complaint_crossslot_a_cluster_runs_tasks_of_all_shards") {
    if (no_redis()) return;
    redis_cluster cluster;
    durable_rig rig(cluster.client());
    worker_rig w(rig, quick_worker());
    w.run();
    std::vector<durable_task> tasks;
    for (int i = 0; i < 100; ++i) tasks.push_back(worker_task(std::to_string(i)));
    const auto added =
        rig.get<std::vector<durable_added>>([&](auto h) { rig.queue->schedule_all(tasks, on_duplicate::reject, h); });
    for (const durable_added& a : added) CHECK(!a.error);
    rig.run_until([&] { return w.worker.stats().done == 100; });
    CHECK(w.deliveries.size() == 100);
}
