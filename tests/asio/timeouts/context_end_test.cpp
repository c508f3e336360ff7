// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The end of the execution context: a limited operation's handler is destroyed uninvoked, whatever it was waiting for.
#include "support/asio/asio_backend.hpp"
#include "support/asio/scripted_operation.hpp"

#include <asio/bind_executor.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <optional>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

/// Owns the wheel, as handlers do: a cycle that the context's end has to break.
template <class Wheel>
struct owning_handler {
    std::shared_ptr<Wheel> wheel;
    std::shared_ptr<int> alive;
    void operator()(std::error_code, std::size_t = 0) const { FAIL_CHECK("ran"); }
};

/// An operation of the context's own, which it destroys when it ends.
template <class Wheel, class Token>
void wait_forever(asio::io_context& io, Token&& token) {
    auto timer = std::make_shared<asio::steady_timer>(io, 1h);
    auto& t = *timer;
    t.async_wait(std::forward<Token>(token));
    asio::post(io, [timer = std::move(timer)] {}); // outlives the run: never polled
}

} // namespace

TEST_CASE_TEMPLATE("operation_pending_at_the_end", Wheel, BOTH_WHEELS) {
    auto alive = std::make_shared<int>();
    {
        asio::io_context io;
        auto wheel = std::make_shared<Wheel>(io);
        asio::ip::tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
        asio::ip::tcp::socket peer(io);
        acceptor.async_accept(
            peer, timeout(*wheel, 1h, [h = owning_handler<Wheel>{wheel, alive}](std::error_code ec) { h(ec); }));
        run_ready(io);
        CHECK(alive.use_count() == 2);
    }
    CHECK(alive.use_count() == 1);
}

TEST_CASE_TEMPLATE("wheels_service_older_or_younger_than_the_operations", Wheel, BOTH_WHEELS) {
    auto alive = std::make_shared<int>();
    {
        asio::io_context io;
        std::optional<asio::steady_timer> older;
        SUBCASE("older") {}
        SUBCASE("younger") { older.emplace(io); }
        auto wheel = std::make_shared<Wheel>(io);
        wait_forever<Wheel>(io, timeout(*wheel, 1h, owning_handler<Wheel>{wheel, alive}));
    }
    CHECK(alive.use_count() == 1);
}

TEST_CASE_TEMPLATE("timer_fired_and_operation_pending_at_the_end", Wheel, BOTH_WHEELS) {
    auto alive = std::make_shared<int>();
    {
        asio::io_context io;
        scripted_read read(io.get_executor()); // deaf
        {
            auto wheel = std::make_shared<Wheel>(io);
            read.async_run(timeout(*wheel, 10ms, owning_handler<Wheel>{wheel, alive}));
        }
        pass(io, 20ms);
        CHECK(read.cancelled.size() == 1);
        CHECK(alive.use_count() == 2);
        asio::post(io, [r = std::make_shared<scripted_read>(std::move(read))] {}); // the context's from here on
    }
    CHECK(alive.use_count() == 1);
}

TEST_CASE_TEMPLATE("results_waiting_for_the_emission_at_the_end", Wheel, BOTH_WHEELS) {
    asio::io_context wheels;
    Wheel wheel(wheels);
    auto alive = std::make_shared<int>();
    {
        asio::io_context io;
        scripted_read read(io.get_executor());
        read.async_run(timeout(wheel, 10ms, [alive](std::error_code, std::size_t) { FAIL_CHECK("ran"); }));
        pass(wheels, 20ms); // the emission is posted to io
        read.complete_here({}, 1);
        CHECK(read.cancelled.empty());
        CHECK(alive.use_count() == 2);
    }
    CHECK(alive.use_count() == 1);
}

TEST_CASE_TEMPLATE("aborted_by_stop_and_not_delivered_at_the_end", Wheel, BOTH_WHEELS) {
    auto alive = std::make_shared<int>();
    {
        asio::io_context io;
        auto wheel = std::make_shared<Wheel>(io);
        wait_forever<Wheel>(io, timeout(*wheel, 1h, owning_handler<Wheel>{wheel, alive}));
        wheel->stop();
    }
    CHECK(alive.use_count() == 1);
}

TEST_CASE_TEMPLATE("completed_between_stop_and_the_end", Wheel, BOTH_WHEELS) {
    auto alive = std::make_shared<int>();
    {
        asio::io_context io;
        auto wheel = std::make_shared<Wheel>(io);
        scripted_read read(io.get_executor());
        int times = 0;
        read.async_run(timeout(*wheel, 1h, [wheel, alive, &times](std::error_code, std::size_t) { ++times; }));
        asio::post(io, [&] { read.complete({}, 1); });
        wheel->stop();
        wheel.reset();
        // The completion, and not the turn; with io_uring, an operation of Asio's before it.
        for (int i = 0; i < (on_io_uring ? 2 : 1) && read.pending(); ++i) io.run_one();
        CHECK_FALSE(read.pending());
        CHECK(times == 1);
    }
    CHECK(alive.use_count() == 1);
}

TEST_CASE_TEMPLATE("refused_and_not_delivered_at_the_end", Wheel, BOTH_WHEELS) {
    auto alive = std::make_shared<int>();
    {
        asio::io_context io;
        auto wheel = std::make_shared<Wheel>(io);
        wheel->stop();
        scripted_read read(io.get_executor());
        read.async_run(timeout(*wheel, 1h, owning_handler<Wheel>{wheel, alive}));
    }
    CHECK(alive.use_count() == 1);
}

TEST_CASE_TEMPLATE("emission_queued_on_another_context_that_ends_first", Wheel, BOTH_WHEELS) {
    asio::io_context io;
    Wheel wheel(io);
    auto alive = std::make_shared<int>();
    scripted_read read(io.get_executor());
    {
        asio::io_context other;
        read.async_run(timeout(
            wheel, 10ms, asio::bind_executor(other, [alive](std::error_code, std::size_t) { FAIL_CHECK("ran"); })));
        pass(io, 20ms);
        CHECK(read.cancelled.empty());
    }
    read.drop();
    CHECK(alive.use_count() == 1);
    CHECK(wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("operation_drops_its_handler_the_timer_goes_too", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    auto alive = std::make_shared<int>();
    r.read.async_run(timeout(r.wheel, 10ms, [alive](std::error_code, std::size_t) { FAIL_CHECK("ran"); }));
    SUBCASE("pending") { r.read.drop(); }
    SUBCASE("inside its cancellation") {
        r.read.on_cancel = [&](asio::cancellation_type) { r.read.drop(); };
        r.pass(20ms);
    }
    CHECK(alive.use_count() == 1);
    CHECK(r.wheel.pending() == 0);
}
