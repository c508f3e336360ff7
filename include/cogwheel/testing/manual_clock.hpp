// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A clock that stands still until you turn it: test your timeouts without waiting.
//
//     asio::io_context io;
//     cogwheel::testing::manual_timer_wheel wheel{io};
//     wheel.async_wait(5s, handler);
//     cogwheel::testing::manual_clock::advance(5s); // each wheel with something due posts a turn
//     io.poll();                                    // handler ran
//
// Nothing depends on real time: the asio timer of a wheel on this clock waits until it is turned. As all clocks it is one for the whole process;
// a wheel starts at whatever the clock shows, so tests need not reset it.
#pragma once

#include <cogwheel/asio/timer_wheel.hpp>

#include <asio/steady_timer.hpp>
#include <asio/wait_traits.hpp>

namespace cogwheel::testing {

/// Meets the standard's Clock requirements. Thread-safe.
class manual_clock {
public:
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<manual_clock>;
    static constexpr bool is_steady = false; // you may turn it back

    static time_point now() noexcept;

    /// Moves the time, also back (wheels then stand still until it has caught up). Every wheel whose planned wake-up has come
    /// posts one turn to its executor. Saturates.
    static void advance(duration by);
};

using manual_timer_wheel = basic_timer_wheel<manual_clock, multi_threaded>;
using manual_local_timer_wheel = basic_timer_wheel<manual_clock, single_threaded>;

} // namespace cogwheel::testing

/// Who blocks until a point of this clock looks again every millisecond: only another thread can turn it.
template <>
struct asio::wait_traits<cogwheel::testing::manual_clock> {
    using clock = cogwheel::testing::manual_clock;
    static clock::duration to_wait_duration(const clock::duration& d) {
        return std::min<clock::duration>(d, std::chrono::milliseconds(1));
    }
    static clock::duration to_wait_duration(const clock::time_point& t) {
        return to_wait_duration(cogwheel::detail::distance(clock::now(), t));
    }
};

namespace cogwheel::detail {

/// Woken by manual_clock::advance() instead of by an asio timer.
template <>
class wheel_driver<testing::manual_clock> {
public:
    wheel_driver(const asio::any_io_executor& executor, wake_target& target, driver_memory& memory);
    ~wheel_driver();
    wheel_driver(const wheel_driver&) = delete;
    wheel_driver& operator=(const wheel_driver&) = delete;

    void arm(testing::manual_clock::time_point at, std::uint64_t serial);
    void call_off() noexcept;

    /// Posts the wake-up if it has come by `now`.
    void notify(testing::manual_clock::time_point now) noexcept;

private:
    asio::steady_timer timer_; // waits for ever; cancelled, it posts
    wake_target* target_;
    driver_memory* memory_;
    testing::manual_clock::time_point at_{};
    bool armed_ = false;
};

} // namespace cogwheel::detail
