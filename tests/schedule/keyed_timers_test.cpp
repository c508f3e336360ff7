// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Each thing that a table of keyed timers can do, in virtual time.
#include "support/asio/virtual_wheel.hpp"

#include <cogwheel/schedule/keyed_timers.hpp>

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;
using namespace std::string_literals;

namespace {

using names = keyed_timers<std::string, testing::manual_timer_wheel>;
using ids = keyed_timers<int, testing::manual_timer_wheel>;

struct run_log {
    std::vector<std::string> ran;
    auto note() {
        return [this](const std::string& key) { ran.push_back(key); };
    }
};

} // namespace

TEST_CASE("keyed_add_runs_once_with_its_key_and_is_gone") {
    virtual_wheel at;
    names timers(at.wheel);
    run_log log;
    const auto start = manual_clock::now();
    CHECK(!timers.add("ann", 100ms, log.note()));
    CHECK(timers.contains("ann"));
    CHECK(timers.expiry("ann") == start + 100ms);
    at.pass(90ms);
    CHECK(log.ran.empty());
    at.pass(10ms);
    CHECK(log.ran == std::vector{"ann"s});
    CHECK(!timers.contains("ann"));
    CHECK(timers.empty());
}

TEST_CASE("keyed_negative_delay_is_at_once") {
    virtual_wheel at({.tick = 10ms});
    ids timers(at.wheel);
    const auto start = manual_clock::now();
    CHECK(!timers.add(1, -30ms, [] {}));
    CHECK(!timers.add(2, std::chrono::nanoseconds::min(), [] {}));
    CHECK(!timers.add(3, 50ms, [] {}));
    CHECK(timers.touch(3, -30ms));
    for (const int key : {1, 2, 3}) CHECK(timers.expiry(key) == start);
    at.pass(10ms);
    CHECK(timers.empty());
}

TEST_CASE("keyed_duplicate_is_rejected_replaced_or_kept") {
    virtual_wheel at;
    ids timers(at.wheel);
    std::string ran;
    CHECK(!timers.add(1, 100ms, [&] { ran += 'a'; }));
    CHECK(timers.add(1, 10ms, [&] { ran += 'b'; }) == errc::duplicate_key);
    CHECK(!timers.add(1, 10ms, [&] { ran += 'c'; }, on_duplicate::keep));
    at.pass(50ms);
    CHECK(ran.empty());
    CHECK(!timers.add(1, 200ms, [&] { ran += 'd'; }, on_duplicate::replace));
    CHECK(timers.size() == 1);
    at.pass(100ms);
    CHECK(ran.empty());
    at.pass(100ms);
    CHECK(ran == "d");
}

TEST_CASE("keyed_replacement_that_is_refused_leaves_the_old_one") {
    virtual_wheel at({.max_pending = 1});
    ids timers(at.wheel);
    std::string ran;
    CHECK(!timers.add(1, 100ms, [&] { ran += 'a'; }));
    CHECK(timers.add(2, 100ms, [&] { ran += 'b'; }) == errc::too_many_timers);
    CHECK(!timers.contains(2));
    CHECK(timers.add(1, 100ms, [&] { ran += 'c'; }, on_duplicate::replace) == errc::too_many_timers);
    CHECK(timers.size() == 1);
    at.pass(100ms);
    CHECK(ran == "a");
}

TEST_CASE("keyed_remove_unknown_is_false_known_never_runs") {
    virtual_wheel at;
    ids timers(at.wheel);
    int runs = 0;
    CHECK(!timers.remove(1));
    CHECK(!timers.add(1, 100ms, [&] { ++runs; }));
    CHECK(timers.remove(1));
    CHECK(!timers.remove(1));
    CHECK(at.wheel.pending() == 0);
    at.pass(1s);
    CHECK(runs == 0);
}

TEST_CASE("keyed_unknown_keys_answer_false_or_nothing") {
    virtual_wheel at;
    ids timers(at.wheel);
    CHECK(!timers.contains(1));
    CHECK(!timers.touch(1));
    CHECK(!timers.touch(1, 5ms));
    CHECK(timers.expiry(1) == std::nullopt);
}

