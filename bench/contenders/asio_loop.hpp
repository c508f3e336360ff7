// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What the contenders on an io_context share: operations run inside a handler, as a server's do, a batch at a time;
// then the loop runs everything that has become ready. Time is the steady clock's.
#pragma once

#include "contenders/contender.hpp"

#include <asio/io_context.hpp>
#include <asio/post.hpp>

#include <thread>

namespace bench {

class asio_loop {
public:
    using clock = std::chrono::steady_clock;
    using time_point = clock::time_point;

    static constexpr bool real_time = true;

    template <class F>
    void work(std::size_t, F f) {
        asio::post(io_, [&] {
            turn_ = clock::now();
            f();
        });
        io_.restart();
        io_.poll();
    }

    time_point after(milliseconds delay) const { return clock::now() + delay; }

    bool reach(time_point at) {
        io_.restart();
        io_.poll(); // handlers of cancelled waits are not what is measured
        if (clock::now() >= at) return false;
        std::this_thread::sleep_until(at + milliseconds(25)); // the wheel's tick of 10 ms has ended, too
        return true;
    }

    /// Runs until nothing is pending any more.
    void fire_until(time_point) {
        io_.restart();
        io_.run();
    }

    tally fired() const noexcept { return fired_; }

protected:
    asio::io_context io_{1}; // one thread: Asio's fastest setting that keeps posting from elsewhere safe
    tally fired_;
    time_point turn_; // the clock, as it was read when the present batch began
};

} // namespace bench
