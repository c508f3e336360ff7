// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Wheels on a clock that moves only when a test advances it, so that tests of timeouts need not wait.
//
//     asio::io_context io;
//     cogwheel::testing::manual_timer_wheel wheel{io};
//     wheel.async_wait(5s, handler);
//     cogwheel::testing::manual_clock::advance(5s); // each wheel with a due timer posts a turn
//     io.poll();                                    // handler ran
//
// A wheel on this clock does not depend on real time: its asio timer never expires on its own. A wheel starts at the
// present time of the clock, so tests need not reset the clock.
#pragma once

#include <cogwheel/asio/timer_wheel.hpp>
#include <cogwheel/testing/detail/manual_alarm.hpp>
#include <cogwheel/testing/manual_time.hpp>

#include COGWHEEL_ASIO_HEADER(executor_work_guard.hpp)
#include COGWHEEL_ASIO_HEADER(io_context.hpp)
#include COGWHEEL_ASIO_HEADER(steady_timer.hpp)
#include COGWHEEL_ASIO_HEADER(wait_traits.hpp)

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace cogwheel::COGWHEEL_ABI::testing::COGWHEEL_ASIO {

using manual_timer_wheel = basic_timer_wheel<manual_clock, multi_threaded>;

/// Runs the handlers of `io` that are ready. Whenever none is ready, turns the clock to the next wake-up of a wheel.
/// Ends when no wake-up is planned, or when a handler stops `io`. Also ends when the next wake-up is more than
/// `at_most` after the start; the clock then stands at the end of that time. A test of hours takes milliseconds:
///
///     co_spawn(io, session(wheel), detached); // waits, retries, times out
///     cogwheel::testing::run_until_idle(io);  // all of it has happened
///
/// Returns the number of handlers that ran. Endless work needs `at_most`. Does not wait for the peer of a socket.
/// Errors: std::bad_alloc; exceptions of handlers leave the function.
/// Thread safety: as io.poll(). No other thread may turn the clock meanwhile.
inline std::size_t run_until_idle(asio::io_context& io,
                                  manual_clock::duration at_most = manual_clock::duration::max()) {
    constexpr manual_clock::duration zero = manual_clock::duration::zero();
    const manual_clock::time_point end = detail::point_after(manual_clock::now(), std::max(at_most, zero));
    std::size_t handlers = 0;
    io.restart();
    {
        const auto work = asio::make_work_guard(io); // so that only stop() stops the context
        while (true) {
            handlers += io.poll();
            if (io.stopped()) return handlers;
            const std::optional<manual_clock::time_point> next = manual_clock::next_wake();
            if (!next) break;
            manual_clock::advance(std::max(std::min(*next, end) - manual_clock::now(), zero)); // a handler may turn it
            if (*next > end) break;
        }
    }
    io.restart(); // the end of the guard may have stopped it
    return handlers;
}

} // namespace cogwheel::COGWHEEL_ABI::testing::COGWHEEL_ASIO

/// Makes a blocking wait for this clock read it every millisecond, because another thread has to advance it.
template <>
struct cogwheel::asio::wait_traits<cogwheel::testing::manual_clock> {
    using clock = cogwheel::testing::manual_clock;
    static clock::duration to_wait_duration(const clock::duration& d) {
        return d < std::chrono::milliseconds(1) ? d : std::chrono::milliseconds(1);
    }
    static clock::duration to_wait_duration(const clock::time_point& t) {
        return to_wait_duration(cogwheel::detail::distance(clock::now(), t));
    }
};

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// The driver of a wheel on a manual_clock. The clock's advance() makes it wake the wheel.
template <>
class wheel_driver<testing::manual_clock> final : manual_alarm {
public:
    wheel_driver(const asio::any_io_executor& executor, wake_target& target, driver_memory& memory)
        : timer_(executor), target_(&target), memory_(&memory) {
        attach();
    }
    ~wheel_driver() { detach(); }
    wheel_driver(const wheel_driver&) = delete;
    wheel_driver& operator=(const wheel_driver&) = delete;

    void arm(testing::manual_clock::time_point at, std::uint64_t serial) {
        const auto lock = unset();
        timer_.expires_at(std::chrono::steady_clock::time_point::max());
        timer_.async_wait(driver_wait(*target_, serial, *memory_));
        set(at, lock);
    }
    void cancel_wait() noexcept {
        const auto lock = unset();
        timer_.cancel();
    }

private:
    void ring() noexcept override { timer_.cancel(); }

    asio::steady_timer timer_; // never expires; cancelling it posts the wake-up
    wake_target* target_;
    driver_memory* memory_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
