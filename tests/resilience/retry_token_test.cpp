// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Every kind of completion token and of operation: callbacks, coroutines, futures; errors as codes and as exceptions.
#include "support/asio_versions.hpp"
#include "support/resilience/retry_rig.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/multiple_exceptions.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

// An address of this machine that nobody listens to.
asio::ip::tcp::endpoint refusing_endpoint(asio::io_context& io) {
    return asio::ip::tcp::acceptor(io, {asio::ip::address_v4::loopback(), 0}).local_endpoint();
}

using rig = retry_rig<manual_timer_wheel>;

/// Move-only, as its handler.
struct move_only_operation {
    scripted_read* read;
    std::unique_ptr<int> starts = std::make_unique<int>(0);

    template <class Token>
    auto operator()(Token token) {
        ++*starts;
        return read->async_run(std::move(token));
    }
};

// By a function of one type, so that co_spawn() is compiled once.
void spawn(asio::io_context& io, std::function<asio::awaitable<void>()> f) {
    asio::co_spawn(io, std::move(f), [](std::exception_ptr e) {
        if (e) std::rethrow_exception(e);
    });
}

} // namespace

static_assert(std::same_as<detail::attempt_signature<asio::awaitable<std::string> (*)(), retry_attempt,
                                                     asio::any_io_executor>::summarized<retry_result>,
                           void(std::exception_ptr, retry_result, std::string)>);
static_assert(std::same_as<detail::attempt_signature<asio::awaitable<void> (*)(retry_attempt&), retry_attempt,
                                                     asio::any_io_executor>::summarized<retry_result>,
                           void(std::exception_ptr, retry_result)>);

TEST_CASE("token_move_only_handler_and_operation") {
    rig r;
    int done = 0;
    async_retry(r.wheel, doubling(), move_only_operation{&r.read},
                [&, own = std::make_unique<int>(3)](std::error_code ec, const retry_result& result, std::size_t n) {
                    CHECK_FALSE(ec);
                    CHECK(result.attempts == 2);
                    CHECK(n == 4);
                    done += *own;
                });
    r.attempt_fails();
    r.pass(110ms);
    r.attempt_ends({}, 4);
    CHECK(done == 3);
}

TEST_CASE("token_lvalue_operation_is_copied") {
    rig r;
    retry_outcome out;
    {
        const auto operation = r.operation();
        async_retry(r.wheel, doubling(), operation, out.handler());
    }
    r.attempt_fails();
    r.pass(110ms);
    r.attempt_ends({}, 4);
    CHECK(out.bytes == 4);
}

TEST_CASE("token_use_awaitable_returns_the_result_and_throws_the_error") {
    rig r;
    int step = 0;
    spawn(r.io, [&]() -> asio::awaitable<void> {
        const auto [result, n] = co_await r.start(doubling(), asio::use_awaitable);
        CHECK(result.attempts == 2);
        CHECK(n == 9);
        step = 1;
        try {
            co_await r.start(doubling(1), asio::use_awaitable);
            FAIL_CHECK("did not throw");
        } catch (const std::system_error& e) {
            CHECK(e.code() == asio::error::eof);
        }
        const auto [ec, again, m] = co_await r.start(doubling(1), as_tuple(asio::use_awaitable));
        CHECK(ec == asio::error::eof);
        CHECK(again.last_error == asio::error::eof);
        CHECK(m == 2);
        step = 2;
    });
    r.run();
    r.attempt_fails();
    r.pass(110ms);
    r.attempt_ends({}, 9);
    CHECK(step == 1);
    r.attempt_ends(asio::error::eof);
    r.attempt_ends(asio::error::eof, 2);
    CHECK(step == 2);
}

TEST_CASE("coroutine_of_several_operations_that_fail_is_tried_again_by_the_first_error") {
    rig r;
    int attempts = 0, times = 0;
    async_retry(
        r.wheel, doubling(),
        [&]() -> asio::awaitable<std::size_t> { // as a && b and a || b throw
            if (++attempts < 3)
                throw asio::multiple_exceptions(std::make_exception_ptr(std::system_error(asio::error::eof)));
            co_return 7;
        },
        [&](const std::exception_ptr& e, const retry_result& result, std::size_t n) {
            CHECK(!e);
            CHECK(result.attempts == 3);
            CHECK(n == 7);
            ++times;
        });
    r.run();
    for (int i = 0; i < 2; ++i) r.pass(1s);
    CHECK(attempts == 3);
    CHECK(times == 1);
}

