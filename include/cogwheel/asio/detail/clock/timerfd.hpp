// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Timers of the kernel as file descriptors: timerfd_create(2). Linux only.
//
// After fork(2), the child's descriptor names the timer of the parent, so each process would arm it for both. The child
// opens its own timers when the execution context is notified of the fork.
#pragma once

#include <cogwheel/detail/exceptions.hpp>
#include <cogwheel/detail/linked_list.hpp>
#include <cogwheel/detail/which_asio.hpp>

#include COGWHEEL_ASIO_HEADER(any_io_executor.hpp)
#include COGWHEEL_ASIO_HEADER(detail/throw_exception.hpp)
#include COGWHEEL_ASIO_HEADER(execution/context.hpp)
#include COGWHEEL_ASIO_HEADER(execution_context.hpp)
#include COGWHEEL_ASIO_HEADER(posix/basic_stream_descriptor.hpp)
#include COGWHEEL_ASIO_HEADER(query.hpp)

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <limits>
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>

#include <sys/timerfd.h>
#include <unistd.h>

#ifndef TFD_TIMER_CANCEL_ON_SET
#define TFD_TIMER_CANCEL_ON_SET (1 << 1) // for old headers of the C library
#endif

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// Opens a timerfd. Sets `ec` if the process may open no more file descriptors.
inline int open_timerfd(clockid_t clock, error_code& ec) noexcept {
    const int fd = ::timerfd_create(clock, TFD_NONBLOCK | TFD_CLOEXEC);
    ec.assign(fd < 0 ? errno : 0, sys::system_category());
    return fd;
}

class timerfd;

/// The timerfds of an execution context. Thread safety: any thread.
class timerfd_list final : public asio::execution_context::service {
public:
    using key_type = timerfd_list;
    static inline asio::execution_context::id id;

    explicit timerfd_list(asio::execution_context& context) : asio::execution_context::service(context) {}

    void join(timerfd& t) noexcept;
    void leave(timerfd& t) noexcept;
    /// Returns the number of forks on the way to this process of which the context was notified.
    const std::shared_ptr<std::atomic<unsigned>>& forks() const noexcept { return forks_; }

private:
    void notify_fork(asio::execution_context::fork_event event) override;
    void shutdown() noexcept override;

    std::mutex mutex_;
    bool shut_down_ = false;
    std::shared_ptr<std::atomic<unsigned>> forks_ = std::make_shared<std::atomic<unsigned>>(0);
    linked_list<timerfd> timers_;
};

/// A timerfd in Asio. Lifetime: as an Asio I/O object.
class timerfd : public list_links<timerfd> {
public:
    using descriptor = asio::posix::basic_stream_descriptor<asio::any_io_executor>;
    /// Returns a new timerfd, or sets `ec`.
    using opener = int (*)(error_code& ec);

    /// Errors: std::bad_alloc.
    timerfd(const asio::any_io_executor& executor, opener o)
        : descriptor_(executor),
          opener_(o),
          list_(&asio::use_service<timerfd_list>(asio::query(executor, asio::execution::context))) {
        list_->join(*this);
    }
    timerfd(timerfd&& other) noexcept
        : descriptor_(std::move(other.descriptor_)), opener_(other.opener_), list_(other.list_) {
        list_->join(*this);
    }
    timerfd& operator=(timerfd&& other) noexcept {
        list_->leave(*this);
        descriptor_ = std::move(other.descriptor_);
        opener_ = other.opener_;
        list_ = other.list_;
        list_->join(*this);
        return *this;
    }
    ~timerfd() {
        if (listed_) list_->leave(*this);
    }

    /// Sets `ec` if the process may open no more file descriptors. Errors: std::bad_alloc.
    void open(error_code& ec) {
        const int fd = opener_(ec);
        if (ec) return;
        COGWHEEL_TRY { descriptor_.assign(fd, ec); }
        COGWHEEL_CATCH {
            ::close(fd);
            COGWHEEL_RETHROW;
        }
        if (ec) ::close(fd);
    }

    descriptor* operator->() noexcept { return &descriptor_; }
    const timerfd_list& list() const noexcept { return *list_; }

private:
    friend timerfd_list;

    // A wait completes with operation_aborted.
    error_code reopen() {
        error_code ec;
        if (!descriptor_.is_open()) return ec;
        descriptor_.close(ec);
        ec.clear();
        open(ec);
        return ec;
    }

    descriptor descriptor_;
    opener opener_;
    timerfd_list* list_; // made after the reactor, and so notified of a fork after it
    bool listed_ = false;
};

inline void timerfd_list::join(timerfd& t) noexcept {
    const std::lock_guard lock(mutex_);
    if (shut_down_) return;
    t.listed_ = true;
    timers_.push_front(t);
}
inline void timerfd_list::leave(timerfd& t) noexcept {
    const std::lock_guard lock(mutex_);
    if (std::exchange(t.listed_, false)) timers_.erase(t);
}
inline void timerfd_list::notify_fork(asio::execution_context::fork_event event) {
    if (event != asio::execution_context::fork_child) return;
    ++*forks_;
    error_code first;
    for (timerfd* t = timers_.front(); t != nullptr; t = timers_.next(*t))
        if (const error_code ec = t->reopen(); ec && !first) first = ec;
    if (first) asio::detail::throw_exception(sys::system_error(first, "notify_fork: timerfd_create"));
}
// The service may be destroyed before a timer.
inline void timerfd_list::shutdown() noexcept {
    const std::lock_guard lock(mutex_);
    shut_down_ = true;
    while (timerfd* t = timers_.pop_front()) t->listed_ = false;
}

/// Makes the timerfd readable at `at`, and not before, even if it is readable now.
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

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