TEST_CASE("keyed_touch_gives_the_whole_time_again") {
    virtual_wheel at({.tick = 10ms});
    ids timers(at.wheel);
    int runs = 0;
    CHECK(!timers.add(1, 100ms, [&] { ++runs; }));
    for (int i = 0; i < 5; ++i) {
        at.pass(40ms);
        CHECK(timers.touch(1));
    }
    CHECK(runs == 0);
    CHECK(timers.touch(1, 20ms));
    CHECK(timers.touch(1)); // the delay of add(), not the one of touch()
    at.pass(90ms);
    CHECK(runs == 0);
    at.pass(10ms);
    CHECK(runs == 1);
}

TEST_CASE("keyed_lookup_takes_what_compares_with_the_key") {
    virtual_wheel at;
    names timers(at.wheel);
    CHECK(!timers.add("ann", 100ms, [] {}));
    CHECK(timers.contains(std::string_view("ann")));
    CHECK(timers.touch("ann"));
    CHECK(timers.expiry(std::string_view("annie").substr(0, 3)).has_value());
    CHECK(timers.remove(std::string_view("ann")));
}

TEST_CASE("keyed_for_each_sees_all_with_their_times") {
    virtual_wheel at;
    ids timers(at.wheel);
    const auto start = manual_clock::now();
    CHECK(!timers.add(1, 100ms, [] {}));
    CHECK(!timers.add(2, 1s, [] {}));
    std::map<int, manual_clock::time_point> seen;
    timers.for_each([&](int key, manual_clock::time_point due) { seen[key] = due; });
    CHECK(seen == std::map<int, manual_clock::time_point>{{1, start + 100ms}, {2, start + 1s}});
    timers.clear();
    CHECK(timers.empty());
    CHECK(at.wheel.pending() == 0);
}

TEST_CASE("keyed_job_may_add_its_own_key_again") {
    virtual_wheel at({.tick = 10ms});
    names timers(at.wheel);
    std::vector<std::string> ran;
    const std::string long_name(100, 'x'); // on the heap: used after it was removed
    CHECK(!timers.add(long_name, 10ms, [&](const std::string& key) {
        CHECK(!timers.contains(key));
        CHECK(!timers.remove(key));
        CHECK(!timers.add(key, 10ms, [&] { ran.push_back("again"); }));
        ran.push_back(key);
    }));
    for (int i = 0; i < 5; ++i) at.pass(10ms);
    CHECK(ran == std::vector{long_name, "again"s});
    CHECK(timers.empty());
}

TEST_CASE("keyed_job_may_destroy_the_whole") {
    virtual_wheel at;
    std::optional<ids> timers(std::in_place, at.wheel);
    int runs = 0;
    for (int key = 0; key < 10; ++key)
        CHECK(!timers->add(key, 10ms, [&, big = std::string(100, 'x')] {
            timers.reset();
            runs += big.size() == 100;
        }));
    at.pass(10ms);
    CHECK(runs == 1);
    CHECK(at.wheel.pending() == 0);
}

TEST_CASE("keyed_hash_that_throws_in_a_replacement_changes_nothing") {
    struct failing_hash {
        int* calls_left;
        std::size_t operator()(int key) const {
            if ((*calls_left)-- == 0) throw std::runtime_error("hash");
            return std::hash<int>()(key);
        }
    };
    using table = keyed_timers<int, testing::manual_timer_wheel, std::function<void(const int&)>, failing_hash>;
    bool replaced = false;
    for (int calls = 0; !replaced; ++calls) {
        REQUIRE(calls < 10);
        virtual_wheel at;
        int calls_left = -1, old_ran = 0, new_ran = 0; // below zero: no call throws
        table all(at.wheel, failing_hash{&calls_left});
        all.add(1, 10ms, [&] { ++old_ran; });
        calls_left = calls;
        try {
            all.add(1, 10ms, [&] { ++new_ran; }, on_duplicate::replace);
            replaced = true;
        } catch (const std::runtime_error&) {
        }
        calls_left = -1;
        CHECK(all.size() == 1);
        CHECK(at.wheel.pending() == 1);
        at.pass(30ms);
        CHECK(old_ran == (replaced ? 0 : 1));
        CHECK(new_ran == (replaced ? 1 : 0));
        CHECK(all.size() == 0);
    }
}