TEST_CASE("token_use_future") {
    rig r;
    auto good = r.start(doubling(), asio::use_future);
    r.attempt_ends({}, 9);
    CHECK(std::get<1>(good.get()) == 9);
    auto bad = r.start(doubling(1), asio::use_future);
    r.attempt_ends(asio::error::eof);
    CHECK_THROWS_AS(bad.get(), std::system_error);
}

TEST_CASE("token_deferred_starts_nothing_until_it_is_given_a_handler") {
    rig r;
    retry_outcome out;
    auto later = r.start(doubling(), deferred);
    r.run();
    CHECK(r.read.started == 0);
    std::move(later)(out.handler());
    CHECK(r.read.started == 1);
    r.attempt_fails();
    r.pass(110ms);
    r.attempt_ends({}, 4);
    CHECK(out.bytes == 4);
}

TEST_CASE("token_default_of_the_wheels_executor") {
    using with_default = asio::use_awaitable_t<>::executor_with_default<asio::any_io_executor>;
    asio::io_context io;
    basic_timer_wheel<manual_clock, multi_threaded, hashed_wheel, with_default> wheel(with_default(io.get_executor()));
    scripted_read read(io.get_executor());
    bool done = false;
    spawn(io, [&]() -> asio::awaitable<void> {
        const auto [result, n] = co_await async_retry(
            wheel, doubling(), virtual_reading{[&](virtual_attempt&) -> scripted_read& { return read; }});
        CHECK(n == 3);
        done = true;
    });
    run_ready(io);
    read.complete({}, 3);
    run_ready(io);
    CHECK(done);
}

TEST_CASE("operation_is_a_coroutine_its_exceptions_are_its_errors") {
    rig r;
    bool done = false;
    spawn(r.io, [&]() -> asio::awaitable<void> {
        int starts = 0;
        const auto [result, text] = co_await async_retry(
            r.wheel, doubling(),
            [&](virtual_attempt& attempt) -> asio::awaitable<std::string> {
                ++starts;
                CHECK(attempt.number() == static_cast<std::uint32_t>(starts));
                if (starts == 1) throw std::system_error(std::error_code(asio::error::connection_reset));
                co_await r.wheel.async_wait(50ms, asio::use_awaitable);
                co_return "answer";
            },
            asio::use_awaitable);
        CHECK(text == "answer");
        CHECK(result.attempts == 2);
        done = true;
    });
    r.run();
    r.pass(110ms);
    CHECK_FALSE(done);
    r.pass(60ms);
    CHECK(done);
}

TEST_CASE("operation_is_a_coroutine_without_parameters_or_result") {
    rig r;
    int starts = 0;
    std::exception_ptr error;
    retry_result result;
    async_retry(
        r.wheel, doubling(2),
        [&]() -> asio::awaitable<void> {
            ++starts;
            throw std::system_error(std::error_code(asio::error::eof));
            co_return;
        },
        [&](const std::exception_ptr& e, const retry_result& all) {
            error = e;
            result = all;
        });
    r.run();
    r.pass(110ms);
    CHECK(starts == 2);
    CHECK(result.end == retry_end::attempts_used);
    CHECK(result.last_error == asio::error::eof);
    CHECK_THROWS_AS(std::rethrow_exception(error), std::system_error);
}

namespace {

using coroutine = std::function<asio::awaitable<int>()>;

struct failure {
    std::exception_ptr error;
    retry_result result;

    auto handler() {
        return [this](const std::exception_ptr& e, const retry_result& all, int) {
            error = e;
            result = all;
        };
    }
};

} // namespace

TEST_CASE("operation_throws_an_exception_without_a_code_it_arrives_itself") {
    rig r;
    failure out;
    const coroutine operation = []() -> asio::awaitable<int> {
        throw std::out_of_range("seven");
        co_return 0;
    };
    async_retry(r.wheel, doubling(), operation, out.handler());
    r.run();
    CHECK_THROWS_WITH_AS(std::rethrow_exception(out.error), "seven", std::out_of_range);
    CHECK(out.result.attempts == 1);
    CHECK(out.result.end == retry_end::not_retryable);
    CHECK(out.result.last_error == std::errc::state_not_recoverable);
}

