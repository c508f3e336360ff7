// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A sender that several threads use, on a context that several threads run.
#include "support/callback_rig.hpp"

#include <asio/error.hpp>
#include <asio/executor_work_guard.hpp>
#include <doctest/doctest.h>

#include <atomic>
#include <thread>

using namespace cogwheel;
using namespace cogwheel_tests;

namespace {

struct thread_tally {
    std::atomic<int> succeeded{0}, aborted{0}, other{0};

    auto handler() {
        return [this](std::error_code ec, const callback_result& r) {
            ++(ec == asio::error::operation_aborted       ? aborted
               : r.outcome == callback_outcome::succeeded ? succeeded
                                                          : other);
        };
    }
    int all() const { return succeeded + aborted + other; }
};

} // namespace

TEST_CASE("sender_serves_several_threads_and_is_closed_by_one") {
    constexpr int threads = 3, sends = 60;
    asio::io_context receiver_io{1};
    callback_receiver receiver(receiver_io);
    const std::string good = receiver.url("/200"), silent = receiver.url("/silent");
    std::thread receiving([&] { receiver_io.run(); });
    thread_tally tally;
    {
        asio::io_context io;
        auto work = asio::make_work_guard(io);
        timer_wheel wheel(io, {.tick = std::chrono::milliseconds(1)});
        auto options = loopback_options();
        options.use_circuit = true;
        options.max_in_flight = 20;
        options.max_waiting = 10'000;
        std::optional<callback_sender> sender(std::in_place, wheel, options);
        std::vector<std::thread> running, sending;
        for (int t = 0; t < threads; ++t) running.emplace_back([&] { io.run(); });
        for (int t = 0; t < threads; ++t)
            sending.emplace_back([&] {
                for (int i = 0; i < sends; ++i) {
                    sender->async_send({.url = good, .body = "{}"}, {.id = "a"}, tally.handler());
                    static_cast<void>(sender->stats());
                }
            });
        for (auto& t : sending) t.join();
        while (tally.all() < threads * sends) std::this_thread::yield();
        CHECK(tally.succeeded == threads * sends);

        for (int i = 0; i < 30; ++i) sender->async_send({.url = silent}, {.id = "a"}, tally.handler());
        while (sender->stats().in_flight < 20) std::this_thread::yield();
        sender.reset();
        while (tally.all() < threads * sends + 30) std::this_thread::yield();
        CHECK(tally.aborted == 30);
        work.reset();
        for (auto& t : running) t.join();
    }
    receiver_io.stop();
    receiving.join();
}
