// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The roles of timeout() and timeout( {.own_error = true}): operations under a limit, and those who complete them.
#include "player.hpp"

#include <cogwheel/asio/timeout.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>

namespace stress {

namespace {

struct limit_handler {
    limit_cell* of;
    ticket end;

    void operator()(std::error_code ec, std::uint64_t value) {
        phase p = phase_of(ec);
        if (p == phase::succeeded && value != end.serial())
            findings::add("limit {} use {} completed with the results of {}", of->address(), end.serial(), value);
        if (!of->reports && p == phase::timed_out)
            findings::add("limit {} use {}: cancel_after reported timed_out", of->address(), end.serial());
        if (!of->reports && p == phase::aborted && steady::now() >= of->earliest()) p = phase::unreported;
        end.end(p);
    }
};

} // namespace

unsigned limit_one(player& p, cogwheel::timer_wheel& wheel) {
    const auto c = p.find_idle(p.in.cells.limits);
    if (!c) return 0;
    const auto delay = p.delay();
    c->reports = !p.one_of(4);
    const std::uint64_t serial = p.begin(*c, steady::now() + delay);
    const auto start = [&](auto token) {
        c->operation.async_take(p.in.io.get_executor(), *c, serial, p.one_of(8), std::move(token));
    };
    const auto handler = [&] { return limit_handler{&*c, ticket(*c, serial)}; };
    c->connected = true;
    switch (p.random.below(4)) {
    case 0:
        c->connected = false;
        if (c->reports)
            start(cogwheel::timeout(wheel, delay, handler()));
        else
            start(cogwheel::timeout(wheel, delay, {.own_error = true}, handler()));
        break;
    case 1: {
        auto bound = asio::bind_cancellation_slot(c->signal.slot(), asio::bind_executor(*p.in.strand, handler()));
        if (c->reports)
            start(cogwheel::timeout(wheel, c->earliest(), std::move(bound)));
        else
            start(cogwheel::timeout(wheel, c->earliest(), {.own_error = true}, std::move(bound)));
        break;
    }
    default: {
        auto bound = asio::bind_cancellation_slot(c->signal.slot(), handler());
        if (c->reports)
            start(cogwheel::timeout(wheel, delay, std::move(bound)));
        else
            start(cogwheel::timeout(wheel, delay, {.type = asio::cancellation_type::total, .own_error = true},
                                    std::move(bound)));
    }
    }
    p.called(role::limit, true);
    return 1;
}

unsigned complete_one(player& p) {
    const auto c = p.find_running(p.in.cells.limits);
    if (!c) return 0;
    p.called(role::complete, c->operation.complete());
    return 1;
}

} // namespace stress
