// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Which of the tasks that are due begins next: keys take turns, slow ones leave slots free, closed ones stand in
// nobody's way.
#include "src/durable/ready_tasks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <vector>

using namespace cogwheel::detail;
using namespace std::chrono_literals;

namespace {

struct gate_for_test final : task_gate {
    std::string key_of(std::string_view body) const override { return std::string(body); }
    room room_of(const std::string& key) const override {
        ++asked;
        const auto found = places.find(key);
        return {found == places.end() ? 64 : found->second, false};
    }
    std::map<std::string, std::size_t> places;
    mutable int asked = 0;
};

struct ready_rig {
    explicit ready_rig(std::size_t n = 256) : slots(n) { ready.use(gate, n); }
    void push(const std::string& key, int n = 1) {
        for (; n > 0; --n) ready.push(key, key + std::to_string(++count[key]), now);
    }
    /// The keys of what begins, in order, until nothing may.
    std::vector<std::string> begin_all() {
        std::vector<std::string> keys;
        while (running < slots) {
            const auto task = ready.next(slots - running, now);
            if (!task) break;
            ++running;
            keys.push_back(task->substr(0, task->find_first_of("0123456789")));
            ++runs[keys.back()];
        }
        return keys;
    }
    void end(const std::string& key, std::chrono::nanoseconds ran_for) {
        --running;
        --runs[key];
        ready.ended(key, ran_for, now);
    }

    gate_for_test gate;
    ready_tasks<std::string> ready;
    std::map<std::string, int> count, runs;
    std::size_t slots, running = 0;
    std::chrono::steady_clock::time_point now{1h};
};

std::size_t how_many(const std::vector<std::string>& all, const std::string& key) {
    return static_cast<std::size_t>(std::count(all.begin(), all.end(), key));
}

} // namespace

TEST_CASE("ready_keys_take_turns_and_each_keeps_its_order") {
    ready_rig r;
    r.push("a", 3);
    r.push("b", 2);
    r.push("", 2);
    CHECK(r.begin_all() == std::vector<std::string>{"a", "b", "", "a", "b", "", "a"});
    CHECK(r.ready.size() == 0);
    ready_rig one;
    one.push("a", 3);
    for (const char* wanted : {"a1", "a2", "a3"}) CHECK(one.ready.next(256, one.now) == wanted);
    CHECK(!one.ready.next(256, one.now));
}

TEST_CASE("ready_unknown_key_leaves_as_many_slots_as_it_takes") {
    for (std::size_t keys = 1; keys <= 50; keys += 7) {
        ready_rig r;
        for (std::size_t k = 0; k < keys; ++k) r.push("slow" + std::string(k + 1, 'x'), 600);
        CHECK(r.begin_all().size() <= r.slots - r.slots / (keys + 1) + keys);
        r.push("fast");
        CHECK(how_many(r.begin_all(), "fast") == 1);
    }
}

TEST_CASE("ready_key_has_no_more_places_than_its_gate_gives") {
    ready_rig r;
    r.gate.places["a"] = 3;
    r.push("a", 10);
    CHECK(r.begin_all().size() == 3);
    r.end("a", 1ms);
    CHECK(r.begin_all().size() == 1);
}

