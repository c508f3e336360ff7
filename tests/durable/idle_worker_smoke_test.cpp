// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a worker with nothing to do asks of its server, and that this delays nothing. bench/durable/idle.py has figures.
#include "support/durable/durable_rig.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
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

/// While this exists, programs that are started have a clock that shift() sets.
class shifted_clock {
public:
    shifted_clock() {
        shift(0h);
        ::setenv("CLOCK_SHIFT_FILE", file_.c_str(), 1);
        ::setenv("LD_PRELOAD", library().c_str(), 1);
    }
    shifted_clock(const shifted_clock&) = delete;
    shifted_clock& operator=(const shifted_clock&) = delete;
    ~shifted_clock() {
        ::unsetenv("LD_PRELOAD");
        ::unsetenv("CLOCK_SHIFT_FILE");
    }
    /// Beside this program, unless it has a sanitizer, which the other one would have to have.
    static std::string library() {
        return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libclock_shift.so").string();
    }
    void shift(std::chrono::milliseconds by) {
        const std::int64_t ms = by.count();
        std::fstream out(file_, std::ios::binary | std::ios::in | std::ios::out);
        if (!out) out.open(file_, std::ios::binary | std::ios::out); // for the first time
        out.write(reinterpret_cast<const char*>(&ms), sizeof(ms));
    }

private:
    scratch_directory folder_;
    std::string file_ = folder_ / "shift";
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

TEST_CASE("worker_that_is_idle_sees_that_the_servers_clock_was_set") {
    if (no_server_here()) return;
    if (!std::filesystem::exists(shifted_clock::library())) {
        MESSAGE("skipped: there is no libclock_shift.so");
        return;
    }
    shifted_clock clock;
    idle_rig r;
    durable_task often = worker_task("often"); // begins see the new time before a heartbeat does
    often.when = task_trigger::every(300ms);
    often.misfire = task_misfire::skip();
    r.rig.add(often);
    for (int round = 1; round <= 2; ++round) {
        std::vector<durable_task> tasks;
        for (int i = 0; i < 32; ++i) tasks.push_back(worker_task(std::to_string(r.last++), 30min));
        r.rig.get<std::vector<durable_added>>(
            [&](auto h) { r.rig.queue->schedule_all(tasks, on_duplicate::reject, h); });
        REQUIRE(!r.rig.error);
        const auto missing = [&] {
            return 32 * round - std::ranges::count_if(r.w.deliveries, [](const auto& d) { return d.id.size() < 3; });
        };
        const std::uint64_t before = r.beats();
        r.rig.run_until([&] { return r.beats() > before + 20; });
        CHECK(missing() == 32);
        clock.shift(1h * round);
        const std::uint64_t from = r.beats();
        r.rig.run_until([&] { return missing() == 0; });
        CHECK(r.beats() <= from + 20);
    }
}
