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
#include <cogwheel/wheel/detail/exceptions.hpp>

#include <asio/associated_allocator.hpp>
#include <asio/associated_executor.hpp>
#include <asio/associator.hpp>
#include <asio/compose.hpp>
#include <asio/error.hpp>
#include <asio/execution/outstanding_work.hpp>
#include <asio/prefer.hpp>

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

/// The operation between two looks at the clock. Kept beside the timer, which may find no memory: then it is still there to be told.
template <class Operation>
struct kept_operation {
    using executor_type =
        std::decay_t<typename asio::prefer_result<asio::associated_executor_t<Operation>,
                                                  asio::execution::outstanding_work_t::untracked_t>::type>;

    std::shared_ptr<Operation> operation;

    /// The composed operation's own counts as work, and so is another one than the wheel's.
    executor_type get_executor() const noexcept {
        return asio::prefer(asio::get_associated_executor(*operation), asio::execution::outstanding_work.untracked);
    }

    // The memory is free again before it goes on.
    static Operation take(std::shared_ptr<Operation>& from) {
        Operation taken(std::move(*from));
        from.reset();
        return taken;
    }
    void operator()(std::error_code ec) { take(operation)(ec); }
};

template <class Wheel, class WallClock>
class calendar_wait {
public:
    using point = std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds>;

    calendar_wait(const Wheel& wheel, point at, std::chrono::nanoseconds recheck)
        : wheel_(std::make_unique<engine_user<state_type<Wheel>>>(state_of::get(wheel))), at_(at), recheck_(recheck) {}

    template <class Self>
    void operator()(Self& self) {
        self.reset_cancellation_state(asio::enable_total_cancellation());
        std::shared_ptr<Self> kept;
        wait(self, kept); // also for what is past: never inline
    }

    template <class Self>
    void operator()(Self& self, std::error_code ec) {
        if (!ec && self.get_cancellation_state().cancelled() != asio::cancellation_type::none)
            ec = asio::error::operation_aborted;
        if (ec || left() <= std::chrono::nanoseconds::zero()) return self.complete(ec);
        std::shared_ptr<Self> kept;
        COGWHEEL_TRY { wait(self, kept); }
        COGWHEEL_CATCH {
            if (!is_out_of_memory()) COGWHEEL_RETHROW;
            if (kept == nullptr) return self.complete(asio::error::no_memory);
            kept_operation<Self>::take(kept).complete(asio::error::no_memory);
        }
    }

private:
    std::chrono::nanoseconds left() const {
        return saturating_add(at_.time_since_epoch(), -saturate_to_ns(WallClock::now().time_since_epoch()));
    }
    template <class Self>
    void wait(Self& self, std::shared_ptr<Self>& kept) {
        using clock = typename Wheel::clock_type;
        state_type<Wheel>& wheel = **wheel_; // self moves, and this with it
        const from_now<clock> when{std::min(left(), recheck_), clock::now()};
        kept = std::allocate_shared<Self>(asio::get_associated_allocator(self), std::move(self));
        wheel.start_wait(kept_operation<Self>{kept}, when);
    }

    std::unique_ptr<engine_user<state_type<Wheel>>> wheel_; // which may be destroyed between two looks at the clock
    point at_;
    std::chrono::nanoseconds recheck_;
};

} // namespace detail

} // namespace cogwheel

template <template <class, class> class Associator, class Operation, class Default>
struct asio::associator<Associator, cogwheel::detail::kept_operation<Operation>, Default>
    : Associator<Operation, Default> {
    using kept = cogwheel::detail::kept_operation<Operation>;
    static decltype(auto) get(const kept& k) noexcept { return Associator<Operation, Default>::get(*k.operation); }
    static decltype(auto) get(const kept& k, const Default& d) noexcept {
        return Associator<Operation, Default>::get(*k.operation, d);
    }
};

namespace cogwheel {

/// Completes when `at` has come on the clock on the wall; a past one in the wheel's next turn.
/// Completion signature: void(std::error_code): success; asio::error::operation_aborted; errc::stopped, errc::too_many_timers: the wheel takes
///   no timer; asio::error::no_memory: at a later look at the clock. Never completes inline.
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
