// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Attempts of a hedge that throw, are dropped, or end inside their initiating function; its memory.
#include "support/asio/failing_executor.hpp"
#include "support/resilience/hedge_rig.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>

#include <memory>
#include <new>
#include <stdexcept>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE_TEMPLATE("hedge_is_two_allocations_and_frees_them_before_its_handler_runs", Wheel, BOTH_WHEELS) {
    hedge_rig<Wheel> r;
    allocation_log log;
    hedge_outcome out;
    r.start({.delay = 30ms, .attempts = 3}, logging_handler{&out, &log});
    r.pass(40ms);
    r.pass(40ms);
    CHECK(r.started == 3);
    // The timer is bound to the handler's executor, not to its memory.
    CHECK(log.allocations == 2);
    r.ends(2, {}, 1);
    CHECK(out.times == 1);
    CHECK(log.live == 0);
}

TEST_CASE_TEMPLATE("hedge_without_memory_throws_and_starts_nothing", Wheel, BOTH_WHEELS) {
    hedge_rig<Wheel> r;
    allocation_log log;
    hedge_outcome out;
    log.fail = true;
    CHECK_THROWS_AS(r.start({.delay = 30ms}, logging_handler{&out, &log}), std::bad_alloc);
    CHECK(r.started == 0);
    CHECK(log.live == 0);
    r.pass(1h);
    CHECK(out.times == 0);
}

