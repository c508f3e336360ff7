// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What the contenders on an io_context share: operations run inside a handler, as a server's do, a batch at a time;
// then the loop runs everything that has become ready. Time is the steady clock's.
//
// Waits are counted where they start and where they complete; so many are pending.
#pragma once

#include "contenders/contender.hpp"

#include <asio/io_context.hpp>
#include <asio/post.hpp>

#include <array>
#include <system_error>
#include <thread>

namespace bench {

/// A sum that each of a few threads adds to without troubling the others.
class split_count {
public:
    /// Which of them this thread is.
    static int& thread() noexcept {
        thread_local int which = 0;
        return which;
    }
    void add_one() noexcept { ++parts_[static_cast<std::size_t>(thread())].value; }
    std::size_t sum() const noexcept {
        std::size_t all = 0;
        for (const part& p : parts_) all += p.value;
        return all;
    }

private:
    struct alignas(64) part {
        std::size_t value = 0;
    };
    std::array<part, 4> parts_;
};

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

    /// How many threads run the context of the contender that is made next. One is Asio's fastest setting.
    static int& threads() noexcept {
        static int n = 1;
        return n;
    }
    asio::io_context& context() noexcept { return io_; }

protected:
    struct on_completion {
        asio_loop* self;
        std::uint32_t number;

        void operator()(const std::error_code& ec) const {
            self->completed_.add_one();
            if (!ec) self->fired_.record(number);
        }
    };
    on_completion note_start(std::uint32_t number) {
        started_.add_one();
        return {this, number};
    }
    /// A sum that nothing agrees with, if the wheel's own count is another.
    std::size_t waiting() const noexcept { return started_.sum() - completed_.sum(); }
    std::size_t unless_it_differs(std::size_t pending) const noexcept {
        return pending == waiting() ? pending : ~std::size_t{0};
    }

    asio::io_context io_{threads()};
    split_count started_, completed_;
    tally fired_;
    time_point turn_; // the clock, as it was read when the present batch began
};

} // namespace bench
