// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Waits for a date: a point of the wall clock, which may be set forward or back. The machine may sleep meanwhile.
//
//     co_await cogwheel::async_wait_until_date(wheel, *nightly.next(now), asio::use_awaitable);
//
// Never early by the wall clock: when the timer on the wheel expires, the operation reads the wall clock again. If that
// clock was put back, the wait continues. If it was put forward, or the machine slept, the operation notices: on Linux
// at once (clock_watch.hpp), elsewhere within the recheck time. Leap seconds: system_clock does not count them.
#pragma once

#include <cogwheel/asio/detail/on_wheel.hpp>
#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/detail/exceptions.hpp>
#include <cogwheel/schedule/detail/date_waits.hpp>

#include COGWHEEL_ASIO_HEADER(associated_allocator.hpp)
#include COGWHEEL_ASIO_HEADER(associated_executor.hpp)
#include COGWHEEL_ASIO_HEADER(compose.hpp)
#include COGWHEEL_ASIO_HEADER(detail/throw_exception.hpp)
#include COGWHEEL_ASIO_HEADER(error.hpp)
#include COGWHEEL_ASIO_HEADER(execution/outstanding_work.hpp)
#include COGWHEEL_ASIO_HEADER(prefer.hpp)

#include <algorithm>
#include <concepts>
#include <memory>
#include <stdexcept>
#include <string>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

struct wall_clock_options {
    /// The longest delay of the timer between two readings of the wall clock. Without a clock_watch, a wait may end
    /// late by this much after the clock was put forward or the machine slept. That is so on other systems than Linux,
    /// and if the process may open no more file descriptors. Above zero.
    std::chrono::nanoseconds recheck = std::chrono::minutes(1);

    /// Checks the options. Errors: std::invalid_argument that names the value, the range and the remedy.
    void validate() const {
        if (recheck <= std::chrono::nanoseconds::zero())
            asio::detail::throw_exception(
                std::invalid_argument("cogwheel::wall_clock_options: recheck is " + std::to_string(recheck.count()) +
                                      " ns, but must be above zero; a minute suits most schedules"));
    }
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// Holds the composed operation between two readings of the clock, in a block of its own. If the timer of a later
/// reading cannot be allocated, the operation still exists, and completes with asio::error::no_memory.
template <class Operation>
struct kept_operation {
    using executor_type =
        std::decay_t<typename asio::prefer_result<asio::associated_executor_t<Operation>,
                                                  asio::execution::outstanding_work_t::untracked_t>::type>;

    using associations = of_handler;

    std::shared_ptr<Operation> operation;

    const Operation& handler() const noexcept { return *operation; }

    /// Returns the executor without the tracking of work by async_compose(), so that it equals the wheel's executor.
    executor_type get_executor() const noexcept {
        return asio::prefer(asio::get_associated_executor(*operation), asio::execution::outstanding_work.untracked);
    }

    // Moves the operation out and frees its memory, before the operation continues.
    static Operation take(std::shared_ptr<Operation>& from) {
        Operation taken(std::move(*from));
        from.reset();
        return taken;
    }
    void operator()(error_code ec) { take(operation)(ec); }
};

template <class Wheel, class WallClock>
class wall_clock_wait {
public:
    using point = typename pending_date<Wheel, WallClock>::point;

    wall_clock_wait(const Wheel& wheel, point at, std::chrono::nanoseconds recheck)
        : date_(std::make_unique<pending_date<Wheel, WallClock>>(impl_of(wheel), at, recheck)) {}

    template <class Self>
    void operator()(Self& self) {
        self.reset_cancellation_state(asio::enable_total_cancellation());
        std::shared_ptr<Self> kept;
        wait(self, kept); // also for a past date, so that the operation never completes inline
    }

    template <class Self>
    void operator()(Self& self, error_code ec) {
        if (!ec && self.get_cancellation_state().cancelled() != asio::cancellation_type::none)
            ec = asio::error::operation_aborted;
        if (ec || date_->left() <= std::chrono::nanoseconds::zero()) return self.complete(ec);
        std::shared_ptr<Self> kept;
        COGWHEEL_TRY { wait(self, kept); }
        COGWHEEL_CATCH {
            if (!is_out_of_memory()) COGWHEEL_RETHROW;
            if (kept == nullptr) return self.complete(asio::error::no_memory);
            kept_operation<Self>::take(kept).complete(asio::error::no_memory);
        }
    }

private:
    template <class Self>
    void wait(Self& self, std::shared_ptr<Self>& kept) {
        auto& date = *date_; // read now: the next lines move `self`, and this object with it
        // Within another type: Self names an allocator_type, which std::pmr::polymorphic_allocator would pass to it.
        struct held {
            explicit held(Self&& s) : operation(std::move(s)) {}
            Self operation;
        };
        const auto block = std::allocate_shared<held>(asio::get_associated_allocator(self), std::move(self));
        kept = std::shared_ptr<Self>(block, &block->operation);
        date.wheel->start_wait(kept_operation<Self>{kept}, date.next_reading());
    }

    std::unique_ptr<pending_date<Wheel, WallClock>> date_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Waits until the wall clock shows `at`. A point in the past completes in the wheel's next turn, never inline.
/// Parameters: WallClock: the clock to read. Its `watch_type`, if any, is like clock_watch and tells when it is set.
/// Completion signature: void(std::error_code): success; asio::error::operation_aborted if the wait was cancelled, also
///   by the wheel; errc::stopped or errc::too_many_timers if the wheel takes no timer, at the start or at a later
///   reading; asio::error::no_memory if allocation fails at a later reading.
/// Cancellation: terminal, partial and total. Executor: the handler's associated one, else the wheel's.
/// Complexity: two blocks of memory and one timer of the wheel; O(1) for each reading of the clock.
/// Errors: std::invalid_argument (options), std::bad_alloc (when the wait starts).
/// Thread safety: the wheel's. Lifetime: as timer_wheel::async_wait().
template <class WallClock = std::chrono::system_clock, any_timer_wheel Wheel, class Duration,
          class Token = typename asio::default_completion_token<typename Wheel::executor_type>::type>
auto async_wait_until_date(const Wheel& wheel, std::chrono::sys_time<Duration> at, const wall_clock_options& options,
                           Token&& token = {}) {
    using wait = detail::wall_clock_wait<Wheel, WallClock>;
    options.validate();
    const typename wait::point point(detail::saturate_to_ns(at.time_since_epoch()));
    return asio::async_compose<Token, void(error_code)>(wait(wheel, point, options.recheck), token,
                                                        wheel.get_executor());
}
/// Does the same with the default options.
template <class WallClock = std::chrono::system_clock, any_timer_wheel Wheel, class Duration,
          class Token = typename asio::default_completion_token<typename Wheel::executor_type>::type>
    requires(!std::same_as<std::decay_t<Token>, wall_clock_options>)
auto async_wait_until_date(const Wheel& wheel, std::chrono::sys_time<Duration> at, Token&& token = {}) {
    return async_wait_until_date<WallClock>(wheel, at, wall_clock_options(), std::forward<Token>(token));
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
