// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// When a connection counts as idle: what Netty's IdleStateHandler does, and what its users wished it did.
#include "support/constant_names.hpp"
#include "support/net/idle_machine_rig.hpp"
#include "support/random.hpp"

#include <cogwheel/resilience/random.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using cogwheel::idle_event;
using cogwheel::idle_kind;
using cogwheel::idle_timeouts;
using cogwheel::detail::idle_machine;
using cogwheel_tests::check_names;
using cogwheel_tests::machine_rig;
using nanoseconds = std::chrono::nanoseconds;

namespace {

constexpr nanoseconds forever = nanoseconds::max();

} // namespace

TEST_CASE("limit_that_no_double_holds_is_kept_to_the_nanosecond") {
    constexpr nanoseconds limit((std::int64_t{1} << 53) + 1);
    machine_rig r({.reader = limit});
    CHECK(r.look_at(0s) == limit);
    CHECK(r.silent_at(limit - 1ns));
    CHECK(r.event_at(limit).idle_for == limit);
}

TEST_CASE("limit_zero_or_negative_is_off") {
    for (const nanoseconds off : {nanoseconds(0), nanoseconds(-1), nanoseconds::min()}) {
        machine_rig r({.reader = off, .writer = off, .all = off});
        CHECK(r.look_at(0s) == forever);
        CHECK(r.look_at(24h) == forever);
    }
    machine_rig r({.reader = 10s, .writer = -1s});
    CHECK(r.look_at(0s) == 10s);
    CHECK(r.event_at(24h).kind == idle_kind::reader);
}

TEST_CASE("reader_idle_is_due_a_limit_after_the_last_read_and_not_before") {
    machine_rig r({.reader = 10s});
    CHECK(r.look_at(0s) == 10s);
    r.read(4s);
    r.written(9s);                // is none
    CHECK(r.look_at(10s) == 14s); // the remainder
    CHECK(r.silent_at(14s - 1ns));
    const idle_event e = r.event_at(14s);
    CHECK(e.kind == idle_kind::reader);
    CHECK(e.first);
    CHECK(e.idle_for == 10s);
}

TEST_CASE("writer_idle_counts_from_the_last_completed_write") {
    machine_rig r({.writer = 10s});
    r.written(3s);
    r.read(9s);
    CHECK(r.look_at(10s) == 13s);
    const idle_event e = r.event_at(15s);
    CHECK(e.kind == idle_kind::writer);
    CHECK(e.idle_for == 12s);
}

TEST_CASE("all_idle_counts_from_the_later_of_read_and_write") {
    machine_rig r({.all = 10s});
    r.read(4s);
    r.written(6s);
    CHECK(r.look_at(10s) == 16s);
    r.read(8s);
    CHECK(r.look_at(16s) == 18s);
    CHECK(r.event_at(18s).kind == idle_kind::all);
}

TEST_CASE("event_first_then_repeats_each_period_and_says_so") {
    machine_rig r({.reader = 10s});
    CHECK(r.event_at(10s).first);
    CHECK(r.look_at(10s) == 20s); // a full period, from before the event was told
    for (const nanoseconds at : {20s, 30s, 45s}) {
        const idle_event e = r.event_at(at);
        CHECK_FALSE(e.first);
        CHECK(e.idle_for == at);
    }
    CHECK(r.look_at(45s) == 55s);
    r.read(50s);
    CHECK(r.look_at(55s) == 60s);
    CHECK(r.event_at(60s).first);
    CHECK_FALSE(r.event_at(70s).first);
}

TEST_CASE("event_first_flags_are_kept_for_each_kind") {
    machine_rig r({.reader = 10s, .writer = 10s, .all = 10s});
    CHECK(r.event_at(10s).kind == idle_kind::reader);
    CHECK(r.event_at(10s).kind == idle_kind::writer);
    CHECK(r.event_at(10s).kind == idle_kind::all);
    CHECK(r.look_at(10s) == 20s);
    r.written(12s);
    const idle_event reader = r.event_at(20s);
    CHECK(reader.kind == idle_kind::reader);
    CHECK_FALSE(reader.first);
    CHECK(r.look_at(20s) == 22s);
    const idle_event writer = r.event_at(22s);
    CHECK(writer.kind == idle_kind::writer);
    CHECK(writer.first);
    const idle_event all = r.event_at(22s);
    CHECK(all.kind == idle_kind::all);
    CHECK(all.first);
}

