// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// interval_impl: an interval shares it with its pending tick, because either may end first.
// tick_handler: reports the tick to the machine, then calls the user's handler.
#pragma once

#include <cogwheel/asio/detail/on_wheel.hpp>
#include <cogwheel/asio/wheel_timer.hpp>
#include <cogwheel/detail/exceptions.hpp>
#include <cogwheel/schedule/detail/interval_machine.hpp>

#include COGWHEEL_ASIO_HEADER(error.hpp)

#include <memory>
#include <optional>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

template <class Impl, class Handler>
struct tick_handler {
    using associations = of_handler;
    std::shared_ptr<Impl> impl;
    Handler handler;
    error_code refused{};

    /// Completes a tick that was refused. Posted by start().
    void operator()() { std::move(handler)(refused, typename Impl::time_point()); }

    /// Completes a tick whose wait has ended.
    void operator()(error_code ec) {
        typename Impl::time_point due{};
        impl->end_wait(ec, due);
        impl.reset(); // now, because the handler may take long
        std::move(handler)(ec, due);
    }
};

template <class Wheel>
struct interval_impl {
    using clock = typename Wheel::clock_type;
    using time_point = typename Wheel::time_point;
    using timer_type = decltype(basic_wheel_timer(std::declval<const Wheel&>()));

    interval_impl(const Wheel& wheel, const interval_options& options, time_point end)
        : timer(wheel), machine(options, present<clock>(), saturate_to_ns(end.time_since_epoch())) {}

    /// Waits for the next tick. If no wait is possible, posts the handler with an error.
    template <class Handler>
    static void start(std::shared_ptr<interval_impl> self, Handler&& handler) {
        using full = tick_handler<interval_impl, std::decay_t<Handler>>;
        const auto refuse = [&](error_code why) {
            post_to_its_own(self->timer.get_executor(), full{nullptr, std::forward<Handler>(handler), why});
        };
        if (self->waiting) return refuse(asio::error::already_started);
        const auto due = self->machine.next(present<clock>());
        if (!due) return refuse(asio::error::eof);
        self->timer.expires_at(point_at<time_point>(*due));
        self->waiting = true;
        COGWHEEL_TRY { self->timer.async_wait(full{self, std::forward<Handler>(handler), {}}); }
        COGWHEEL_CATCH {
            self->waiting = false;
            COGWHEEL_RETHROW;
        }
    }

    /// Makes `first` the point of the next tick, also of a pending one. Errors: std::bad_alloc; nothing changes then.
    void reset(std::chrono::nanoseconds first) {
        interval_machine changed = machine;
        changed.reset(first);
        if (waiting) {
            const auto due = changed.next(present<clock>());
            if (due ? !timer.reschedule(point_at<time_point>(*due)) : timer.cancel() == 0) {
                after_this = first; // the pending tick has already expired
                return;
            }
            over = !due;
        }
        machine = changed;
    }

    /// Ends a wait: sets `due` on success, and `ec` to eof if there are no more ticks.
    void end_wait(error_code& ec, time_point& due) {
        waiting = false;
        if (!ec) due = point_at<time_point>(machine.ticked(present<clock>()));
        if (std::exchange(over, false)) ec = asio::error::eof;
        if (after_this) machine.reset(*std::exchange(after_this, std::nullopt));
    }

    timer_type timer;
    interval_machine machine;
    bool waiting = false;
    bool over = false;                                  // reset() left no tick for the wait
    std::optional<std::chrono::nanoseconds> after_this; // set by reset() while an expired tick is on its way
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
