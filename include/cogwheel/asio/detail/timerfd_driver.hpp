// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A driver on a timerfd, for clocks that no Asio timer can wait for. It keeps the rules of wheel_driver.hpp.
#pragma once

#include <cogwheel/asio/detail/wheel_driver.hpp>
#include <cogwheel/detail/exceptions.hpp>

#include <asio/detail/throw_exception.hpp>
#include <asio/posix/basic_stream_descriptor.hpp>

#include <cerrno>
#include <chrono>
#include <ctime>
#include <system_error>

#include <sys/timerfd.h>
#include <unistd.h>

namespace cogwheel::inline v0::detail {

inline std::chrono::nanoseconds clock_reading(clockid_t clock) noexcept {
    timespec t{};
    ::clock_gettime(clock, &t);
    return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

inline int open_timerfd(clockid_t clock) {
    const int fd = ::timerfd_create(clock, TFD_NONBLOCK | TFD_CLOEXEC);
    if (fd < 0)
        asio::detail::throw_exception(
            std::system_error(errno, std::system_category(), "a wheel on the boot_clock: timerfd_create"));
    return fd;
}

/// Makes the timerfd readable at `at`, and not before: this also takes back that it is readable now.
inline void set_timerfd(int fd, std::chrono::nanoseconds at) noexcept {
    const std::int64_t ns = at.count() > 0 ? at.count() : 1; // zero would disarm it
    itimerspec when{};
    when.it_value.tv_sec = static_cast<std::time_t>(ns / 1'000'000'000);
    when.it_value.tv_nsec = static_cast<long>(ns % 1'000'000'000);
    ::timerfd_settime(fd, TFD_TIMER_ABSTIME, &when,
                      nullptr); // fails for bad arguments only
}

/// Clock: has open_timer() and set_timer(fd, at).
template <class Clock>
class timerfd_driver {
public:
    timerfd_driver(const asio::any_io_executor& executor, wake_target& target, driver_memory& memory)
        : timer_(executor), target_(&target), memory_(&memory) {
        const int fd = Clock::open_timer();
        COGWHEEL_TRY { timer_.assign(fd); }
        COGWHEEL_CATCH {
            ::close(fd);
            COGWHEEL_RETHROW;
        }
    }

    /// Wakes the target at `at`, and replaces the previous wait. run() does not return before that. Errors:
    /// std::bad_alloc; the previous wait is replaced nevertheless.
    void arm(typename Clock::time_point at, std::uint64_t serial) {
        cancel_wait();
        Clock::set_timer(timer_.native_handle(), at);
        timer_.async_wait(asio::posix::descriptor_base::wait_read, driver_wait(*target_, serial, *memory_));
    }

    /// Wakes the target soon. Preconditions: a wait is armed.
    void cancel_wait() noexcept {
        std::error_code ignored; // it is open
        timer_.cancel(ignored);
    }

private:
    asio::posix::basic_stream_descriptor<asio::any_io_executor> timer_;
    wake_target* target_;
    driver_memory* memory_;
};

} // namespace cogwheel::inline v0::detail