TEST_CASE("keyed_job_throws_and_the_others_run") {
    virtual_wheel at;
    ids timers(at.wheel);
    int runs = 0;
    for (int key = 0; key < 3; ++key)
        CHECK(!timers.add(key, 10ms, [&] {
            ++runs;
            throw std::runtime_error("job");
        }));
    manual_clock::advance(10ms);
    for (int i = 0; i < 3; ++i) CHECK_THROWS_AS(at.run(), std::runtime_error);
    at.run();
    CHECK(runs == 3);
    CHECK(timers.empty());
}

TEST_CASE("keyed_removed_while_its_job_is_on_its_way_does_not_run") {
    virtual_wheel at;
    asio::io_context jobs; // runs when the test says so
    std::optional<ids> timers(std::in_place, at.wheel, jobs.get_executor());
    int runs = 0;
    for (int key = 0; key < 4; ++key) CHECK(!timers->add(key, 100ms, [&] { ++runs; }));
    at.pass(100ms);
    CHECK(at.wheel.pending() == 0); // all four have fired
    CHECK(runs == 0);
    CHECK(timers->remove(1));
    CHECK(!timers->touch(2)); // its job is on its way
    CHECK(!timers->add(3, 1s, [&] { runs += 100; }, on_duplicate::replace));
    run_ready(jobs);
    CHECK(runs == 2); // 0 and 2
    CHECK(!timers->add(4, 100ms, [&] { ++runs; }));
    at.pass(100ms);
    timers.reset();
    run_ready(jobs);
    at.pass(2s);
    run_ready(jobs);
    CHECK(runs == 2);
}

TEST_CASE("keyed_job_whose_destruction_uses_the_table") {
    virtual_wheel at;
    ids timers(at.wheel);
    struct deregister {
        ids* table;
        int peer;
        ~deregister() { table->remove(peer); }
    };
    for (int round = 0; round < 2; ++round) {
        for (int key = 0; key < 50; ++key) {
            const auto guard = std::make_shared<deregister>(&timers, 49 - key);
            CHECK(!timers.add(key, 1s, [guard] {}));
        }
        if (round == 0) {
            timers.clear();
        } else {
            CHECK(timers.remove(3));
            CHECK(!timers.contains(46));
            CHECK(!timers.add(5, 1s, [] {}, on_duplicate::replace));
            CHECK(!timers.contains(44));
            at.pass(1s);
        }
        CHECK(timers.empty());
        CHECK(at.wheel.pending() == 0);
    }
}

TEST_CASE("keyed_add_and_touch_take_points") {
    virtual_wheel at({.tick = 10ms});
    ids timers(at.wheel);
    std::vector<int> ran;
    const auto note = [&](int key) { ran.push_back(key); };
    const auto start = manual_clock::now();
    CHECK(!timers.add(1, start + 50ms, note));
    CHECK(!timers.add(2, start + 20ms, note));
    CHECK(!timers.add(3, start - 70ms, note)); // at once
    CHECK(timers.add(1, start, note) == errc::duplicate_key);
    at.pass(10ms);
    CHECK(ran == std::vector{3});
    CHECK(timers.touch(1, start + 40ms));
    CHECK(!timers.touch(9, start));
    at.pass(30ms);
    CHECK(ran == std::vector{3, 2, 1});

    CHECK(!timers.add(5, manual_clock::now() + 50ms, note));
    at.pass(30ms);
    CHECK(timers.touch(5)); // what add() was given: 50 ms
    CHECK(timers.expiry(5) == manual_clock::now() + 50ms);
}

TEST_CASE("keyed_table_does_not_move_to_the_next_wheel") {
    asio::io_context io;
    std::optional<testing::manual_timer_wheel> wheel(io);
    ids timers(*wheel);
    wheel.reset();
    const testing::manual_timer_wheel another(io);
    CHECK(timers.add(1, 10ms, [] {}) == errc::stopped);
    CHECK(another.pending() == 0);
}

TEST_CASE("keyed_wheel_gone_or_stopped_nothing_runs") {
    asio::io_context io;
    std::optional<testing::manual_timer_wheel> wheel(io);
    int runs = 0;
    ids timers(*wheel);
    CHECK(!timers.add(1, 10ms, [&] { ++runs; }));
    wheel->stop();
    CHECK(timers.add(2, 10ms, [&] { ++runs; }) == errc::stopped);
    wheel.reset();
    pass(io, 1s);
    CHECK(runs == 0);
    CHECK(timers.remove(1));
    CHECK(timers.empty());
}
