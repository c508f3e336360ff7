// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Waits for a date: a moment of the clock on the wall, which may be set, stepped, or stand still while the machine sleeps.
//
//     co_await cogwheel::async_wait_until(wheel, *nightly.next(std::chrono::system_clock::now()), asio::use_awaitable);
//
// Never early by that clock: when a timer of the wheel expires, the clock is read again, and if it was put back the wait goes on. A clock that
// is put forward, or a machine that wakes up, is noticed within the recheck time. Leap seconds: system_clock does not count them.
#pragma once

#include <cogwheel/asio/detail/engine_user.hpp>
#include <cogwheel/asio/timeout_after.hpp>
#include <cogwheel/schedule/cron.hpp>

#include <asio/compose.hpp>
#include <asio/error.hpp>

#include <algorithm>
#include <memory>

namespace cogwheel {

struct calendar_options {
    /// The clock on the wall is looked at again at least so often: how late a wait may be after that was put forward. Above zero.
    std::chrono::nanoseconds recheck = std::chrono::minutes(1);

    /// Throws std::invalid_argument that names the value, the range and the remedy.
    void validate() const;
};

namespace detail {

template <class Wheel, class WallClock>
class calendar_wait {
public:
    using point = std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds>;

    calendar_wait(const Wheel& wheel, point at, std::chrono::nanoseconds recheck)
        : wheel_(std::make_unique<engine_user<state_type<Wheel>>>(state_of::get(wheel))), at_(at), recheck_(recheck) {}

    template <class Self>
    void operator()(Self& self) {
        self.reset_cancellation_state(asio::enable_total_cancellation());
        wait(self); // also for what is past: never inline
    }

    template <class Self>
    void operator()(Self& self, std::error_code ec) {
        if (!ec && self.get_cancellation_state().cancelled() != asio::cancellation_type::none)
            ec = asio::error::operation_aborted;
        if (ec || left() <= std::chrono::nanoseconds::zero()) return self.complete(ec);
        wait(self);
    }

private:
    std::chrono::nanoseconds left() const {
        return saturating_add(at_.time_since_epoch(), -saturate_to_ns(WallClock::now().time_since_epoch()));
    }
    template <class Self>
    void wait(Self& self) {
        using clock = typename Wheel::clock_type;
        state_type<Wheel>& wheel = **wheel_; // self moves
        wheel.start_wait(std::move(self), from_now<clock>{std::min(left(), recheck_), clock::now()});
    }

    std::unique_ptr<engine_user<state_type<Wheel>>> wheel_; // which may be destroyed between two looks at the clock
    point at_;
    std::chrono::nanoseconds recheck_;
};

} // namespace detail

/// Completes when `at` has come on the clock on the wall; a past one in the wheel's next turn.
/// Completion signature: void(std::error_code): success; asio::error::operation_aborted; errc::stopped, errc::too_many_timers: the wheel takes
///   no timer. Never completes inline.
/// Cancellation: terminal, partial and total. Executor: the handler's associated one, else the wheel's.
/// Errors: std::invalid_argument (options), std::bad_alloc. Complexity: a block of memory, and O(1) a recheck; one timer of the wheel. Thread safety: the wheel's. Lifetime: as timer_wheel::async_wait().
template <class WallClock = std::chrono::system_clock, any_timer_wheel Wheel, class Duration,
          class Token = typename asio::default_completion_token<typename Wheel::executor_type>::type>
auto async_wait_until(const Wheel& wheel, std::chrono::sys_time<Duration> at, Token&& token = {},
                      const calendar_options& options = {}) {
    using wait = detail::calendar_wait<Wheel, WallClock>;
    options.validate();
    const typename wait::point point(saturate_to_ns(at.time_since_epoch()));
    return asio::async_compose<Token, void(std::error_code)>(wait(wheel, point, options.recheck), token,
                                                             wheel.get_executor());
}

/// The hands of a clock with a calendar.
enum class calendar_hand { second, minute, hour, day, month, year };

/// When a hand moves on: the expression that matches at each first second of a minute, hour, day, month or year.
cron_expression turns_of(calendar_hand);

} // namespace cogwheel
