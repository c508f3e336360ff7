// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The trial. Limits that are to be reached are short, all others long, so a busy machine changes nothing but how long
// it takes.

#include "program.hpp"

#include "support/command_line.hpp"

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string_view>
#include <vector>

namespace demo {
namespace {

using namespace std::chrono_literals;
using asio::use_awaitable;
using clock = std::chrono::steady_clock;

constexpr auto patience = 30s;

class trial {
public:
    explicit trial(asio::io_context& io) : io_{io}, server_{io.get_executor(), wheel_} {}

    asio::awaitable<void> run() {
        const auto pool = make_pool(1h);
        co_await many_share_two(pool);
        co_await what_breaks_is_not_reused(pool);
        co_await first_come_first_served(pool);
        co_await who_waits_too_long_is_told(pool);
        co_await peer_hangs_up(pool);
        co_await end_of_pool(pool);
        co_await idle_ones_expire(make_pool(150ms));
    }
    void end() { server_.stop(); }

    int failures() const { return failures_; }

private:
    pool_pointer make_pool(std::chrono::nanoseconds idle_limit) {
        return std::make_shared<connection_pool<wheel>>(io_.get_executor(), wheel_, server_.endpoint(),
                                                        pool_options{.max_connections = 2, .idle_limit = idle_limit});
    }

    void check(std::string_view what, bool holds, const std::string& detail) {
        failures_ += holds ? 0 : 1;
        fmt::print("{:4} {} ({})\n", holds ? "ok" : "FAIL", what, detail);
    }

    // False if it does not come to pass.
    template <class Condition>
    asio::awaitable<bool> eventually(Condition condition) {
        for (const auto end = clock::now() + patience; !condition() && clock::now() < end;)
            co_await wheel_.async_wait(10ms, use_awaitable);
        co_return condition();
    }

    // What acquire() ends with: success if it got one.
    asio::awaitable<std::error_code> acquire_in_vain(pool_pointer pool, std::chrono::nanoseconds within) {
        try {
            co_await pool->acquire(cogwheel::deadline::after(within));
        } catch (const std::system_error& e) {
            co_return e.code();
        }
        co_return std::error_code{};
    }

    asio::awaitable<void> many_share_two(pool_pointer pool) {
        int right = 0, answered = 0;
        for (int i = 0; i < 12; ++i) {
            const auto question = fmt::format("question {}\n", i);
            asio::co_spawn(io_, ask(pool, question, patience),
                           [&, question](const std::exception_ptr&, const std::string& answer) {
                               ++answered;
                               right += answer == question ? 1 : 0;
                           });
        }
        co_await eventually([&] { return answered == 12; });
        const pool_stats& s = pool->stats();
        check("twelve at once share two connections", right == 12 && s.opened == 2 && s.reused == 10,
              fmt::format("{} answers, {} opened, {} reused", right, s.opened, s.reused));
    }

    asio::awaitable<void> what_breaks_is_not_reused(pool_pointer pool) {
        const auto opened = pool->stats().opened;
        bool threw = false;
        try {
            co_await ask(pool, "drop\n", patience);
        } catch (const std::system_error&) {
            threw = true;
        }
        const bool gone = threw && pool->size() == 1 && pool->stats().broken == 1;
        for (int i = 0; i < 3; ++i) co_await ask(pool, "again\n", patience);
        check("a connection that broke is not used again", gone && pool->stats().opened == opened,
              fmt::format("{} broken, the other one serves", pool->stats().broken));
    }

    asio::awaitable<void> first_come_first_served(pool_pointer pool) {
        std::string order;
        const auto kept = co_await pool->acquire({});
        {
            const auto given_up = co_await pool->acquire({});
            for (const char who : {'a', 'b', 'c', 'd'})
                asio::co_spawn(io_, ask(pool, "me\n", patience),
                               [&order, who](const std::exception_ptr&, const std::string&) { order += who; });
            co_await eventually([&] { return pool->waiting() == 4; });
        } // not released: the first who waits opens another one in its place
        co_await eventually([&] { return order.size() == 4; });
        check("first come, first served", order == "abcd", order);
    }

    asio::awaitable<void> who_waits_too_long_is_told(pool_pointer pool) {
        auto one = co_await pool->acquire({}), two = co_await pool->acquire({});
        const auto began = clock::now();
        const std::error_code ec = co_await acquire_in_vain(pool, 100ms);
        const auto took = clock::now() - began;
        one.release();
        two.release();
        check("who waits too long is told",
              ec == asio::error::timed_out && took >= 100ms && pool->waiting() == 0 && pool->idle() == 2 &&
                  pool->stats().timed_out == 1,
              fmt::format("{} after {} ms", ec.message(),
                          std::chrono::duration_cast<std::chrono::milliseconds>(took).count()));
    }

    asio::awaitable<void> peer_hangs_up(pool_pointer pool) {
        server_.hang_up();
        const std::string answer = co_await ask(pool, "still there?\n", patience); // the pool has not been told yet
        check("a connection that the peer closed is not handed out", answer == "still there?\n",
              fmt::format("{} closed by the peer", pool->stats().closed_by_peer));
        server_.hang_up();
        const bool empty = co_await eventually([&] { return pool->size() == 0; });
        check("nor kept", empty && pool->stats().closed_by_peer == 3,
              fmt::format("{} closed by the peer", pool->stats().closed_by_peer));
    }

    asio::awaitable<void> end_of_pool(pool_pointer pool) {
        std::error_code ec;
        auto one = co_await pool->acquire({}), two = co_await pool->acquire({});
        bool told = false;
        asio::co_spawn(io_, acquire_in_vain(pool, patience), [&](const std::exception_ptr&, std::error_code e) {
            ec = e;
            told = true;
        });
        co_await eventually([&] { return pool->waiting() == 1; });
        pool->close();
        one.release();
        co_await eventually([&] { return told; });
        two.release();
        check("a pool that is closed tells who waits, and keeps nothing",
              ec == asio::error::operation_aborted && pool->size() == 0, ec.message());
    }

    asio::awaitable<void> idle_ones_expire(pool_pointer pool) {
        co_await ask(pool, "hello\n", patience);
        const auto before = clock::now();
        co_await ask(pool, "hello\n", patience);
        const bool both_gone = co_await eventually([&] { return pool->idle() == 0 && server_.connections() == 0; });
        const auto took = clock::now() - before;
        check("an idle connection expires", both_gone && took >= 150ms && pool->stats().expired > 0,
              fmt::format("after {} ms", std::chrono::duration_cast<std::chrono::milliseconds>(took).count()));
        pool->close();
    }

    asio::io_context& io_;
    wheel wheel_{io_};
    echo_server server_;
    int failures_ = 0;
};

} // namespace

int run(int argc, char** argv) {
    return command_line::run(argc, argv, "connection_pool", "Tries its pool on a server of its own.", [] {
        asio::io_context io{1};
        trial t{io};
        std::exception_ptr failure;
        asio::co_spawn(io, t.run(), [&](const std::exception_ptr& e) {
            failure = e;
            t.end();
        });
        io.run();
        try {
            if (failure != nullptr) std::rethrow_exception(failure);
        } catch (const std::exception& error) {
            output::complain("connection_pool: {}\n", error.what());
            return 1;
        }
        return t.failures() == 0 ? 0 : 1;
    });
}

} // namespace demo
