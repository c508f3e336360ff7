// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// When a monitor wants a ping, and that no peer is idle that was not asked.
#include "support/net/idle_machine_rig.hpp"

#include <cogwheel/net/idle_timeouts.hpp>

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;
using std::chrono::nanoseconds;

TEST_CASE("ping_counts_from_the_earlier_of_read_and_write_and_from_the_last_ping") {
    machine_rig r({.reader = 30s, .ping = 10s});
    r.read(4s);
    CHECK(r.look_at(4s) == 10s); // nothing was written
    r.written(6s);
    CHECK(r.look_at(10s) == 14s);
    CHECK(r.event_at(14s).kind == idle_kind::ping);
    r.written(14s); // the ping
    CHECK(r.look_at(14s) == 24s);
    r.read(15s); // its answer
    CHECK(r.look_at(24s - 1ns) == 24s);
    const idle_event second = r.event_at(24s);
    CHECK(second.kind == idle_kind::ping);
    CHECK(second.first);
    CHECK(second.idle_for == 10s); // since the write
    r.written(24s);
    CHECK(r.event_at(34s).kind == idle_kind::ping); // nobody answers
    r.written(34s);
    CHECK(r.event_at(44s).kind == idle_kind::ping);
    CHECK(r.event_at(45s).kind == idle_kind::reader);
}

TEST_CASE("ping_of_a_peer_that_takes_and_of_one_that_sends") {
    for (const bool sends : {false, true}) {
        machine_rig r({.reader = 30s, .ping = 10s});
        int pings = 0;
        for (nanoseconds now = 1s; now <= 25s; now += 1s) {
            if (sends)
                r.read(now);
            else
                r.written(now);
            const auto s = r.ask(now);
            pings += s.event && s.event->kind == idle_kind::ping;
        }
        CHECK(pings == 2); // one direction is silent
    }
}

TEST_CASE("ping_before_the_reader_is_idle_however_late_the_look") {
    machine_rig r({.reader = 30s, .ping = 10s});
    CHECK(r.event_at(100s).kind == idle_kind::ping); // the program has slept
    CHECK(r.look_at(100s) == 110s);
    CHECK(r.event_at(110s).kind == idle_kind::ping);
    CHECK(r.event_at(120s).kind == idle_kind::reader); // 20 s after it was asked
    CHECK(r.event_at(120s).kind == idle_kind::ping);
    CHECK(r.event_at(130s).kind == idle_kind::ping);
    CHECK(r.event_at(150s).kind == idle_kind::reader); // again, 30 s later: this needs no ping
    r.read(160s);
    CHECK(r.event_at(500s).kind == idle_kind::ping); // the second time as the first
    CHECK(r.look_at(500s) == 510s);
    r.factor = 0.1;
    CHECK(r.event_at(501s).kind == idle_kind::ping);
    CHECK(r.event_at(502s).kind == idle_kind::reader); // 2 s after the first ping
}

TEST_CASE("ping_before_neither_is_idle_and_at_the_very_reading_of_a_read") {
    machine_rig r({.reader = 30s, .all = 40s, .ping = 10s});
    CHECK(r.event_at(100s).kind == idle_kind::ping);
    CHECK(r.look_at(100s) == 110s);
    r.read(100s); // no answer to that ping, perhaps
    CHECK(r.event_at(200s).kind == idle_kind::ping);
    CHECK(r.look_at(200s) == 210s);
    r.factor = 0.1;
    r.read(300s);
    r.written(300s);
    CHECK(r.event_at(308s).kind == idle_kind::ping);
    CHECK(r.look_at(308s) == 309s);
}

TEST_CASE("ping_is_shortened_as_the_others_and_looks_at_the_queues") {
    machine_rig r({.reader = 30s, .ping = 10s});
    r.factor = 0.1;
    CHECK(r.look_at(0s) == 1s);
    r.system.input = true;
    r.system.output = 7;
    CHECK(r.look_at(1s) == 2s);
    CHECK(r.system.asked == 2);
}

TEST_CASE("ping_must_come_before_the_connection_is_closed") {
    const auto refusal = [](const idle_timeouts& limits) -> std::string {
        try {
            limits.validate();
            return "";
        } catch (const std::invalid_argument& e) {
            return e.what();
        }
    };
    CHECK(refusal({.reader = 30s, .ping = 10s}).empty());
    CHECK(refusal({.ping = 10s}).empty());
    CHECK(refusal({.reader = -1s, .writer = 11s, .ping = 10s}).empty());
    CHECK(refusal({.reader = 10s, .ping = 10s})
              .find("ping is 10000000000 ns, but must be less than reader, 10000000000 ns") != std::string::npos);
    CHECK(refusal({.writer = 5s, .ping = 10s}).find("less than writer") != std::string::npos);
    CHECK(refusal({.all = 60s, .ping = 10s}).find("set reader, too") != std::string::npos);
    CHECK(refusal({.reader = 60s, .all = 5s, .ping = 10s}).empty());
}