TEST_CASE("ready_quick_key_may_take_all_slots") {
    ready_rig r(32);
    r.push("a", 1'000);
    CHECK(r.begin_all().size() == 16); // unknown
    r.end("a", 1ms);
    CHECK(r.begin_all().size() == 17);
    r.now += 1s; // nothing has ended since: it is not quick any more
    r.end("a", 2s);
    for (int i = 0; i < 40; ++i) {
        r.end("a", 2s);
        r.begin_all();
    }
    CHECK(r.running <= 17);
}

TEST_CASE("ready_tasks_of_a_closed_gate_wait_and_others_begin") {
    ready_rig r;
    r.gate.places["dead"] = 0;
    r.push("dead", 500);
    CHECK(r.ready.slow("dead", r.now));
    CHECK(r.begin_all().empty());
    CHECK(r.ready.startable(r.now) == 0);
    CHECK(r.ready.look_again());
    const int asked = r.gate.asked;
    for (int i = 0; i < 1'000; ++i) r.begin_all();
    CHECK(r.gate.asked == asked); // not again so soon
    r.push("a", 2);
    CHECK(r.begin_all() == std::vector<std::string>{"a", "a"});
    r.gate.places["dead"] = 1; // a probe
    r.now += 1s;
    CHECK(how_many(r.begin_all(), "dead") == 1);
    r.gate.places["dead"] = 64;
    r.end("dead", 5ms); // its success has closed the circuit
    CHECK(how_many(r.begin_all(), "dead") == 64);
}

TEST_CASE("ready_key_is_slow_if_what_waits_for_it_would_wait_for_long") {
    ready_rig r;
    r.push("a", 300);
    r.begin_all();
    CHECK(!r.ready.slow("a", r.now)); // not known yet
    CHECK(r.ready.startable(r.now) == r.ready.size());
    r.now += 100ms;
    CHECK(r.ready.slow("a", r.now)); // 64 run for 100 ms, and 236 wait
    CHECK(r.ready.startable(r.now) == 0);
    for (int i = 0; i < 64; ++i) r.end("a", 10ms);
    r.begin_all();
    CHECK(!r.ready.slow("a", r.now));
    CHECK(!r.ready.slow("", r.now));
    r.push("", 10'000);
    r.now += 1h;
    CHECK(!r.ready.slow("", r.now));
}

TEST_CASE("ready_more_slow_keys_than_slots_leave_some_for_others") {
    ready_rig r;
    r.push("quick");
    r.begin_all();
    r.end("quick", 1ms);
    std::vector<std::string> slow;
    for (int i = 0; i < 1'000; ++i)
        r.push(slow.emplace_back("slow" + std::string(static_cast<std::size_t>(i), 'x')), 10);
    CHECK(r.ready.startable(r.now) == 10'000); // nobody knows
    CHECK(r.begin_all().size() == 240);
    r.now += 10s;
    CHECK(r.ready.startable(r.now) == 0);
    CHECK(r.ready.slow(slow.back(), r.now));
    CHECK(!r.ready.slow("new", r.now));
    // What was quick in the last minute finds a place at once, also after it was idle. Another waits for one.
    r.push("quick", 3);
    CHECK(r.begin_all() == std::vector<std::string>(3, "quick"));
    r.push("new", 2);
    CHECK(r.begin_all().empty());
    for (int i = 0; i < 4; ++i) r.end(slow[static_cast<std::size_t>(i)], 10s);
    CHECK(r.begin_all() == std::vector<std::string>{"new"}); // before those that came first
    r.end("new", 1ms);
    CHECK(how_many(r.begin_all(), "new") == 1);
    // Once all are known, a quarter is free of them.
    for (int round = 0; round < 30; ++round) {
        for (const std::string& s : slow)
            while (r.runs[s] > 0) r.end(s, 10s);
        r.begin_all();
    }
    CHECK(r.running == 192);
}

TEST_CASE("ready_quick_key_is_known_for_a_minute") {
    for (const auto idle : {59'999ms, 60'000ms}) {
        ready_rig r(16);
        r.push("a");
        r.begin_all();
        r.end("a", 1ms);
        r.now += idle;
        r.push("a", 16);
        CHECK(r.begin_all().size() == (idle < 1min ? 16 : 8));
    }
}

TEST_CASE("ready_idle_keys_are_so_many_at_most") {
    ready_tasks<int> ready;
    const gate_for_test gate;
    ready.use(gate, 256);
    const std::chrono::steady_clock::time_point now{1h};
    for (int i = 0; i < 50'000; ++i) {
        const std::string key = std::to_string(i);
        ready.push(key, i, now);
        CHECK(ready.next(256, now) == i);
        ready.ended(key, 1ms, now);
    }
    CHECK(ready.keys() <= 10'000);
    ready.push("later", 0, now + 1min);
}

TEST_CASE("ready_put_off_tasks_come_back_at_most_a_thousand_a_second") {
    ready_rig r;
    r.gate.places["dead"] = 0;
    r.push("dead", 256);
    CHECK(r.ready.put_off("dead", r.now) == 2s);
    std::chrono::nanoseconds last{};
    for (int i = 0; i < 100'000; ++i) last = r.ready.put_off("dead", r.now);
    CHECK(last >= 100s);
    for (int i = 0; i < 1'000'000; ++i) last = r.ready.put_off("dead", r.now);
    CHECK(last == 10min);
    r.now += 15s; // the window before counts, too
    CHECK(r.ready.put_off("dead", r.now) == 10min);
    r.now += 1min;
    CHECK(r.ready.put_off("dead", r.now) == 2s);
}

TEST_CASE("ready_keys_are_forgotten_and_what_ends_after_a_clear_does_no_harm") {
    ready_rig r;
    r.push("a", 2);
    r.begin_all();
    r.ready.clear();
    r.end("a", 1ms);
    CHECK(r.ready.size() == 0);
    CHECK(!r.ready.look_again());
    r.push("a");
    CHECK(r.begin_all().size() == 1);
    CHECK(r.ready.waiting("a") == 0);
}
