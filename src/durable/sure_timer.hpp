// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A timer of a connection. It uses the wheel. If the wheel is full, has stopped, or all its timers are cancelled, the
// connection must not lose its limits, nor try again without a pause: then a timer of the context takes over.
#pragma once

#include <cogwheel/asio/timer_wheel.hpp>
#include <cogwheel/asio/wheel_timer.hpp>

#include COGWHEEL_ASIO_HEADER(bind_executor.hpp)
#include COGWHEEL_ASIO_HEADER(steady_timer.hpp)

#include <cstdint>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// Thread safety: one strand.
template <class Strand>
class sure_timer {
public:
    using clock = std::chrono::steady_clock;

    sure_timer(const timer_wheel& wheel, const Strand& strand) : strand_(strand), timer_(wheel), spare_(strand) {}

    /// Calls f(over) on the strand, once: with true at `at`, with false if cancel() or another wait comes before.
    /// owner: what holds the timer; it lives until then.
    template <class Owner, class F>
    void wait_until(clock::time_point at, Owner owner, F f) {
        cancel();
        timer_.expires_at(at);
        auto handler = [this, owner = std::move(owner), f = std::move(f), at, n = number_](error_code ec) mutable {
            if (!ec || n != number_) return f(n == number_);
            spare_.expires_at(at);
            auto last = [this, owner = std::move(owner), f = std::move(f), n](error_code) mutable { f(n == number_); };
            spare_.async_wait(asio::bind_executor(strand_, std::move(last)));
        };
        timer_.async_wait(asio::bind_executor(strand_, std::move(handler)));
    }

    void cancel() {
        ++number_;
        timer_.cancel();
        spare_.cancel();
    }

private:
    const Strand strand_;
    wheel_timer timer_;
    asio::steady_timer spare_;
    std::uint64_t number_ = 0;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
