// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The roles of schedule(): callables, their tokens, and what a handler does to its own wheel.
#include "player.hpp"

#include <asio/bind_executor.hpp>

namespace stress {

namespace {

using cogwheel::timer_token;
using cogwheel::timer_wheel;

void restart(player& p, timer_wheel& wheel, callable_cell& c);

// What servers do in a handler: start again, or end what belongs together.
void follow_up(round& r, callable_cell& c, std::uint64_t serial) {
    player& p = *r.in_turn;
    if (r.over()) return;
    switch (serial % 8) {
    case 0: {
        const lease wheel(r);
        const std::unique_lock lock(c.guard, std::try_to_lock);
        if (!wheel || !lock || c.running()) return;
        p.settle(c);
        restart(p, *wheel, c);
        break;
    }
    case 1:
        cancel_one(p);
        break;
    case 2:
        reschedule_one(p);
        break;
    case 3:
        emit_one(p);
        break;
    default:
        return;
    }
    r.note(1, p);
}

/// Trivially destructible: its end by a cancel is silent.
struct plain_callable {
    round* in;
    callable_cell* of;
    std::uint64_t serial;

    void operator()() const {
        in->ran_in_turn();
        of->end(serial, phase::succeeded);
        follow_up(*in, *of, serial);
    }
};

struct owning_callable {
    round* in;
    callable_cell* of;
    ticket end;
    bool in_turn;

    void operator()() {
        if (in_turn) in->ran_in_turn();
        end.end(phase::succeeded);
        if (in_turn) follow_up(*in, *of, end.serial());
    }
};

struct on_cancel {
    round* in;
    callable_cell* of;
    std::uint64_t serial;

    void operator()() const {
        in->ran_in_turn();
        of->end(serial, phase::aborted);
    }
};

void restart(player& p, timer_wheel& wheel, callable_cell& c) {
    round& r = p.in;
    const auto delay = p.delay();
    const std::uint64_t serial = p.begin(c, steady::now() + delay);
    c.stale = c.token;
    c.plain = false;
    c.silent = true;
    const auto owning = [&](bool in_turn, bool told = false) {
        return owning_callable{&r, &c, ticket(c, serial, told), in_turn};
    };
    std::error_code ec;
    switch (p.random.below(8)) {
    case 0:
    case 1:
        c.plain = true;
        c.token = wheel.schedule(delay, plain_callable{&r, &c, serial}, ec);
        break;
    case 2:
        c.token = wheel.schedule(delay, asio::bind_executor(*r.strand, owning(false)), ec);
        break;
    case 3:
    case 4:
        c.silent = false;
        c.token = wheel.schedule(delay, owning(true, true), cogwheel::on_cancel(on_cancel{&r, &c, serial}), ec);
        break;
    case 5:
        c.silent = false;
        c.token = wheel.schedule(c.earliest(), owning(true, true), cogwheel::on_cancel(on_cancel{&r, &c, serial}), ec);
        break;
    default:
        c.token = wheel.schedule(delay, owning(true), ec);
    }
    p.called(role::schedule, !ec);
    if (static_cast<bool>(c.token) == static_cast<bool>(ec))
        findings::add("schedule() returned {} token and {}", c.token ? "a" : "no", ec ? ec.message() : "no error");
    if (!ec) return;
    if (!c.plain && c.now_in() != phase::dropped)
        findings::add("schedule() refused a callable, and did not destroy it");
    if (c.running()) c.end(serial, phase::dropped);
    c.refuse(phase_of(ec));
}

unsigned probe_stale_token(player& p) {
    callable_cell& c = p.in.cells.callables[p.random.below(p.in.cells.callables.size())];
    const std::unique_lock lock(c.guard, std::try_to_lock);
    if (!lock) return 0;
    bool any = false;
    switch (p.random.below(3)) {
    case 0:
        any = c.stale.cancel();
        break;
    case 1:
        any = c.stale.pending();
        break;
    default:
        any = c.stale.reschedule(std::chrono::milliseconds(1));
    }
    if (any) findings::add("callable {}: a stale token was not harmless in use {}", c.address(), c.serial());
    p.called(role::cancel, false);
    return 1;
}

} // namespace

unsigned schedule_one(player& p, timer_wheel& wheel) {
    const auto c = p.find_idle(p.in.cells.callables);
    if (!c) return 0;
    restart(p, wheel, *c);
    return 1;
}

unsigned cancel_one(player& p) {
    if (p.one_of(8)) return probe_stale_token(p);
    const auto c = p.find_running(p.in.cells.callables);
    if (!c) return probe_stale_token(p);
    const bool was_over = !c->running();
    const std::uint64_t serial = c->serial();
    const bool hit = c->token.cancel();
    p.called(role::cancel, hit);
    if (!hit) return 1;
    if (was_over) findings::add("callable {} use {}: cancel() said true after its end", c->address(), serial);
    c->asked = c->must_abort = true;
    if (c->plain)
        c->end(serial, phase::aborted);
    else if (const phase now = c->now_in(); c->silent && now != phase::dropped)
        findings::add("callable {} use {} is {} after cancel() said true", c->address(), serial, cell::phase_name(now));
    if (c->token.pending()) findings::add("callable {} use {} is pending after its cancel()", c->address(), serial);
    return 1;
}

unsigned reschedule_one(player& p) {
    const auto c = p.find_running(p.in.cells.callables);
    if (!c) return 0;
    const bool was_over = !c->running();
    const auto delay = p.delay();
    const auto now = steady::now();
    c->perhaps_not_before(now + delay);
    const bool moved = p.one_of(2) ? c->token.reschedule(delay) : c->token.reschedule(now + delay);
    p.called(role::rearm, moved);
    if (!moved) return 1;
    if (was_over) findings::add("callable {} use {}: reschedule() said true after its end", c->address(), c->serial());
    c->not_before(now + delay);
    return 1;
}

} // namespace stress