TEST_CASE("operation_throws_before_its_coroutine_begins_it_arrives_itself") {
    rig r;
    failure out;
    const coroutine operation = []() -> asio::awaitable<int> { throw std::out_of_range("no coroutine at all"); };
    async_retry(r.wheel, doubling(), operation, out.handler());
    CHECK_FALSE(out.error);
    r.run();
    CHECK_THROWS_AS(std::rethrow_exception(out.error), std::out_of_range);
}

TEST_CASE("operation_is_a_coroutine_and_too_slow") {
    rig r;
    virtual_policy p = doubling(2);
    p.attempt_timeout = 50ms;
    failure out;
    const coroutine operation = [&]() -> asio::awaitable<int> {
        co_await r.wheel.async_wait(1h, asio::use_awaitable);
        co_return 1;
    };
    async_retry(r.wheel, p, operation, out.handler());
    r.run();
    r.pass(60ms);
    r.pass(110ms);
    r.pass(60ms);
    CHECK(out.result.attempts == 2);
    CHECK(out.result.last_error == asio::error::timed_out);
    CHECK(detail::code_of(out.error) == asio::error::timed_out);
    CHECK(r.wheel.pending() == 0);
}

TEST_CASE("operation_with_errors_as_exceptions_is_cancelled_by_one") {
    rig r;
    asio::cancellation_signal signal;
    failure out;
    const coroutine operation = []() -> asio::awaitable<int> {
        throw std::system_error(std::error_code(asio::error::eof));
        co_return 1;
    };
    async_retry(r.wheel, doubling(), operation, asio::bind_cancellation_slot(signal.slot(), out.handler()));
    r.run();
    CHECK_FALSE(out.error);
    signal.emit(asio::cancellation_type::terminal);
    r.run();
    CHECK(detail::code_of(out.error) == asio::error::operation_aborted);
}

TEST_CASE("coroutine_that_awaits_a_retry_is_cancelled_while_waiting") {
    rig r;
    asio::cancellation_signal signal;
    std::error_code seen;
    asio::co_spawn(
        r.io,
        [&]() -> asio::awaitable<void> {
            try {
                co_await r.start(doubling(), asio::use_awaitable);
            } catch (const std::system_error& e) {
                seen = e.code();
            }
        },
        asio::bind_cancellation_slot(signal.slot(), asio::detached));
    r.run();
    r.attempt_fails();
    CHECK(r.wheel.pending() == 1);
    signal.emit(asio::cancellation_type::terminal);
    r.run();
    CHECK(seen == asio::error::operation_aborted);
    CHECK(r.wheel.pending() == 0);
}

TEST_CASE("operation_connects_a_socket_that_nobody_listens_to_and_then_somebody_does") {
    asio::io_context io;
    manual_timer_wheel wheel(io);
    const auto peer = refusing_endpoint(io);
    asio::ip::tcp::acceptor acceptor(io);
    asio::ip::tcp::socket socket(io);
    bool done = false;
    spawn(io, [&]() -> asio::awaitable<void> {
        const auto result = co_await async_retry(
            wheel, doubling(),
            [&](virtual_attempt& attempt, auto token) {
                if (attempt.number() == 2) {
                    acceptor.open(peer.protocol());
                    acceptor.set_option(asio::socket_base::reuse_address(true));
                    acceptor.bind(peer);
                    acceptor.listen();
                }
                socket = asio::ip::tcp::socket(io);
                return socket.async_connect(peer, token);
            },
            asio::use_awaitable);
        CHECK(result.attempts == 2);
        done = true;
    });
    io.restart();
    while (wheel.pending() == 0) io.run_one();
    manual_clock::advance(110ms);
    while (!done) io.run_one();
    CHECK(socket.is_open());
}

TEST_CASE("socket_closed_before_each_attempt_is_refused_by_the_peer_each_time") {
    asio::io_context io;
    manual_timer_wheel wheel(io);
    const auto peer = refusing_endpoint(io);
    asio::ip::tcp::socket socket(io);
    std::vector<std::error_code> errors;
    auto policy = doubling();
    policy.retryable = [&](const std::error_code& ec) {
        errors.push_back(ec);
        return true;
    };
    bool done = false;
    async_retry(
        wheel, policy,
        [&](auto token) {
            socket.close();
            return socket.async_connect(peer, token);
        },
        [&](std::error_code, retry_result) { done = true; });
    while (!done) {
        if (wheel.pending() != 0) manual_clock::advance(10s);
        io.run_one();
    }
    CHECK(errors.size() > 1);
    for (const std::error_code& ec : errors) CHECK(ec == asio::error::connection_refused);
}
