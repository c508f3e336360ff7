// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What an interval and the tick under way share, for either may go first, and the handler that tells the machine of the tick.
#pragma once

#include <cogwheel/asio/detail/own_executor.hpp>
#include <cogwheel/asio/wheel_timer.hpp>
#include <cogwheel/schedule/detail/interval_machine.hpp>
#include <cogwheel/wheel/detail/exceptions.hpp>

#include <asio/associator.hpp>
#include <asio/error.hpp>

#include <memory>

namespace cogwheel::detail {

template <class Body, class Handler>
struct tick_handler {
    std::shared_ptr<Body> body;
    Handler handler;
    std::error_code refused{};

    /// Posted: there is nothing to wait for.
    void operator()() { std::move(handler)(refused, typename Body::time_point()); }

    /// The wait has ended.
    void operator()(std::error_code ec) {
        body->waiting = false;
        typename Body::time_point due{};
        if (!ec) due = body->ticked();
        body.reset(); // before the handler, which may take long
        std::move(handler)(ec, due);
    }
};

template <class Wheel>
struct interval_body {
    using clock = typename Wheel::clock_type;
    using time_point = typename Wheel::time_point;
    using timer_type = decltype(basic_wheel_timer(std::declval<const Wheel&>()));

    interval_body(const Wheel& wheel, const interval_options& options, time_point end)
        : timer(wheel), machine(options, present<clock>(), saturate_to_ns(end.time_since_epoch())) {}

    time_point ticked() { return point_at<time_point>(machine.ticked(present<clock>())); }

    template <class Handler>
    static void start(const std::shared_ptr<interval_body>& self, Handler&& handler) {
        using full = tick_handler<interval_body, std::decay_t<Handler>>;
        const auto refuse = [&](std::error_code why) {
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

    timer_type timer;
    interval_machine machine;
    bool waiting = false;
};

} // namespace cogwheel::detail

template <template <class, class> class Associator, class Body, class Handler, class Default>
struct asio::associator<Associator, cogwheel::detail::tick_handler<Body, Handler>, Default>
    : Associator<Handler, Default> {
    using ticking = cogwheel::detail::tick_handler<Body, Handler>;
    static decltype(auto) get(const ticking& h) noexcept { return Associator<Handler, Default>::get(h.handler); }
    static decltype(auto) get(const ticking& h, const Default& d) noexcept {
        return Associator<Handler, Default>::get(h.handler, d);
    }
};
