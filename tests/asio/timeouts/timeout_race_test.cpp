// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Races between an operation, its limit, its user and the wheel's end, on several threads: each completes exactly once.
// Real time, in which nothing is measured.
#include "support/net/socket_pair.hpp"
#include "support/threads.hpp"

#include <cogwheel/asio/timeout.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/buffer.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/post.hpp>
#include <asio/read.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/strand.hpp>
#include <asio/use_future.hpp>
#include <asio/write.hpp>
#include <doctest/doctest.h>

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

struct tally {
    std::atomic<int> started{0}, completed{0}, late{0}, aborted{0}, other{0};

    void count(std::error_code ec) {
        if (ec == asio::error::timed_out)
            ++late;
        else if (ec == asio::error::operation_aborted)
            ++aborted;
        else if (ec)
            ++other;
        ++completed;
    }
};

/// A wait of about as long as its limit, again and again.
class chain : public std::enable_shared_from_this<chain> {
public:
    chain(asio::io_context& io, timer_wheel& wheel, tally& t, int rounds)
        : timer_(io), wheel_(wheel), tally_(t), rounds_(rounds) {}

    void next() {
        if (rounds_-- == 0) return;
        ++tally_.started;
        timer_.expires_after(std::chrono::microseconds(500 + 250 * (rounds_ % 7)));
        timer_.async_wait(timeout(wheel_, 1ms, [self = shared_from_this()](std::error_code ec) {
            self->tally_.count(ec);
            self->next();
        }));
    }

private:
    asio::steady_timer timer_;
    timer_wheel& wheel_;
    tally& tally_;
    int rounds_;
};

} // namespace

TEST_CASE("race_completion_against_the_limit_on_many_threads") {
    asio::io_context io;
    timer_wheel wheel(io, {.tick = 1ms});
    tally t;
    for (int i = 0; i < 40; ++i) std::make_shared<chain>(io, wheel, t, 50)->next();
    on_threads(4, [&](int) { io.run(); });
    CHECK(t.started == 40 * 50);
    CHECK(t.completed == t.started);
    CHECK(t.other == 0);
    CHECK(wheel.pending() == 0);
}

TEST_CASE("race_started_by_threads_that_do_not_run_the_context") {
    // A wait that is over already completes while its initiating function runs.
    asio::io_context io;
    tally t;
    {
        runners threads(io, 2);
        timer_wheel wheel(io, {.tick = 1ms});
        on_threads(3, [&](int) {
            for (int i = 0; i < 1500; ++i) {
                // In the handler: Asio's timers must outlive the cancellation of their waits.
                auto timer = std::make_shared<asio::steady_timer>(io, i % 3 == 2 ? 1h : -1h);
                ++t.started;
                timer->async_wait(
                    timeout(wheel, i % 3 == 0 ? 1h : 0h, [&t, timer](std::error_code ec) { t.count(ec); }));
            }
        });
        while (t.completed != t.started) std::this_thread::yield();
        CHECK(wheel.pending() == 0);
    }
    CHECK(t.other == 0);
}

TEST_CASE("race_users_cancellation_against_the_limit") {
    asio::io_context io;
    tally t;
    constexpr int batch = 20, rounds = 60;
    {
        runners threads(io, 2);
        timer_wheel wheel(io, {.tick = 1ms});
        for (int r = 0; r < rounds; ++r) {
            std::deque<asio::cancellation_signal> signals(batch);
            std::deque<asio::steady_timer> timers;
            for (int i = 0; i < batch; ++i) {
                timers.emplace_back(io, 1h);
                ++t.started;
                timers.back().async_wait(
                    timeout(wheel, std::chrono::milliseconds(i % 3),
                            asio::bind_cancellation_slot(signals[static_cast<std::size_t>(i)].slot(),
                                                         [&t](std::error_code ec) { t.count(ec); })));
            }
            if (r % 2 == 0) wheel.async_wait(1ms, asio::use_future).wait();
            for (auto& s : signals) s.emit(asio::cancellation_type::terminal);
            while (t.completed != t.started) std::this_thread::yield();
            for (auto& s : signals) s.emit(asio::cancellation_type::terminal);
        }
        CHECK(wheel.pending() == 0);
    }
    CHECK(t.late + t.aborted == t.started);
}

TEST_CASE("race_all_timers_cancelled_or_the_wheel_gone_meanwhile") {
    asio::io_context io;
    tally t;
    {
        runners threads(io, 3);
        for (int r = 0; r < 60; ++r) {
            std::optional<timer_wheel> wheel(std::in_place, io, wheel_options{.tick = 1ms});
            std::deque<asio::cancellation_signal> signals(20);
            std::deque<asio::steady_timer> timers;
            for (std::size_t i = 0; i < signals.size(); ++i) {
                timers.emplace_back(io, 1h);
                ++t.started;
                timers.back().async_wait(timeout(
                    *wheel, std::chrono::milliseconds(i % 3),
                    asio::bind_cancellation_slot(signals[i].slot(), [&t](std::error_code ec) { t.count(ec); })));
            }
            std::thread emitter([&] {
                for (auto& s : signals) s.emit(asio::cancellation_type::total);
            });
            if (r % 3 == 0) wheel->cancel_all();
            if (r % 3 == 1) wheel->stop();
            wheel.reset();
            emitter.join();
            while (t.completed != t.started) std::this_thread::yield();
        }
    }
    CHECK(t.late + t.aborted == t.started);
}

