// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A driver on a timerfd, for clocks that no Asio timer can wait for, with the rules of wheel_driver.hpp. In a child
// process, the wait ends when the context is notified of the fork; the turn that it wakes arms the new timer.
#pragma once

#include <cogwheel/asio/detail/clock/timerfd.hpp>
#include <cogwheel/asio/detail/clock/wheel_driver.hpp>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

inline std::chrono::nanoseconds clock_reading(clockid_t clock) noexcept {
    timespec t{};
    ::clock_gettime(clock, &t);
    return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

/// Clock: has open_timer(ec) and set_timer(fd, at).
template <class Clock>
class timerfd_driver {
public:
    timerfd_driver(const asio::any_io_executor& executor, wake_target& target, driver_memory& memory)
        : timer_(executor, &Clock::open_timer), target_(&target), memory_(&memory) {
        open();
    }

    /// Wakes the target at `at`, and replaces the previous wait. run() does not return before that. Errors:
    /// std::bad_alloc; the previous wait is replaced nevertheless.
    void arm(typename Clock::time_point at, std::uint64_t serial) {
        if (!timer_->is_open()) open(); // a child process may have failed to open it
        cancel_wait();
        Clock::set_timer(timer_->native_handle(), at);
        timer_->async_wait(asio::posix::descriptor_base::wait_read, driver_wait(*target_, serial, *memory_));
    }

    /// Wakes the target soon. Preconditions: a wait is armed.
    void cancel_wait() noexcept {
        error_code ignored; // it is open
        timer_->cancel(ignored);
    }

private:
    void open() {
        error_code ec;
        timer_.open(ec);
        if (ec) asio::detail::throw_exception(sys::system_error(ec, "a wheel on a timerfd: timerfd_create"));
    }

    timerfd timer_;
    wake_target* target_;
    driver_memory* memory_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
