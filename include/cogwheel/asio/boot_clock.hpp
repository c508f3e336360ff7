// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A clock that also runs while the machine sleeps (CLOCK_BOOTTIME), and wheels on it. Linux only.
//
//     cogwheel::boot_timer_wheel wheel{io};
//     wheel.schedule(8h, [&] { token.expire(); }); // also if the laptop is closed for the night
//
// std::chrono::steady_clock stops while the machine sleeps, so a timer of 8 hours fires after the machine was awake for
// 8 hours. On the boot_clock, it fires when 8 hours have passed, or when the machine wakes after that. The wheel's
// driver is a timerfd (timerfd_create(2)) in place of an asio::steady_timer. All else is as with timer_wheel, but the
// constructor also throws std::system_error if the process may open no more file descriptors. Cost: two system calls to
// arm the driver; a steady_timer needs none or one.
#pragma once

#include <cogwheel/detail/platform.hpp>

#if !COGWHEEL_LINUX
#error "boot_clock needs timerfd, which only Linux has"
#endif

#include <cogwheel/asio/detail/clock/timerfd_driver.hpp>
#include <cogwheel/asio/timer_wheel.hpp>

#include COGWHEEL_ASIO_HEADER(wait_traits.hpp)

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// The time since the machine was started, including the time asleep. Meets the standard's TrivialClock requirements.
class boot_clock {
public:
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<boot_clock>;
    static constexpr bool is_steady = true;

    /// Complexity: a clock_gettime(2), without a system call.
    static time_point now() noexcept { return time_point(detail::clock_reading(CLOCK_BOOTTIME)); }

    /// Opens a timerfd of this clock, or sets `ec`.
    static int open_timer(error_code& ec) noexcept { return detail::open_timerfd(CLOCK_BOOTTIME, ec); }
    /// Makes the timerfd readable at `at`.
    static void set_timer(int fd, time_point at) noexcept { detail::set_timerfd(fd, at.time_since_epoch()); }
};

using boot_timer_wheel = basic_timer_wheel<boot_clock, multi_threaded>;

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {
template <>
class wheel_driver<boot_clock> : public timerfd_driver<boot_clock> {
    using timerfd_driver::timerfd_driver;
};
} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

/// Makes a blocking wait read the clock every second: std::this_thread::sleep_for does not count the time asleep.
template <>
struct cogwheel::asio::wait_traits<cogwheel::boot_clock> {
    using clock = cogwheel::boot_clock;
    static clock::duration to_wait_duration(const clock::duration& d) {
        return d < std::chrono::seconds(1) ? d : std::chrono::seconds(1);
    }
    static clock::duration to_wait_duration(const clock::time_point& t) {
        return to_wait_duration(cogwheel::detail::distance(clock::now(), t));
    }
};