TEST_CASE("event_answered_at_once_by_a_write_the_next_one_is_a_first_one") {
    machine_rig r({.writer = 10s});
    CHECK(r.event_at(10s).first);
    r.written(10s); // the ping it is good for
    CHECK(r.look_at(10s) == 20s);
    CHECK(r.event_at(20s).first);
}

TEST_CASE("read_in_progress_is_not_idle") {
    machine_rig r({.reader = 10s, .writer = 10s, .all = 10s});
    r.begin_read();
    r.begin_read();
    r.written(5s);
    CHECK(r.look_at(12s) == 15s);
    CHECK(r.event_at(15s).kind == idle_kind::writer);
    CHECK(r.look_at(15s) == 22s); // again when it might be idle, were the read to end now
    r.end_read(30s);
    CHECK(r.event_at(35s).kind == idle_kind::writer);
    CHECK(r.look_at(45s - 1ns) == 45s);
    r.end_read(44s);
    r.written(44s);
    CHECK(r.look_at(46s) == 54s);
    CHECK(r.event_at(54s).kind == idle_kind::reader);
}

TEST_CASE("input_that_waits_is_activity_and_is_looked_for_only_when_due") {
    machine_rig r({.reader = 10s, .all = 20s});
    r.system.input = true;
    CHECK(r.silent_at(9s));
    CHECK(r.system.asked == 0);
    CHECK(r.look_at(12s) == 22s);
    r.system.input = false;
    CHECK(r.event_at(22s).first);
}

TEST_CASE("netty_6150_8912_bytes_leaving_a_slow_peers_queue_are_activity") {
    machine_rig r({.reader = 1h, .writer = 10s, .all = 30s});
    r.system.output = 100;
    CHECK(r.look_at(10s) == 20s);
    r.system.output = 250;
    CHECK(r.look_at(20s) == 30s);
    CHECK(r.event_at(30s).kind == idle_kind::writer); // a peer that takes nothing for a whole period
    CHECK(r.look_at(30s) == 40s);
    r.system.output = 251;
    CHECK(r.look_at(40s) == 50s);
    CHECK(r.event_at(50s).first); // there was activity in between
    CHECK(r.event_at(60s).kind == idle_kind::writer);
    CHECK(r.event_at(70s).kind == idle_kind::writer);
    CHECK(r.event_at(70s).kind == idle_kind::all); // counts from 40 s
}

