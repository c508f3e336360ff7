// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a worker with nothing to do asks of its server, and that this delays nothing. bench/durable/idle.py has figures.
#include "support/durable_rig.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

// How often the server has run a command; also within scripts.
std::uint64_t calls_of(const redis_server& server, const std::string& command) {
    const std::string all = server.call({"INFO", "commandstats"}), name = "cmdstat_" + command + ":calls=";
    const auto at = all.find(name);
    return at == all.npos ? 0 : std::stoull(all.substr(at + name.size()));
}

struct idle_rig {
    idle_rig() { w.run(); }

    static durable_worker_options options() {
        durable_worker_options o = quick_worker(); // claims every 20 ms
        o.heartbeat = 50ms;
        o.silent_after = 500ms;
        o.horizon = 1min;
        return o;
    }
    // Each claim looks at the sizes of two sets; only heartbeats read a range by rank.
    std::uint64_t claims() const { return calls_of(*rig.server, "zcard") / 2; }
    std::uint64_t beats() const { return calls_of(*rig.server, "zrange"); }
    /// Waits until, while the heart beats 20 times, `good` holds of the number of claims.
    void until_claims(bool (*good)(std::uint64_t)) {
        std::uint64_t from = beats(), before = claims();
        rig.run_until([&] {
            if (beats() < from + 20) return false;
            if (good(claims() - before)) return true;
            from = beats();
            before = claims();
            return false;
        });
    }
    void until_idle() {
        until_claims([](std::uint64_t n) { return n <= 4; }); // each shard once
    }
    void until_it_polls() {
        until_claims([](std::uint64_t n) { return n >= 40; });
    }
    /// Whether the worker claims tasks of all shards soon after they came. They are not due soon: so nothing hurries.
    bool claims_soon() {
        std::vector<durable_task> tasks;
        for (int i = 0; i < 32; ++i) tasks.push_back(worker_task(std::to_string(last++), 8s));
        const std::size_t held = w.worker.stats().held;
        const auto added = rig.get<std::vector<durable_added>>(
            [&](auto h) { rig.queue->schedule_all(tasks, on_duplicate::reject, h); });
        REQUIRE(!rig.error);
        const std::uint64_t from = beats();
        rig.run_until([&] { return w.worker.stats().held == held + 32; });
        return beats() <= from + 10; // a machine that stands still has no heartbeats, either
    }

    durable_rig rig{durable_backend::redis};
    worker_rig w{rig, options()};
    int last = 0;
};

bool no_server_here() {
    if (redis_server::installed()) return false;
    MESSAGE("skipped: redis-server is not installed");
    return true;
}

} // namespace

TEST_CASE("worker_that_is_idle_waits_for_hints") {
    if (no_server_here()) return;
    idle_rig r;
    for (int trial = 0; trial < 3; ++trial) { // a claim that comes anyway may come in time
        r.until_idle();
        CHECK(r.claims_soon());
    }
}

TEST_CASE("worker_that_hears_nothing_polls_until_it_hears_again") {
    if (no_server_here()) return;
    idle_rig r;
    for (int round = 0; round < 2; ++round) {
        r.until_idle();
        r.rig.server->call({"ACL", "SETUSER", "default", "-subscribe"});
        r.rig.server->call({"CLIENT", "KILL", "TYPE", "pubsub"});
        r.until_it_polls();
        CHECK(r.claims_soon());
        r.rig.server->call({"ACL", "SETUSER", "default", "+subscribe"});
    }
    r.until_idle();
    CHECK(r.claims_soon());
}
