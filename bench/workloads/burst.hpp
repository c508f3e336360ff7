// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a burst does to everybody else: so many timers fire in one millisecond, while another thread sends a byte to a
// socket of the same loop, waits for it to come back, and sends it again.
#pragma once

#include "contenders/asio_loop.hpp"
#include "workloads/percentiles.hpp"
#include "workloads/timed_firing.hpp"

#include <asio/local/connect_pair.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>

#include <atomic>

namespace bench {

/// Between two threads: the loop's echoes, ours waits for them.
class echo_pair {
public:
    using clock = std::chrono::steady_clock;
    struct round_trip {
        clock::time_point sent, back;
    };

    explicit echo_pair(asio::io_context& io) : far_(io), near_(own_) {
        asio::local::connect_pair(far_, near_);
        echo();
        thread_ = std::thread([this] { send(); });
    }
    echo_pair(const echo_pair&) = delete;
    echo_pair& operator=(const echo_pair&) = delete;
    ~echo_pair() { stop(); }

    /// What has been measured. The loop's end is closed, so that nobody waits any more.
    const std::vector<round_trip>& stop() {
        if (thread_.joinable()) {
            far_.close();
            thread_.join();
        }
        return trips_;
    }

private:
    using socket = asio::local::stream_protocol::socket;

    void echo() {
        asio::async_read(far_, asio::buffer(&byte_, 1), [this](std::error_code ec, std::size_t) {
            if (ec) return;
            asio::async_write(far_, asio::buffer(&byte_, 1), [this](std::error_code e, std::size_t) {
                if (!e) echo();
            });
        });
    }
    void send() {
        unpin(); // the loop has a processor of its own
        char byte = 0;
        std::error_code ec;
        for (;;) {
            const auto sent = clock::now();
            asio::write(near_, asio::buffer(&byte, 1), ec);
            if (!ec) asio::read(near_, asio::buffer(&byte, 1), ec);
            if (ec) return;
            trips_.push_back({sent, clock::now()});
        }
    }

    socket far_;
    asio::io_context own_;
    socket near_;
    char byte_ = 0;
    std::vector<round_trip> trips_;
    std::thread thread_;
};

template <firing_contender C>
class burst_leg final : public timers_leg {
public:
    using timers_leg::timers_leg;

    sample repeat(std::uint64_t repetition) override {
        timed_firing<C> firing(timers_);
        asio::io_context& io = (*firing).context();
        io.restart();
        firing.arm(milliseconds(1), repetition);
        firing.on_last([](void* p) { static_cast<asio::io_context*>(p)->stop(); }, &io);
        io.restart();
        io.poll(); // handlers of cancelled waits are not what is measured
        io.restart();
        io.run_until(firing.start() - milliseconds(1));
        echo_pair echo(io);
        const stopwatch watch;
        io.restart();
        io.run();
        sample s;
        note_result(s, *firing);
        note_times(s, watch, timers_);
        io.restart();
        io.run_for(milliseconds(50)); // the echo that was under way
        std::vector<double> trips;
        for (const auto& t : echo.stop())
            if (t.back >= firing.start() && t.sent <= firing.end())
                trips.push_back(static_cast<double>(std::chrono::nanoseconds(t.back - t.sent).count()));
        io.restart();
        io.poll(); // the end of its read
        s.figures = {percentile(trips, 50) / 1e6, percentile(trips, 99) / 1e6, percentile(trips, 100) / 1e6,
                     percentile(firing.late(), 99) / 1e6, static_cast<double>(trips.size())};
        return s;
    }
};

} // namespace bench