TEST_CASE_TEMPLATE("attempt_ends_inside_its_initiating_function_the_hedge_completes_later", Wheel, BOTH_WHEELS) {
    hedge_rig<Wheel> r;
    hedge_outcome out;
    int starts = 0;
    std::error_code ec;
    SUBCASE("with success") {}
    SUBCASE("with a failure, each of them") { ec = asio::error::eof; }
    async_hedge(
        r.wheel, {.delay = 30ms, .attempts = 3},
        [&](auto token) {
            ++starts;
            return async_quick_read(r.io, ends::inside, ec, static_cast<std::size_t>(starts), token);
        },
        out.handler());
    CHECK(out.times == 0);
    CHECK(starts == (ec ? 3 : 1));
    r.run();
    CHECK(out.times == 1);
    CHECK(out.ec == ec);
    CHECK(out.bytes == static_cast<std::size_t>(starts));
    CHECK(r.wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("attempt_throws_its_code_is_what_came_of_it", Wheel, BOTH_WHEELS) {
    hedge_rig<Wheel> r;
    hedge_outcome out;
    async_hedge(r.wheel, {.delay = 30ms, .attempts = 3, .retryable = any_error},
                hedge_reading{[&](hedge_attempt& attempt) -> scripted_read& {
                    if (attempt.number() < 3) throw std::system_error(std::error_code(asio::error::no_descriptors));
                    return r.reads[0];
                }},
                out.handler());
    CHECK(r.reads[0].started == 1); // the third, at once
    r.ends(1, asio::error::eof, 4);
    CHECK(out.times == 1);
    CHECK(out.result.attempts == 3);
    CHECK(out.ec == asio::error::eof);
}

TEST_CASE_TEMPLATE("attempt_throws_with_its_handler_made_and_all_do", Wheel, BOTH_WHEELS) {
    hedge_rig<Wheel> r;
    hedge_outcome out;
    async_hedge(
        r.wheel, {.delay = 30ms, .attempts = 2, .retryable = any_error},
        [&](auto token) { return async_throwing_read(token); }, out.handler());
    CHECK(out.times == 0);
    r.run();
    CHECK(out.times == 1);
    CHECK(out.ec == std::errc::not_enough_memory);
    CHECK(out.result.attempts == 2);
    CHECK(r.wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("attempt_throws_something_else_at_first_leaves_the_initiating_function", Wheel, BOTH_WHEELS) {
    hedge_rig<Wheel> r;
    hedge_outcome out;
    allocation_log log;
    logging_handler handler{&out, &log};
    const auto life = handler.life;
    const auto start = [&] {
        async_hedge(r.wheel, {.delay = 30ms}, hedge_reading{[&](hedge_attempt&) -> scripted_read& {
                        if (r.started == 0) throw std::logic_error("operation");
                        return r.reads[0];
                    }},
                    std::move(handler));
    };
    CHECK_THROWS_AS(start(), std::logic_error);
    CHECK(life.use_count() == 1);
    CHECK(log.live == 0);
    CHECK(r.wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("attempt_throws_something_else_later_out_of_run_and_the_others_go_on", Wheel, BOTH_WHEELS) {
    hedge_rig<Wheel> r;
    hedge_outcome out;
    async_hedge(r.wheel, {.delay = 30ms, .attempts = 3, .retryable = any_error},
                hedge_reading{[&](hedge_attempt& attempt) -> scripted_read& {
                    if (attempt.number() == 2) throw std::logic_error("operation");
                    return r.reads[attempt.number() - 1];
                }},
                out.handler());
    CHECK_THROWS_AS(r.pass(40ms), std::logic_error);
    CHECK(r.reads[2].started == 1); // in place of the second
    r.run();
    r.ends(1, {}, 1);
    CHECK(out.times == 1);
    CHECK(out.result.attempts == 3);
    CHECK(out.result.winner == 1);
}

TEST_CASE_TEMPLATE("attempt_throws_something_else_later_when_no_other_is_left_the_hedge_completes_first", Wheel,
                   BOTH_WHEELS) {
    hedge_rig<Wheel> r;
    hedge_outcome out;
    asio::io_context other;
    const auto life = std::make_shared<int>();
    async_hedge(r.wheel, {.delay = 30ms}, hedge_reading{[&](hedge_attempt& attempt) -> scripted_read& {
                    if (attempt.number() == 2) {
                        r.reads[0].complete_here(asio::error::eof, 1);
                        throw std::logic_error("operation");
                    }
                    return r.reads[0];
                }},
                asio::bind_executor(other, noting_handler{&out, life}));
    r.pass(40ms);
    CHECK(out.times == 0);
    CHECK_THROWS_AS(run_ready(other), std::logic_error);
    run_ready(other);
    CHECK(out.times == 1);
    CHECK(out.result.attempts == 2);
    CHECK(life.use_count() == 1);
}

TEST_CASE_TEMPLATE("handler_throws_out_of_run_nothing_is_left", Wheel, BOTH_WHEELS) {
    hedge_rig<Wheel> r;
    const auto life = std::make_shared<int>();
    r.start({.delay = 30ms},
            [life](std::error_code, const hedge_result&, std::size_t) { throw std::runtime_error("handler"); });
    r.pass(40ms);
    r.reads[1].complete({}, 0);
    CHECK_THROWS_AS(r.run(), std::runtime_error);
    CHECK(life.use_count() == 1);
    r.run();
    CHECK(r.wheel.pending() == 0);
    CHECK(counts_agree(r.wheel.stats()));
}

TEST_CASE_TEMPLATE("attempt_dropped_the_handler_is_destroyed_when_the_others_have_ended", Wheel, BOTH_WHEELS) {
    hedge_rig<Wheel> r;
    hedge_outcome out;
    allocation_log log;
    logging_handler handler{&out, &log};
    const auto life = handler.life;
    bool at_once = false;
    SUBCASE("at once") {
        at_once = true;
        r.reads[0].on_start = [&] { r.reads[0].drop(); };
    }
    SUBCASE("later") {}
    r.start({.delay = 30ms}, std::move(handler));
    if (!at_once) {
        r.pass(40ms);
        r.reads[0].drop();
        CHECK(life.use_count() == 2);
        r.ends(2, {}, 1);
    }
    CHECK(life.use_count() == 1);
    CHECK(log.live == 0);
    CHECK(r.wheel.pending() == 0);
    r.pass(1h);
    CHECK(out.times == 0);
}

TEST_CASE_TEMPLATE("attempt_dropped_before_the_timer_no_other_starts_and_nothing_is_pending", Wheel, BOTH_WHEELS) {
    hedge_rig<Wheel> r;
    hedge_outcome out;
    allocation_log log;
    logging_handler handler{&out, &log};
    const auto life = handler.life;
    r.start({.delay = 30ms, .attempts = 3}, std::move(handler));
    r.pass(10ms);
    CHECK(r.wheel.pending() == 1);
    r.reads[0].drop();
    CHECK(r.wheel.pending() == 0);
    r.run();
    CHECK(life.use_count() == 1);
    CHECK(log.live == 0);
    r.pass(1h);
    CHECK(r.started == 1);
    CHECK(out.times == 0);
}

TEST_CASE_TEMPLATE("context_destroyed_the_handler_is_destroyed_with_it", Wheel, BOTH_WHEELS) {
    hedge_outcome out;
    allocation_log log;
    logging_handler handler{&out, &log};
    const auto life = handler.life;
    {
        hedge_rig<Wheel> r;
        r.start({.delay = 30ms, .attempts = 3}, std::move(handler));
        r.pass(40ms);
        CHECK(life.use_count() == 2);
    }
    CHECK(life.use_count() == 1);
    CHECK(log.live == 0);
    CHECK(out.times == 0);
}

namespace {

enum class attempt_does { throws_code, throws_other, fails_inside, fails_inside_and_throws, starts_and_throws, starts };
struct attempts_do {
    attempt_does first, second;
    bool leaves;
};

struct throwing_at_exit {
    bool does;
    ~throwing_at_exit() noexcept(false) {
        if (does) throw std::logic_error("too late");
    }
};

} // namespace

// While async_hedge() has not returned: either it throws, or the handler is called.
TEST_CASE_TEMPLATE("attempts_throw_in_the_initiating_function_it_throws_or_completes", Wheel, BOTH_WHEELS) {
    using enum attempt_does;
    for (const attempts_do& script :
         {attempts_do{throws_code, throws_code, false}, attempts_do{throws_code, throws_other, true},
          attempts_do{throws_code, starts, false}, attempts_do{throws_code, starts_and_throws, false},
          attempts_do{throws_other, throws_other, true}, attempts_do{fails_inside, throws_other, true},
          attempts_do{fails_inside, throws_code, false}, attempts_do{fails_inside, starts_and_throws, false},
          attempts_do{fails_inside, fails_inside_and_throws, true}, attempts_do{fails_inside_and_throws, starts, false},
          attempts_do{fails_inside_and_throws, throws_other, true}, attempts_do{starts_and_throws, starts, false}}) {
        CAPTURE(static_cast<int>(script.first));
        CAPTURE(static_cast<int>(script.second));
        hedge_rig<Wheel> r;
        hedge_outcome out;
        const auto life = std::make_shared<int>();
        const auto initiate = [&] {
            async_hedge(
                r.wheel, {.delay = 30ms, .retryable = any_error},
                [&](hedge_attempt& attempt, auto token) {
                    const attempt_does what = attempt.number() == 1 ? script.first : script.second;
                    if (what == throws_code) throw std::system_error(std::error_code(asio::error::no_descriptors));
                    if (what == throws_other) throw std::logic_error("operation");
                    scripted_read& read = r.reads[attempt.number() - 1];
                    if (what == fails_inside || what == fails_inside_and_throws)
                        read.on_start = [&read] { read.complete_here(asio::error::eof, 0); };
                    const throwing_at_exit at_exit{what == fails_inside_and_throws || what == starts_and_throws};
                    return read.async_run(token);
                },
                noting_handler{&out, life});
        };
        bool left = false;
        try {
            initiate();
        } catch (const std::logic_error&) {
            left = true;
        }
        CHECK(left == script.leaves);
        CHECK(out.times == 0);
        r.run();
        for (auto& read : r.reads) {
            if (read.pending()) read.complete(asio::error::eof, 0);
            r.run();
        }
        CHECK(out.times == (script.leaves ? 0 : 1));
        CHECK(life.use_count() == 1);
        CHECK(r.wheel.pending() == 0);
    }
}

TEST_CASE_TEMPLATE("post_fails_in_a_cancellation_the_hedge_goes_on", Wheel, BOTH_WHEELS) {
    hedge_rig<Wheel> r;
    hedge_outcome out;
    asio::cancellation_signal signal;
    bool fail = false;
    for (auto& read : r.reads)
        read.on_cancel = [&read](asio::cancellation_type) {
            if (read.pending()) read.complete_here(asio::error::operation_aborted, 0);
        };
    r.start({.delay = 1h}, asio::bind_cancellation_slot(
                               signal.slot(), asio::bind_executor(failing_executor(r.io, fail), out.handler())));
    fail = true;
    CHECK_THROWS_AS(signal.emit(asio::cancellation_type::terminal), std::bad_alloc);
    CHECK(r.reads[0].pending());
    fail = false;
    signal.emit(asio::cancellation_type::terminal);
    CHECK(out.times == 0);
    r.run();
    CHECK(out.times == 1);
    CHECK(out.ec == asio::error::operation_aborted);
    CHECK(r.wheel.pending() == 0);
}
