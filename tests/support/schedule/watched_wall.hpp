// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A clock on the wall that tells its watches when the test sets it: by an eventfd, as the kernel does by a timerfd.
// Thread safety: any thread may read it while one thread sets it.
#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/posix/stream_descriptor.hpp>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>

#include <sys/eventfd.h>

namespace cogwheel_tests {

struct watched_wall {
    using duration = std::chrono::nanoseconds;
    using time_point = std::chrono::sys_time<duration>;
    static inline std::atomic<time_point> present{};
    static time_point now() {
        const time_point reading = present;
        if (readings != 0 && --readings == 0) set(next);
        return reading;
    }

    /// Sets the clock right after it was read so many times.
    static void set_after(int count, time_point to) {
        next = to;
        readings = count;
    }

    /// Goes on, without a word to the watches.
    static void pass(duration by) { present = now() + by; }
    static void set(time_point to) {
        present = to;
        const std::lock_guard lock(mutex);
        for (const int fd : watches) eventfd_write(fd, 1);
    }
    static inline std::atomic<int> readings{0};
    static inline time_point next{};
    static inline std::mutex mutex;
    static inline std::set<int> watches;

    class watch_type {
    public:
        watch_type(const asio::any_io_executor& executor, std::error_code& ec) : descriptor_(executor) {
            const int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
            if (fd == -1)
                ec.assign(errno, std::system_category());
            else
                descriptor_.assign(fd, ec);
            if (ec) return;
            const std::lock_guard lock(mutex);
            watches.insert(fd);
        }
        ~watch_type() {
            const std::lock_guard lock(mutex);
            watches.erase(descriptor_.native_handle());
        }

        template <class Token>
        auto async_wait(Token&& token) {
            eventfd_t earlier = 0;
            eventfd_read(descriptor_.native_handle(), &earlier);
            return descriptor_.async_wait(asio::posix::descriptor_base::wait_read, std::forward<Token>(token));
        }
        void cancel() noexcept {
            std::error_code ignored;
            descriptor_.cancel(ignored);
        }

    private:
        asio::posix::stream_descriptor descriptor_;
    };
};

} // namespace cogwheel_tests
