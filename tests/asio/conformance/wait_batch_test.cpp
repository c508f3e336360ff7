// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a handler may do to the rest of its batch: cancel it, add to it, throw, stop the context.
#include "support/asio/every_wait.hpp"
#include "support/asio/handler_archetypes.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/post.hpp>

#include <stdexcept>
#include <string>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE_TEMPLATE("handler_throws_mid_batch_the_rest_comes_with_the_next_run", W, EVERY_WAIT) {
    W w;
    int runs = 0, thrown = 0;
    for (int i = 0; i < 6; ++i)
        w.wait(10ms, [&](std::error_code ec) {
            CHECK_FALSE(ec);
            if (++runs % 2 == 0) throw std::runtime_error("from a handler");
        });
    manual_clock::advance(10ms);
    for (int i = 0; i < 10; ++i) {
        try {
            w.run();
        } catch (const std::runtime_error&) {
            ++thrown;
            CHECK(w.wheel.pending() == 6U - static_cast<unsigned>(runs));
            CHECK(counts_agree(w.wheel.stats()));
        }
    }
    CHECK(runs == 6);
    CHECK(thrown == 3);
    CHECK(w.wheel.stats().fired == 6);
}

TEST_CASE_TEMPLATE("abort_handler_throws_the_other_aborts_still_come", W, EVERY_WAIT) {
    W w;
    int aborted = 0, thrown = 0;
    for (int i = 0; i < 4; ++i)
        w.wait(1h, [&](std::error_code ec) {
            aborted += ec == asio::error::operation_aborted;
            throw std::runtime_error("from a handler");
        });
    w.wheel.cancel_all();
    for (int i = 0; i < 8; ++i) {
        try {
            w.run();
        } catch (const std::runtime_error&) {
            ++thrown;
        }
    }
    CHECK(aborted == 4);
    CHECK(thrown == 4);
}

TEST_CASE_TEMPLATE("aborted_before_the_others_expire_completes_before_them", W, EVERY_WAIT) {
    for (const std::uint32_t work : {1U, 2U, 1024U}) {
        CAPTURE(work);
        W w({.work_per_turn = work});
        std::string order;
        asio::cancellation_signal signal[3];
        for (auto& s : signal)
            w.wait(1h, asio::bind_cancellation_slot(s.slot(), [&](std::error_code ec) { order += ec ? 'a' : '?'; }));
        for (int i = 0; i < 3; ++i) w.wait(10ms, [&](std::error_code ec) { order += ec ? '?' : 'e'; });
        w.run();
        manual_clock::advance(10ms);
        for (auto& s : signal) s.emit(asio::cancellation_type::terminal);
        w.run();
        std::string expected = "aaaeee";
        if (work == 1) expected = "aeaeae"; // a turn does one of each
        if (work == 2) expected = "aaeeae";
        CHECK(order == expected);
    }
}

TEST_CASE_TEMPLATE("context_stopped_mid_batch_the_rest_runs_after_restart", W, EVERY_WAIT) {
    for (const std::uint32_t work : {1U, 2U, 1024U}) {
        CAPTURE(work);
        W w({.work_per_turn = work});
        int runs = 0;
        for (int i = 0; i < 10; ++i)
            w.wait(10ms, [&](std::error_code ec) {
                CHECK_FALSE(ec);
                if (++runs == 3) w.io.stop();
            });
        w.pass(10ms);
        CHECK(runs >= 3);
        if (work == 1) CHECK(runs == 3); // as stop() asks for; a larger turn is finished first
        CHECK(w.wheel.pending() == 10U - static_cast<unsigned>(runs));
        w.run();
        CHECK(runs == 10);
    }
}

TEST_CASE_TEMPLATE("cancel_all_in_a_handler_siblings_are_aborted", W, EVERY_WAIT) {
    W w;
    int succeeded = 0, aborted = 0;
    for (int i = 0; i < 5; ++i)
        w.wait(10ms, [&](std::error_code ec) {
            ec ? ++aborted : ++succeeded;
            if (!ec) CHECK(w.wheel.cancel_all() == 4);
        });
    w.pass(10ms);
    CHECK(succeeded == 1);
    CHECK(aborted == 4);
    CHECK(w.wheel.stats().cancelled == 4);
}

TEST_CASE_TEMPLATE("wait_started_in_a_handler_for_the_same_tick_completes_in_a_later_turn", W, EVERY_WAIT) {
    W w;
    bool outer = false, inner = false;
    const auto due = manual_clock::now() + 10ms;
    w.wait_until(due, [&](std::error_code) {
        w.wait_until(due, must_complete({}, &inner));
        outer = true;
    });
    manual_clock::advance(10ms);
    w.io.restart();
    while (!outer) w.io.poll_one();
    CHECK_FALSE(inner);
    w.run();
    CHECK(inner);
}

TEST_CASE_TEMPLATE("wait_restarted_with_no_delay_for_ever_does_not_starve_others", W, EVERY_WAIT) {
    W w;
    struct again {
        W* w;
        int* runs;
        void operator()(std::error_code ec) const {
            if (!ec && ++*runs < 1000) w->wait(0ms, *this);
        }
    };
    int runs = 0, runs_before_the_other = -1;
    w.wait(0ms, again{&w, &runs});
    asio::post(w.io, [&] { asio::post(w.io, [&] { runs_before_the_other = runs; }); });
    w.run();
    CHECK(runs == 1000);
    CHECK(runs_before_the_other >= 0);
    CHECK(runs_before_the_other < 10);
}

TEST_CASE_TEMPLATE("batch_larger_than_a_turn_other_handlers_run_in_between", W, EVERY_WAIT) {
    W w({.work_per_turn = 10});
    int runs = 0, seen_between = 0;
    for (int i = 0; i < 100; ++i) w.wait(10ms, [&](std::error_code) { ++runs; });
    manual_clock::advance(10ms);
    w.io.restart();
    struct watcher {
        W* w;
        int *runs, *seen;
        void operator()() const {
            if (*runs > 0 && *runs < 100) ++*seen;
            if (*runs < 100) asio::post(w->io, *this);
        }
    };
    asio::post(w.io, watcher{&w, &runs, &seen_between});
    w.run();
    CHECK(runs == 100);
    CHECK(seen_between > 5);
    CHECK(w.wheel.stats().largest_turn <= 10);
}
