// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a wheel tells while it runs: counts by kind, snapshots, boards for other threads, and slow turns.
#include "support/asio/handler_archetypes.hpp"
#include "support/asio/virtual_wheel.hpp"
#include "support/threads.hpp"

#include <cogwheel/asio/hierarchical_timer_wheel.hpp>
#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/asio/wheel_timer.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/steady_timer.hpp>

#include <atomic>
#include <stdexcept>
#include <vector>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE("kinds_each_operation_counts_as_its_own") {
    virtual_wheel w;
    virtual_wheel other; // on which operations wait for ever
    w.wheel.async_wait(10ms, must_complete());
    w.wheel.schedule(10ms, [] {});
    w.wheel.schedule(1h, must_not_run()).cancel();
    basic_wheel_timer<testing::manual_timer_wheel> object(w.wheel, 10ms);
    object.async_wait(must_complete());
    other.wheel.async_wait(1h, timeout(w.wheel, 10ms, must_complete(asio::error::timed_out)));
    other.wheel.async_wait(5ms, timeout(w.wheel, 1h, must_complete()));
    other.wheel.async_wait(1h, abandon(w.wheel, 10ms, must_complete(asio::error::timed_out)));
    wheel_stats s = w.wheel.stats();
    CHECK((s.of(timer_kind::wait) == timer_counts{1, 0, 0}));
    CHECK((s.of(timer_kind::callable) == timer_counts{2, 0, 1}));
    CHECK((s.of(timer_kind::object) == timer_counts{1, 0, 0}));
    CHECK((s.of(timer_kind::timeout) == timer_counts{3, 0, 0}));
    CHECK((s.of(timer_kind::request) == timer_counts{}));
    CHECK(s.of(timer_kind::timeout).pending() == 3);
    for (int i = 0; i < 10; ++i) {
        manual_clock::advance(5ms);
        run_ready(other.io);
        w.run();
        run_ready(other.io);
    }
    s = w.wheel.stats();
    CHECK((s.of(timer_kind::wait) == timer_counts{1, 1, 0}));
    CHECK((s.of(timer_kind::object) == timer_counts{1, 1, 0}));
    CHECK((s.of(timer_kind::timeout) == timer_counts{3, 2, 1})); // one operation ended in time
    CHECK(counts_agree(s));
    other.wheel.stop();
    run_ready(other.io);
}

TEST_CASE("next_due_is_empty_as_soon_as_the_last_timer_is_cancelled") {
    virtual_wheel w;
    w.wheel.schedule(1h, must_not_run()).cancel();
    CHECK_FALSE(w.wheel.stats().next_due.has_value()); // though a turn may still come
}

TEST_CASE("kinds_collected_timers_count_as_cancelled") {
    virtual_wheel w;
    virtual_wheel other;
    w.wheel.async_wait(1h, must_abort());
    w.wheel.schedule(1h, must_not_run());
    basic_wheel_timer<testing::manual_timer_wheel> object(w.wheel, 1h);
    object.async_wait(must_abort());
    other.wheel.async_wait(1h, timeout(w.wheel, 1h, must_abort()));
    CHECK(w.wheel.cancel_all() == 4);
    const wheel_stats s = w.wheel.stats();
    CHECK(s.cancelled == 4);
    for (const timer_kind k : {timer_kind::wait, timer_kind::callable, timer_kind::object, timer_kind::timeout}) {
        CAPTURE(to_string(k));
        CHECK((s.of(k) == timer_counts{1, 0, 1}));
    }
    w.run();
    run_ready(other.io);
    other.wheel.stop();
    run_ready(other.io);
}

TEST_CASE("turn_duration_includes_the_handlers") {
    virtual_wheel w;
    w.wheel.schedule(10ms, [] { manual_clock::advance(83ms); });
    w.wheel.schedule(10ms, [] {});
    w.pass(10ms);
    const wheel_stats s = w.wheel.stats();
    CHECK(s.turn_duration.max() == 83ms);
    CHECK(s.turn_duration.total() == s.turns);
    CHECK(s.lateness.max == 0ns); // both belong to the turn that began in time
}

TEST_CASE("turn_duration_includes_a_handler_that_throws") {
    virtual_wheel w;
    w.wheel.schedule(10ms, [] {
        manual_clock::advance(20ms);
        throw std::runtime_error("thrown by the test");
    });
    manual_clock::advance(10ms);
    CHECK_THROWS(w.run());
    const wheel_stats s = w.wheel.stats();
    CHECK(s.turn_duration.max() == 20ms);
    CHECK(s.turn_duration.total() == s.turns);
    CHECK(s.fired == 1);
}

