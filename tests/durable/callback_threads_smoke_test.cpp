// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A sender that several threads use, on a context that several threads run.
#include "support/durable/callback_rig.hpp"

#include <cogwheel/durable/callback_handler.hpp>
#include <cogwheel/durable/durable_worker.hpp>
#include <cogwheel/tasks/task_storage.hpp>

#include <asio/error.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
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

TEST_CASE("callbacks_of_a_queue_wait_for_their_hosts_on_several_threads") {
    constexpr int to_good = 100, to_bad = 12;
    asio::io_context receiving(1), io(3);
    callback_receiver good(receiving), bad(receiving);
    const std::string good_url = good.url("/200"), bad_url = bad.url("/500");
    std::thread receiver([&] { receiving.run(); });

    timer_wheel wheel(io);
    memory_storage storage;
    durable_queue queue(wheel, storage);
    callback_options options = loopback_options();
    options.use_circuit = true;
    options.circuit.failures_in_a_row = 2;
    options.circuit.open_for = backoff::constant(std::chrono::milliseconds(20));
    callback_handler handler(std::make_shared<callback_sender>(wheel, options));
    durable_worker worker(queue, {.max_in_flight = 16, .claim_interval = std::chrono::milliseconds(20)});
    std::atomic<bool> ended{false};
    worker.run(handler, [&](std::error_code) { ended = true; });
    for (int i = 0; i < to_good + to_bad; ++i) {
        const http_callback call{.url = i < to_good ? good_url : bad_url, .body = "{}"};
        queue.schedule({.id = std::to_string(i), .body = call.encode(), .max_attempts = 1}, on_duplicate::keep,
                       [](std::error_code ec, durable_receipt) { CHECK(!ec); });
    }
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) threads.emplace_back([&] { io.run(); });
    int changes = 0;
    while (worker.stats().done + worker.stats().dead < to_good + to_bad) {
        const callback_room room = handler.sender()->room(bad_url);
        if (room.circuit == circuit_state::closed) CHECK(room.places == options.max_per_host);
        if (++changes % 64 == 0 && changes < 1'000) handler.change(std::make_shared<callback_sender>(wheel, options));
        std::this_thread::yield();
    }
    worker.drain();
    while (!ended) std::this_thread::yield();
    CHECK(worker.stats().done == to_good);
    CHECK(worker.stats().dead == to_bad);
    handler.sender()->close();
    queue.close();
    for (std::thread& t : threads) t.join();
    asio::post(receiving, [&] { receiving.stop(); });
    receiver.join();
}
