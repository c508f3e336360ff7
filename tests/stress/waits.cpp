// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The roles of async_wait(), and of those who emit cancellation signals.
#include "player.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>

namespace stress {

namespace {

struct wait_handler {
    round* in;
    ticket end;
    bool in_turn;

    void operator()(std::error_code ec) {
        if (in_turn) in->ran_in_turn();
        end.end(phase_of(ec));
    }
};

template <class Cell>
unsigned emit_at(player& p, std::vector<Cell>& cells) {
    auto c = p.find_running(cells);
    if (!c) { // the signal of what is over must do nothing
        c = p.find_idle(cells);
        if (!c) return 0;
        c->connected = false;
    }
    const asio::cancellation_type type = p.signal_type();
    const bool heard = c->connected && type != asio::cancellation_type::none;
    if (heard) c->asked = true;
    c->signal.emit(type);
    p.called(role::emit, heard);
    return 1;
}

} // namespace

unsigned wait_one(player& p, cogwheel::timer_wheel& wheel) {
    const auto c = p.find_idle(p.in.cells.waits);
    if (!c) return 0;
    const auto delay = p.delay();
    const std::uint64_t serial = p.begin(*c, steady::now() + delay);
    const auto handler = [&](bool in_turn) { return wait_handler{&p.in, ticket(*c, serial), in_turn}; };
    c->connected = true;
    switch (p.random.below(8)) {
    case 0:
        c->connected = false;
        wheel.async_wait(delay, handler(true));
        break;
    case 1:
        wheel.async_wait(
            delay, asio::bind_cancellation_slot(c->signal.slot(), asio::bind_executor(*p.in.strand, handler(false))));
        break;
    case 2:
        wheel.async_wait(c->earliest(), asio::bind_cancellation_slot(c->signal.slot(), handler(true)));
        break;
    default:
        wheel.async_wait(delay, asio::bind_cancellation_slot(c->signal.slot(), handler(true)));
    }
    p.called(role::wait, true);
    return 1;
}

unsigned emit_one(player& p) {
    return p.in.planned.limits && p.one_of(4) ? emit_at(p, p.in.cells.limits) : emit_at(p, p.in.cells.waits);
}

} // namespace stress
