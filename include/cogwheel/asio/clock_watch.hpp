// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Reports when the wall clock is set. Linux only.
//
//     cogwheel::clock_watch watch(io);
//     co_await watch.async_wait(asio::use_awaitable); // date -s, a jump of NTP, or the machine has woken up
//     show(std::chrono::system_clock::now());
//
// Waits for a date (async_wait_until_date) and cron tasks have a watch of their own.
#pragma once

#include <cogwheel/detail/platform.hpp>

#if COGWHEEL_LINUX
#include <cogwheel/asio/detail/clock/timerfd.hpp>
#include <cogwheel/asio/detail/executor/wrapped_handler.hpp>
#endif
#include <cogwheel/detail/which_asio.hpp>

#include COGWHEEL_ASIO_HEADER(any_io_executor.hpp)
#include COGWHEEL_ASIO_HEADER(error.hpp)

#include <atomic>
#include <chrono>
#include <concepts>
#include <memory>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

#if COGWHEEL_LINUX
namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {
/// The handler of a wait on a timerfd. After a fork, the timer is another one, and the wait ends with success.
template <class Handler>
struct forked_wait {
    using associations = of_handler;

    forked_wait(Handler&& h, const timerfd_list& l) : handler(std::move(h)), count(l.forks()), before(*count) {}
    forked_wait(const Handler& h, const timerfd_list& l) : handler(h), count(l.forks()), before(*count) {}

    void operator()(error_code ec) {
        if (ec == asio::error::operation_aborted && *count != before) ec.clear();
        std::move(handler)(ec);
    }

    Handler handler;
    std::shared_ptr<const std::atomic<unsigned>> count; // the handler may run after the context of the timer has ended
    unsigned before;
};
} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
#endif

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

#if COGWHEEL_LINUX
/// A file descriptor that the kernel makes readable when the wall clock is set: a timerfd with TFD_TIMER_CANCEL_ON_SET
/// (timerfd_create(2)). The kernel also does so when the machine wakes up, because CLOCK_REALTIME has then run on and
/// CLOCK_MONOTONIC has not. NTP usually slews the clock, which does not set it.
/// Thread safety: one thread at a time, as an Asio I/O object.
class clock_watch {
public:
    using executor_type = asio::any_io_executor;

    /// Errors: std::system_error (no more files may be opened, or no such watch in the kernel); std::bad_alloc.
    explicit clock_watch(const executor_type& executor) : executor_(executor), timer_(executor, &open) {
        error_code ec;
        timer_.open(ec);
        if (ec) asio::detail::throw_exception(detail::sys::system_error(ec, "clock_watch: timerfd_create"));
    }
    template <class Context>
        requires std::derived_from<Context, asio::execution_context>
    explicit clock_watch(Context& context) : clock_watch(context.get_executor()) {}

    /// Does the same, but sets `ec` in place of a std::system_error; async_wait() then completes with bad_descriptor.
    clock_watch(const executor_type& executor, error_code& ec) : executor_(executor), timer_(executor, &open) {
        timer_.open(ec);
    }

    executor_type get_executor() const noexcept { return executor_; }

    /// Waits until the clock is set after this call. Rarely completes although the clock was not set, for instance in a
    /// child process when the context is notified of the fork.
    /// Preconditions: no other wait is under way, unless cancel() has been called since.
    /// Completion signature: void(std::error_code): success, or asio::error::operation_aborted if the wait was
    ///   cancelled, also by the destructor. Cancellation: terminal, partial and total. Complexity: a system call.
    template <class Token = typename asio::default_completion_token<executor_type>::type>
    auto async_wait(Token&& token = {}) {
        return asio::async_initiate<Token, void(error_code)>(initiate_wait{this}, token);
    }

    /// Completes the wait with operation_aborted, soon.
    void cancel() noexcept {
        error_code ignored; // if it is not open, no wait is pending
        timer_->cancel(ignored);
    }

private:
    struct initiate_wait {
        using executor_type = clock_watch::executor_type;
        executor_type get_executor() const noexcept { return watch->executor_; }

        template <class Handler>
        void operator()(Handler&& handler) const {
            detail::watch_clock(watch->timer_->native_handle());
            watch->timer_->async_wait(
                asio::posix::descriptor_base::wait_read,
                detail::forked_wait<std::decay_t<Handler>>(std::forward<Handler>(handler), watch->timer_.list()));
        }
        clock_watch* watch;
    };

    static int open(error_code& ec) noexcept {
        const int fd = detail::open_timerfd(CLOCK_REALTIME, ec);
        if (ec || detail::watch_clock(fd)) return fd;
        ec.assign(ENOTSUP, detail::sys::system_category());
        ::close(fd);
        return -1;
    }

    executor_type executor_;
    detail::timerfd timer_;
};
#endif

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {
/// The watch of a wall clock: its `watch_type`, with the members of clock_watch; void if it cannot be watched.
template <class WallClock>
struct watch_of {
    using type = void;
};
template <class WallClock>
    requires requires { typename WallClock::watch_type; }
struct watch_of<WallClock> {
    using type = typename WallClock::watch_type;
};
#if COGWHEEL_LINUX
template <>
struct watch_of<std::chrono::system_clock> {
    using type = clock_watch;
};
#endif

/// Opens the watch if it is not open. Returns whether it is open now. Errors: std::bad_alloc.
template <class Watch>
bool ensure_open(std::optional<Watch>& watch, const asio::any_io_executor& executor) {
    error_code ec;
    if (!watch) watch.emplace(executor, ec);
    if (ec) watch.reset();
    return watch.has_value();
}
} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