TEST_CASE("lateness_counts_from_a_clock_reading_after_the_aborted_handlers") {
    virtual_wheel w;
    auto signal = asio::cancellation_signal();
    w.wheel.async_wait(
        1h, asio::bind_cancellation_slot(signal.slot(), [](std::error_code) { manual_clock::advance(30ms); }));
    w.wheel.schedule(10ms, [] {});
    signal.emit(asio::cancellation_type::total);
    w.run(); // the aborted handler takes 30 ms, then the other timer is 20 ms late
    CHECK(w.wheel.stats().lateness.max == 20ms);
    CHECK(w.wheel.stats().turn_duration.max() == 30ms);
}

TEST_CASE("next_due_counts_down_and_is_empty_without_timers") {
    virtual_wheel w;
    CHECK_FALSE(w.wheel.stats().next_due.has_value());
    const auto token = w.wheel.schedule(50ms, must_not_run());
    CHECK(w.wheel.stats().next_due == 50ms);
    manual_clock::advance(20ms);
    CHECK(w.wheel.stats().next_due == 30ms);
    manual_clock::advance(60ms);
    CHECK(w.wheel.stats().next_due == 0ns); // late
    CHECK(w.wheel.stats().due == 1);
    token.cancel();
    w.run();
    CHECK_FALSE(w.wheel.stats().next_due.has_value());
    CHECK(w.wheel.stats().due == 0);
}

TEST_CASE("exhausted_turns_only_if_work_is_left") {
    virtual_wheel w({.work_per_turn = 4});
    for (int i = 0; i < 12; ++i) w.wheel.schedule(10ms, [] {});
    w.pass(10ms);
    CHECK(w.wheel.stats().exhausted_turns == 2); // the third one fired the last four
    CHECK(w.wheel.stats().largest_turn == 4);
    CHECK(w.wheel.stats().turns == 3);
}

TEST_CASE("exhausted_turns_also_by_aborted_handlers") {
    virtual_wheel w({.work_per_turn = 4});
    for (int i = 0; i < 10; ++i) w.wheel.async_wait(1h, must_abort());
    w.wheel.cancel_all();
    w.run();
    CHECK(w.wheel.stats().exhausted_turns == 2);
}

TEST_CASE("empty_wakeups_find_no_timer") {
    virtual_wheel w;
    auto a = w.wheel.schedule(10ms, must_not_run());
    w.wheel.schedule(1h, must_not_run());
    a.reschedule(30min);
    w.pass(10ms);
    CHECK(w.wheel.stats().wakeups == 1);
    CHECK(w.wheel.stats().empty_wakeups == 1);
    w.wheel.stop();
    w.run();
}

TEST_CASE("stats_of_a_new_wheel_are_empty_also_in_a_reused_impl") {
    asio::io_context io;
    {
        testing::manual_timer_wheel first{io};
        first.schedule(10ms, [] { manual_clock::advance(5ms); });
        first.on_slow_turn({}, [](const slow_turn&) { FAIL_CHECK("not slow"); });
        pass(io, 10ms);
    }
    run_ready(io);
    testing::manual_timer_wheel second{io};
    const wheel_stats s = second.stats();
    CHECK(s.kinds == decltype(s.kinds){});
    CHECK(s.turns + s.wakeups + s.empty_wakeups + s.exhausted_turns + s.sweeps == 0);
    CHECK(s.turn_duration == duration_histogram());
    CHECK(s.lateness.histogram == duration_histogram());
}

TEST_CASE("longest_turns_with_their_timers_and_age") {
    virtual_wheel w;
    w.wheel.schedule(10ms, [] { manual_clock::advance(83ms); });
    w.wheel.schedule(10ms, [] {});
    w.pass(10ms);
    manual_clock::advance(2s);
    CHECK(w.wheel.stats().longest[0] == long_turn{83ms, 2, 2s});
    CHECK(w.wheel.stats().longest[1] == long_turn{});
    manual_clock::advance(1h);
    CHECK(w.wheel.stats().longest[0] == long_turn{});
}

// ---- boards ----

