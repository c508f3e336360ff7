// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Thousands of clients in one thread: a coroutine for each, and all their pauses on one wheel. Every odd one falls
// silent at its own moment and waits to be closed; the others chat to the end and leave by themselves.
#pragma once

#include "results.hpp"
#include "support/live_view.hpp"

#include <cogwheel/asio/timer_wheel.hpp>
#include <cogwheel/counts/lateness_histogram.hpp>

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>

#include <chrono>
#include <memory>
#include <unordered_set>

namespace load {

class clients {
public:
    explicit clients(const options& wanted) : options_{wanted} {}

    /// Returns when each connection has ended, at the latest `grace` after the planned end.
    /// Errors: std::system_error if not even the first connection can be opened.
    const results& run();

private:
    using clock = std::chrono::steady_clock;

    struct client {
        client(std::size_t number, asio::io_context& io) : index{number}, socket{io} {}

        const std::size_t index;
        asio::ip::tcp::socket socket;
        std::uint64_t round = 0;
        clock::time_point before_last_send{};
        clock::time_point last_receipt{};
    };

    static constexpr std::chrono::seconds grace{3};

    asio::awaitable<void> connect_all();
    asio::awaitable<void> live(std::shared_ptr<client> self);
    asio::awaitable<bool> chat(client& self, clock::time_point end);
    asio::awaitable<bool> exchange(client& self);
    asio::awaitable<void> await_kick(client& self);

    void left(const std::shared_ptr<client>& self);
    void end_if_done();
    void show_progress();
    void schedule_progress();

    const options options_;
    results seen_;
    asio::io_context io_{1};
    cogwheel::local_timer_wheel wheel_{io_};
    const clock::time_point started_ = clock::now();
    const clock::time_point end_ = started_ + options_.seconds;

    std::unordered_set<std::shared_ptr<client>> clients_;
    bool connecting_ = true;
    bool abandoned_ = false;
    output::live_view view_;
    output::rate messages_{started_};
    cogwheel::lateness_histogram lateness_; // of the kicks so far
    cogwheel::local_timer_token progress_;
    cogwheel::local_timer_token last_resort_;
};

} // namespace load