TEST_CASE("race_in_strands_emission_and_handler_are_guarded_by_the_strand") {
    asio::io_context io;
    timer_wheel wheel(io, {.tick = 1ms});
    tally t;
    struct guarded {
        asio::strand<asio::io_context::executor_type> strand;
        asio::steady_timer timer;
        asio::cancellation_signal signal;
        int unguarded = 0;
        int rounds = 40;
        explicit guarded(asio::io_context& io) : strand(asio::make_strand(io)), timer(io) {}

        void next(timer_wheel& wheel, tally& t) {
            if (rounds-- == 0) return;
            ++t.started;
            timer.expires_after(std::chrono::microseconds(700 + 200 * (rounds % 5)));
            timer.async_wait(timeout(
                wheel, 1ms, asio::bind_cancellation_slot(signal.slot(), asio::bind_executor(strand, [&, this](auto ec) {
                                                             ++unguarded;
                                                             t.count(ec);
                                                             next(wheel, t);
                                                         }))));
            if (rounds % 4 == 0)
                asio::post(strand, [this] {
                    ++unguarded;
                    signal.emit(asio::cancellation_type::partial);
                });
        }
    };
    std::deque<guarded> all;
    for (int i = 0; i < 20; ++i) all.emplace_back(io);
    for (auto& g : all) asio::post(g.strand, [&] { g.next(wheel, t); });
    on_threads(4, [&](int) { io.run(); });
    for (auto& g : all) CHECK(g.unguarded == 40 + 10);
    CHECK(t.completed == 20 * 40);
    CHECK(t.other == 0);
    CHECK(wheel.pending() == 0);
}

TEST_CASE("race_coroutines_with_timeouts_in_strands") {
    asio::io_context io;
    timer_wheel wheel(io, {.tick = 1ms});
    std::atomic<int> ended{0}, finished{0};
    for (int i = 0; i < 20; ++i)
        asio::co_spawn(
            asio::make_strand(io),
            [&, i]() -> asio::awaitable<void> {
                for (int r = 0; r < 30; ++r) {
                    const auto inner = [&](std::chrono::microseconds delay) -> asio::awaitable<std::string> {
                        asio::steady_timer timer(co_await asio::this_coro::executor, delay);
                        co_await timer.async_wait(asio::use_awaitable);
                        co_return "done";
                    };
                    try {
                        const auto s =
                            co_await timeout(wheel, 1ms, inner(std::chrono::microseconds(400 * ((r + i) % 6))));
                        CHECK(s == "done");
                    } catch (const std::system_error& e) {
                        CHECK(e.code() == asio::error::timed_out);
                    }
                    ++ended;
                }
            },
            [&](std::exception_ptr e) {
                CHECK(e == nullptr);
                ++finished;
            });
    on_threads(4, [&](int) { io.run(); });
    CHECK(ended == 20 * 30);
    CHECK(finished == 20);
    CHECK(wheel.pending() == 0);
}

TEST_CASE("race_composed_operations_in_strands") {
    // Without the strands, the signal would come while the next part of async_read starts on another thread.
    asio::io_context io;
    timer_wheel wheel(io, {.tick = 1ms});
    tally t;
    const auto read = [&](stream_socket socket) -> asio::awaitable<void> {
        std::vector<char> all(1 << 20);
        for (int r = 0; r < 20; ++r) {
            std::error_code ec;
            ++t.started;
            co_await asio::async_read(socket, asio::buffer(all),
                                      timeout(wheel, 1ms, asio::redirect_error(asio::use_awaitable, ec)));
            t.count(ec);
        }
    };
    const auto write = [](stream_socket socket) -> asio::awaitable<void> {
        const std::string piece(16, 'x');
        std::error_code ec;
        while (!ec)
            co_await asio::async_write(socket, asio::buffer(piece), asio::redirect_error(asio::use_awaitable, ec));
    };
    std::atomic<int> finished{0};
    const auto finish = [&](std::exception_ptr e) {
        CHECK(e == nullptr);
        ++finished;
    };
    for (int i = 0; i < 10; ++i) {
        stream_socket reader(asio::make_strand(io)), writer(asio::make_strand(io));
        connect_pair(reader, writer);
        const auto of_reader = reader.get_executor(), of_writer = writer.get_executor();
        asio::co_spawn(of_reader, read(std::move(reader)), finish);
        asio::co_spawn(of_writer, write(std::move(writer)), finish);
    }
    on_threads(4, [&](int) { io.run(); });
    CHECK(finished == 20);
    CHECK(t.completed == t.started);
    CHECK(t.aborted == 0);
    CHECK(t.other == 0);
    CHECK(wheel.pending() == 0);
}
