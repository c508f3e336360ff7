// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Timers of the kernel as file descriptors: timerfd_create(2). Linux only.
#pragma once

#include <cogwheel/detail/exceptions.hpp>
#include <cogwheel/detail/which_asio.hpp>

#include COGWHEEL_ASIO_HEADER(any_io_executor.hpp)
#include COGWHEEL_ASIO_HEADER(detail/throw_exception.hpp)
#include COGWHEEL_ASIO_HEADER(posix/basic_stream_descriptor.hpp)

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <limits>
#include <system_error>

#include <sys/timerfd.h>
#include <unistd.h>

#ifndef TFD_TIMER_CANCEL_ON_SET
#define TFD_TIMER_CANCEL_ON_SET (1 << 1) // for old headers of the C library
#endif

namespace cogwheel::inline v0::detail::inline COGWHEEL_ASIO {

using timerfd = asio::posix::basic_stream_descriptor<asio::any_io_executor>;

/// Opens a timerfd. Sets `ec` if the process may open no more file descriptors.
inline int open_timerfd(clockid_t clock, error_code& ec) noexcept {
    const int fd = ::timerfd_create(clock, TFD_NONBLOCK | TFD_CLOEXEC);
    ec.assign(fd < 0 ? errno : 0, sys::system_category());
    return fd;
}

/// Hands the file descriptor to `timer`, or closes it and sets `ec`. Does nothing if `ec` is set.
/// Errors: std::bad_alloc; the file descriptor is closed then.
inline void assign_timerfd(timerfd& timer, int fd, error_code& ec) {
    if (ec) return;
    COGWHEEL_TRY { timer.assign(fd, ec); }
    COGWHEEL_CATCH {
        ::close(fd);
        COGWHEEL_RETHROW;
    }
    if (ec) ::close(fd);
}

/// Makes the timerfd readable at `at`, and not before: this also takes back that it is readable now.
inline void set_timerfd(int fd, std::chrono::nanoseconds at) noexcept {
    const std::int64_t ns = at.count() > 0 ? at.count() : 1; // zero would disarm it
    itimerspec when{};
    when.it_value.tv_sec = static_cast<std::time_t>(ns / 1'000'000'000);
    when.it_value.tv_nsec = static_cast<long>(ns % 1'000'000'000);
    ::timerfd_settime(fd, TFD_TIMER_ABSTIME, &when, nullptr); // fails for bad arguments only
}

/// Makes the timerfd, one of CLOCK_REALTIME, readable when the clock is set next. Returns false if the kernel cannot.
inline bool watch_clock(int fd) noexcept {
    itimerspec when{};
    when.it_value.tv_sec = std::numeric_limits<std::time_t>::max();
    const int set = ::timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &when, nullptr);
    return set == 0 || errno == ECANCELED; // the clock was set since the last call: the timer is armed nevertheless
}

} // namespace cogwheel::inline v0::detail::inline COGWHEEL_ASIO