TEST_CASE("output_sampled_at_a_write_the_event_for_a_stuck_peer_is_on_time") {
    machine_rig r({.writer = 16s});
    const auto write = [&](nanoseconds now, std::uint64_t left) {
        r.system.output = left;
        r.written(now);
        r.sample(now, r.system);
    };
    write(0s, 100);
    write(5s, 300); // the peer has taken bytes, and then takes no more
    CHECK(r.system.asked == 2);
    CHECK(r.look_at(16s) == 21s);
    CHECK(r.event_at(21s).idle_for == 16s);

    r.system.asked = 0; // eight times a timeout at most
    for (int ms = 30'000; ms < 46'000; ++ms) write(std::chrono::milliseconds(ms), 300);
    CHECK(r.system.asked == 8);
    r.system.output = 301; // what leaves after the sample is activity
    CHECK(r.look_at(61'999ms) == 77'999ms);

    machine_rig off({});
    off.sample(0s, off.system);
    CHECK(off.system.asked == 0);
    off.set_limits({.all = 1s});
    off.sample(0s, off.system);
    CHECK(off.system.asked == 1);
}

TEST_CASE("output_progress_not_observed_only_completed_writes_count") {
    machine_rig r({.writer = 10s});
    CHECK(r.event_at(10s).first);
    CHECK_FALSE(r.event_at(20s).first);
}

TEST_CASE("netty_16982_reset_resets_times_and_first_flags") {
    machine_rig r({.reader = 10s, .writer = 20s, .all = 15s});
    CHECK(r.event_at(10s).kind == idle_kind::reader);
    CHECK(r.event_at(15s).kind == idle_kind::all);
    r.reset(18s);
    CHECK(r.look_at(18s) == 28s);
    for (const auto& [at, kind] :
         {std::pair(28s, idle_kind::reader), {33s, idle_kind::all}, {38s, idle_kind::writer}}) {
        if (kind == idle_kind::writer) CHECK_FALSE(r.event_at(at).first); // the reader's second
        const idle_event e = r.event_at(at);
        CHECK(e.kind == kind);
        CHECK(e.first);
    }
}

TEST_CASE("reset_read_counts_reads_anew_and_forgets_a_message_under_way") {
    machine_rig r({.reader = 10s, .writer = 100s});
    r.begin_read();
    r.begin_read();
    r.reset_read(5s);
    CHECK(r.event_at(15s).first);
    r.end_read(20s); // one of the two: a read, and no more
    CHECK(r.event_at(30s).first);
    CHECK(r.event_at(100s).kind == idle_kind::reader);
    CHECK(r.event_at(100s).kind == idle_kind::writer); // has not been reset
}

TEST_CASE("idle_kind_has_names") {
    check_names<idle_kind>({{idle_kind::reader, "reader"},
                            {idle_kind::writer, "writer"},
                            {idle_kind::all, "all"},
                            {idle_kind::ping, "ping"}});
}

TEST_CASE("netty_973_jitter_spreads_those_who_fell_silent_together") {
    std::set<nanoseconds> dues;
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
        machine_rig r({.writer = 60s, .jitter = 0.5, .seed = seed});
        nanoseconds at{};
        for (int period = 0; period < 3; ++period) {
            const nanoseconds due = r.look_at(at);
            CHECK(due >= at + 60s); // never early
            CHECK(due <= at + 90s);
            dues.insert(due - at);
            at = due;
            CHECK(r.event_at(at).kind == idle_kind::writer);
        }
    }
    CHECK(dues.size() > 2990);
    CHECK(*dues.begin() < 61s);
    CHECK(*dues.rbegin() > 89s);
    // Evenly: no tenth of the range has twice its share.
    std::vector<int> tenths(10);
    for (const nanoseconds d : dues) ++tenths[static_cast<std::size_t>((d - 60s) / 3s) % 10];
    for (const int n : tenths) CHECK((n > 200 && n < 400));
}

TEST_CASE("jitter_with_the_same_seed_is_the_same") {
    machine_rig a({.reader = 1s, .all = 3s, .jitter = 1, .seed = 7}),
        b({.reader = 1s, .all = 3s, .jitter = 1, .seed = 7});
    for (nanoseconds at{}; at < 60s;) {
        const auto s = a.ask(at), t = b.ask(at);
        REQUIRE(s.look_at == t.look_at);
        REQUIRE(s.event.has_value() == t.event.has_value());
        at = std::max(at, s.look_at);
    }
}

TEST_CASE("factor_shortens_the_running_period_and_lengthening_it_is_not_early") {
    machine_rig r({.reader = 10s});
    r.factor = 0.5;
    CHECK(r.look_at(1s) == 5s);
    r.factor = 0.25;
    const idle_event e = r.event_at(4s);
    CHECK(e.idle_for == 4s);
    r.read(4s);
    r.factor = 1;
    CHECK(r.look_at(5s) == 14s);
    r.factor = 1e-300; // due at once, not before
    CHECK(r.silent_at(4s));
    CHECK(r.event_at(4s + 1ns).kind == idle_kind::reader);
}

TEST_CASE("jitter_is_a_share_that_the_generator_of_the_seed_says") {
    cogwheel::detail::small_random random(42); // the same generator
    idle_timeouts limits{.reader = 10s, .writer = 20s, .all = 40s, .jitter = 0.5};
    limits.seed = 42;
    machine_rig r(limits);
    const auto share = [&] { return static_cast<float>(random() >> 40) * 0x1p-24F * 0.5F; };
    nanoseconds first = forever;
    for (const nanoseconds limit : {10s, 20s, 40s}) {
        const double extra = static_cast<double>(limit.count()) * static_cast<double>(share());
        first = std::min(first, limit + nanoseconds(static_cast<std::int64_t>(std::ceil(extra))));
    }
    CHECK(r.look_at(0s) == first);
}