TEST_CASE("board_is_written_in_the_turn_after_it_was_asked") {
    asio::io_context io;
    manual_local_timer_wheel wheel{io};
    wheel.schedule(10ms, [] {});
    wheel.schedule(20ms, [] {});
    wheel.schedule(30ms, [] {});
    const auto board = wheel.publish();
    CHECK(wheel.publish() == board);
    CHECK(board->published() == 0);
    pass(io, 10ms);
    CHECK(board->published() == 0); // no reader has asked
    CHECK(board->latest().fired == 0);
    pass(io, 10ms);
    CHECK(board->published() == 1);
    CHECK(board->latest().fired == 2);
    CHECK(board->latest().levels.size() == 1);
    pass(io, 10ms);
    CHECK(board->published() == 2);
    CHECK(board->latest().fired == 3);
    CHECK_FALSE(board->latest().next_due.has_value());
    wheel.schedule(0ms, [] {});
    wheel.schedule(1h, must_not_run());
    run_ready(io);
    CHECK(board->latest().next_due == 1h); // as it is after the turn
    wheel.stop();
    run_ready(io);
}

TEST_CASE("board_shows_the_wheel_at_rest_after_a_burst") {
    asio::io_context io;
    manual_local_timer_wheel wheel{io, {.work_per_turn = 2}};
    const auto board = wheel.publish();
    for (int i = 0; i < 7; ++i) wheel.schedule(10ms, [] {});
    wheel.schedule(1h, must_not_run());
    board->latest(); // asked once, before four turns
    pass(io, 10ms);
    const wheel_snapshot s = board->latest();
    CHECK(s.fired == 7);
    CHECK(s.due == 0);
    CHECK(s.next_due == 1h - 10ms);
    wheel.stop();
    run_ready(io);
}

TEST_CASE("board_outlives_its_wheel") {
    asio::io_context io;
    std::shared_ptr<stats_board> board;
    {
        manual_local_timer_wheel wheel{io};
        wheel.schedule(1h, must_not_run());
        board = wheel.publish();
    }
    run_ready(io);
    CHECK(board->latest().pending == 1);
    { // another wheel in the same impl does not write to it
        manual_local_timer_wheel next{io};
        next.schedule(10ms, [] {});
        pass(io, 10ms);
        CHECK(board->latest().pending == 1);
    }
    run_ready(io);
}

