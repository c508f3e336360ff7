// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// An operation's work on the executor of its handler is the last that goes of it: the context may be destroyed from
// then on.
#include "support/asio/noted_executor.hpp"
#include "support/net/idle_rig.hpp"
#include "support/resilience/hedge_rig.hpp"
#include "support/resilience/retry_rig.hpp"

#include <cogwheel/net/pending_requests.hpp>

#include <asio/bind_executor.hpp>

#include <memory>
#include <string>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

void check_last(const executor_note& note) {
    CHECK(note.work == 0);
    CHECK(note.copies == 0);
    CHECK(note.left_at_last == 0);
}

} // namespace

TEST_CASE_TEMPLATE("dropped_retry_ends_its_work_last", Wheel, BOTH_WHEELS) {
    executor_note note;
    asio::io_context other;
    retry_rig<Wheel> r;
    retry_outcome out;
    r.start(doubling(), asio::bind_executor(noted_executor<false>(other, note), out.handler()));
    CHECK(note.work >= 1);
    r.read.drop();
    check_last(note);
    CHECK(out.times == 0);
}

TEST_CASE_TEMPLATE("dropped_hedge_ends_its_work_last", Wheel, BOTH_WHEELS) {
    executor_note note;
    asio::io_context other;
    hedge_rig<Wheel> r;
    hedge_outcome out;
    r.start({.attempts = 1}, asio::bind_executor(noted_executor<false>(other, note), out.handler()));
    CHECK(note.work >= 1);
    r.reads.front().drop();
    check_last(note);
    CHECK(out.times == 0);
}

TEST_CASE_TEMPLATE("destroyed_idle_wait_ends_its_work_last", Wheel, BOTH_WHEELS) {
    executor_note note;
    asio::io_context other;
    auto io = std::make_unique<asio::io_context>();
    auto wheel = std::make_shared<Wheel>(*io, wheel_options{.tick = 1ms}); // which its handler owns
    auto idle = std::make_unique<idle_monitor<Wheel>>(*wheel, idle_timeouts{.reader = 10s});
    idle->async_idle(asio::bind_executor(noted_executor<false>(other, note),
                                         [wheel](std::error_code, idle_event) { FAIL_CHECK("ran"); }));
    CHECK(note.work >= 1);
    wheel.reset();
    idle.reset(); // its handler is on its way
    io.reset();
    check_last(note);
}

TEST_CASE_TEMPLATE("destroyed_idle_monitor_elsewhere_ends_its_work_last", Wheel, BOTH_WHEELS) {
    executor_note note;
    asio::io_context other;
    auto io = std::make_unique<asio::io_context>();
    auto wheel = std::make_shared<Wheel>(*io, wheel_options{.tick = 1ms});
    auto idle =
        std::make_unique<idle_monitor<Wheel>>(*wheel, noted_executor<false>(other, note), idle_timeouts{.reader = 10s});
    idle->async_idle([wheel](std::error_code, idle_event) { FAIL_CHECK("ran"); });
    CHECK(note.work >= 1);
    wheel.reset();
    idle.reset();
    io.reset();
    check_last(note);
}

TEST_CASE_TEMPLATE("destroyed_request_ends_its_work_last", Wheel, BOTH_WHEELS) {
    struct client {
        Wheel wheel;
        pending_requests<int, std::string, Wheel> requests{wheel};
        explicit client(asio::io_context& io) : wheel(io) {}
    };
    executor_note note;
    asio::io_context other;
    auto io = std::make_unique<asio::io_context>();
    auto c = std::make_shared<client>(*io);
    c->requests.async_wait(1, 10s,
                           asio::bind_executor(noted_executor<false>(other, note),
                                               [c](std::error_code, std::string) { FAIL_CHECK("ran"); }));
    CHECK(note.work >= 1);
    c.reset();
    io.reset();
    check_last(note);
}

TEST_CASE("timed_out_request_ends_its_work_without_the_wheels_lock") {
    executor_note note;
    asio::io_context other;
    virtual_wheel w;
    pending_requests<int, std::string, manual_timer_wheel> requests(w.wheel, noted_executor<false>(other, note));
    std::error_code end;
    int ends = 0;
    requests.async_wait(1, 10ms, [&](std::error_code ec, const std::string&) { end = ec; });
    CHECK(note.work == 1);
    note.at_last = [&] {
        CHECK(w.wheel.pending() == 0); // which takes the lock
        ++ends;
    };
    w.pass(10ms);
    run_ready(other);
    note.at_last = nullptr;
    CHECK(ends >= 1);
    CHECK(end == asio::error::timed_out);
}