TEST_CASE("limits_changed_count_from_the_last_activity") {
    machine_rig r({.reader = 10s});
    r.read(5s);
    r.set_limits({.reader = 60s});
    CHECK(r.look_at(15s) == 65s);
    r.set_limits({.writer = 7s});
    CHECK(r.event_at(20s).kind == idle_kind::writer);
    CHECK(r.look_at(20s) == 27s);
}

TEST_CASE("limit_extreme_never_comes") {
    machine_rig r({.reader = nanoseconds::max(), .writer = nanoseconds::max() - 1s, .jitter = 1}, 10s);
    CHECK(r.look_at(nanoseconds::max()) == forever);
}

TEST_CASE("clock_reading_older_than_the_last_activity_is_harmless") {
    machine_rig r({.reader = 10s}, 100s);
    CHECK(r.look_at(90s) == 110s);
    r.read(50s);
    CHECK(r.look_at(55s) == 60s);
}

TEST_CASE("stamps_at_the_end_of_time_are_harmless") {
    machine_rig r({.reader = 10s}, nanoseconds::min());
    CHECK(r.event_at(0s).idle_for == nanoseconds::max());
    r.read(nanoseconds::max());
    CHECK(r.silent_at(1s));
}

TEST_CASE("seed_set_with_the_limits_counts_from_then_on") {
    machine_rig a({.reader = 1s}), b({.reader = 2s, .jitter = 0.3, .seed = 5});
    a.set_limits({.reader = 1s, .jitter = 1, .seed = 7});
    b.set_limits({.reader = 1s, .jitter = 1, .seed = 7});
    CHECK(a.look_at(0s) == b.look_at(0s));
}

// Activity and looks at random; the reference remembers all that ever happened.
TEST_CASE("random_scripts_agree_with_a_reference_that_remembers_everything") {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        CAPTURE(seed);
        cogwheel_tests::random_source random(seed);
        const auto limit = [&] { return nanoseconds(static_cast<std::int64_t>(random.below(4) * random.below(20))); };
        const idle_timeouts limits{.reader = limit(), .writer = limit(), .all = limit(), .ping = limit()};
        const nanoseconds of[] = {limits.reader, limits.writer, limits.all, limits.ping};
        machine_rig r(limits);
        std::vector<nanoseconds> reads{0ns}, writes{0ns};
        std::vector<nanoseconds> events[4];
        std::optional<nanoseconds> told[4]; // the activity before the last event
        nanoseconds now{}, look_at{};
        const auto last = [&](int k) {
            const nanoseconds of_both[] = {reads.back(), writes.back(), std::max(reads.back(), writes.back()),
                                           std::min(reads.back(), writes.back())};
            return of_both[k];
        };
        nanoseconds asked = -1ns; // by the first ping since the last read
        const auto due = [&](int k) {
            const nanoseconds at = std::max(last(k), events[k].empty() ? last(k) : events[k].back()) + of[k];
            const bool again = !events[k].empty() && events[k].back() > reads.back();
            if ((k != 0 && k != 2) || of[3] == 0ns || again) return at;
            return asked > reads.back() ? std::max(at, asked + of[k] - of[3]) : forever;
        };
        for (int step = 0; step < 300; ++step) {
            switch (random.below(4)) {
            case 0:
                r.read(now);
                reads.push_back(now);
                break;
            case 1:
                r.written(now);
                writes.push_back(now);
                break;
            default:
                now += nanoseconds(static_cast<std::int64_t>(1 + random.below(12)));
                for (;;) {
                    const auto s = r.ask(now);
                    look_at = forever;
                    int expected = -1;
                    for (int k = 3; k >= 0; --k)
                        if (of[k] > 0ns && due(k) <= now) expected = k;
                    REQUIRE(s.event.has_value() == (expected >= 0));
                    if (s.event) {
                        REQUIRE(static_cast<int>(s.event->kind) == expected);
                        REQUIRE(s.event->first == (std::exchange(told[expected], last(expected)) != last(expected)));
                        REQUIRE(s.event->idle_for >= of[expected]);
                        events[expected].push_back(now);
                        if (expected == 3 && asked <= reads.back()) asked = now;
                    }
                    for (int k = 0; k < 4; ++k)
                        if (of[k] > 0ns) look_at = std::min(look_at, due(k));
                    REQUIRE(s.look_at == look_at);
                    if (!s.event) break;
                }
            }
        }
    }
}