TEST_CASE("board_read_by_other_threads") {
    asio::io_context io;
    local_timer_wheel wheel{io, {.tick = 1ms}};
    const auto board = wheel.publish();
    std::atomic<bool> done = false;
    std::uint64_t last = 0;
    on_threads(3, [&](int n) {
        if (n == 0) {
            int left = 2'000;
            struct again {
                local_timer_wheel& wheel;
                int& left;
                void operator()() {
                    if (--left > 0) wheel.schedule(0ms, again(*this));
                }
            };
            wheel.schedule(0ms, again{wheel, left});
            io.run();
            done = true;
            return;
        }
        std::uint64_t before = 0;
        while (!done) {
            const wheel_snapshot s = board->latest();
            CHECK(s.fired >= before);
            CHECK(counts_agree(s));
            before = s.fired;
        }
        if (n == 1) last = before;
    });
    CHECK(last <= 2'000);
}

// ---- slow turns ----

TEST_CASE("slow_turn_is_reported_without_the_lock") {
    virtual_wheel w;
    std::vector<slow_turn> reports;
    w.wheel.on_slow_turn({.longer_than = 50ms}, [&](const slow_turn& t) {
        reports.push_back(t);
        CHECK(w.wheel.pending() == 0); // takes the lock
    });
    w.wheel.schedule(10ms, [] { manual_clock::advance(50ms); }); // not longer than that
    w.pass(10ms);
    CHECK(reports.empty());
    w.wheel.schedule(10ms, [] { manual_clock::advance(83ms); });
    w.wheel.schedule(10ms, [] {});
    w.pass(10ms);
    REQUIRE(reports.size() == 1);
    CHECK((reports[0] == slow_turn{83ms, 2, 0, 0}));
}

TEST_CASE("slow_turn_reports_timers_that_wait") {
    virtual_wheel w({.work_per_turn = 10});
    std::vector<slow_turn> reports;
    w.wheel.on_slow_turn({.waiting = 25, .at_most_every = 0ns}, [&](const slow_turn& t) { reports.push_back(t); });
    for (int i = 0; i < 40; ++i) w.wheel.schedule(10ms, [] {});
    w.pass(10ms);
    REQUIRE(reports.size() == 1); // 30 wait after the first turn, 20 after the second
    CHECK(reports[0].fired == 10);
    CHECK(reports[0].waiting == 30);
}

TEST_CASE("slow_turn_reports_are_limited_and_counted") {
    virtual_wheel w;
    std::vector<slow_turn> reports;
    w.wheel.on_slow_turn({.longer_than = 5ms, .at_most_every = 1s}, [&](const slow_turn& t) { reports.push_back(t); });
    for (int i = 0; i < 5; ++i) {
        w.wheel.schedule(10ms, [] { manual_clock::advance(10ms); });
        w.pass(10ms);
    }
    CHECK(reports.size() == 1);
    manual_clock::advance(1s);
    w.wheel.schedule(10ms, [] { manual_clock::advance(10ms); });
    w.pass(10ms);
    REQUIRE(reports.size() == 2);
    CHECK(reports[1].skipped == 4);
}

TEST_CASE("slow_turn_receiver_is_replaced_and_removed") {
    virtual_wheel w;
    int destroyed = 0, first = 0, second = 0;
    const std::shared_ptr<void> life(nullptr, [&](void*) { ++destroyed; });
    const auto slow = [&] {
        w.wheel.schedule(10ms, [] { manual_clock::advance(100ms); });
        w.pass(10ms);
    };
    w.wheel.on_slow_turn({.at_most_every = 0ns}, [&first, life](const slow_turn&) { ++first; });
    slow();
    w.wheel.on_slow_turn({.at_most_every = 0ns}, [&](const slow_turn&) { ++second; });
    CHECK(life.use_count() == 1); // the former one is gone
    slow();
    w.wheel.on_slow_turn(nullptr);
    slow();
    CHECK(first == 1);
    CHECK(second == 1);
    CHECK_THROWS_AS(w.wheel.on_slow_turn({.waiting = 0}, [](const slow_turn&) {}), std::invalid_argument);
}

namespace {
/// Uses its wheel when it is destroyed. A mutex of the standard library is not recursive: under it, this hangs.
struct cancels_at_its_end {
    timer_token token;
    ~cancels_at_its_end() { token.cancel(); }
};
} // namespace

TEST_CASE("slow_turn_receiver_is_destroyed_without_the_lock") {
    asio::io_context io;
    timer_wheel wheel{io};
    const auto owner = [&] {
        auto o = std::make_shared<cancels_at_its_end>();
        o->token = wheel.schedule(1h, must_not_run());
        return o;
    };
    const auto turn = [&] {
        wheel.schedule(0ms, [] {});
        io.restart();
        io.poll();
    };
    constexpr slow_turn_options each{.longer_than = 0ns, .waiting = 1, .at_most_every = 0ns};
    wheel.on_slow_turn(each, [&wheel, o = owner()](const slow_turn&) { wheel.on_slow_turn(nullptr); }); // while it runs
    turn();
    wheel.on_slow_turn({}, [o = owner()](const slow_turn&) {});
    wheel.on_slow_turn({}, [o = owner()](const slow_turn&) {}); // another one takes its place
    CHECK(wheel.pending() == 1);
    wheel = timer_wheel(io); // the end of a wheel
    io.restart();
    io.poll();
    CHECK(wheel.pending() == 0);
}

TEST_CASE("slow_turn_receiver_may_own_what_belongs_to_the_context") {
    asio::io_context io;
    {
        timer_wheel wheel{io};
        wheel.on_slow_turn({}, [s = std::make_shared<asio::steady_timer>(io)](const slow_turn&) {});
        wheel.schedule(1h, must_not_run());
    }
    timer_wheel lasting{io};
    lasting.on_slow_turn({}, [s = std::make_shared<asio::steady_timer>(io)](const slow_turn&) {});
    // The context ends before the turn of the first wheel, and with the second wheel still there.
}

TEST_CASE("slow_turn_receiver_may_throw_and_replace_itself") {
    virtual_wheel w;
    w.wheel.on_slow_turn({}, [&](const slow_turn&) {
        w.wheel.on_slow_turn(nullptr);
        throw std::runtime_error("thrown by the test");
    });
    w.wheel.schedule(10ms, [] { manual_clock::advance(100ms); });
    bool ran = false;
    w.wheel.schedule(300ms, [&] { ran = true; });
    manual_clock::advance(10ms);
    CHECK_THROWS(w.run());
    w.pass(300ms);
    CHECK(ran);
}
