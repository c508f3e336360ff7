// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The role of wheel_timer: whoever finds a timer free uses it as its only thread, and leaves it to the next.
#include "player.hpp"

#include <asio/bind_cancellation_slot.hpp>

#include <algorithm>

namespace stress {

namespace {

using cogwheel::wheel_timer;

struct timer_handler {
    round* in;
    ticket end;

    void operator()(std::error_code ec) {
        in->ran_in_turn();
        end.end(phase_of(ec));
    }
};

std::size_t running(const timer_cell& t) {
    return static_cast<std::size_t>(
        std::count_if(t.waits.begin(), t.waits.end(), [](const timer_wait& w) { return w.running(); }));
}

// What was called has ended `n` waits. With one wait alone that says which.
void ended_by_call(player& p, timer_cell& t, std::size_t n, std::size_t possible) {
    if (n > possible) findings::add("wheel_timer {}: {} waits cancelled, of {}", static_cast<void*>(&t), n, possible);
    p.called(role::timer, n != 0);
    if (n == 0) return;
    for (timer_wait& w : t.waits) {
        if (w.now_in() == phase::idle) continue;
        w.asked = true;
        if (p.in.planned.waits_per_timer == 1) w.must_abort = true;
    }
}

unsigned start_wait(player& p, timer_cell& t) {
    const std::size_t most = p.in.planned.waits_per_timer;
    for (timer_wait& w : t.waits) p.settle(w);
    const std::size_t before = running(t);
    if (before >= most) return 0;
    timer_wait& w = *std::find_if(t.waits.begin(), t.waits.end(), [](const timer_wait& x) { return !x.running(); });
    if (w.now_in() != phase::idle) p.settle(w);
    const std::uint64_t serial = p.begin(w, t.timer->expiry());
    w.crowded = before != 0;
    timer_handler handler{&p.in, ticket(w, serial)};
    w.connected = p.one_of(2);
    if (w.connected)
        t.timer->async_wait(asio::bind_cancellation_slot(w.signal.slot(), std::move(handler)));
    else
        t.timer->async_wait(std::move(handler));
    p.called(role::timer, true);
    return 1;
}

unsigned emit_at_wait(player& p, timer_cell& t) {
    timer_wait& w = t.waits[p.random.below(p.in.planned.waits_per_timer)];
    const auto type = p.signal_type();
    const bool heard = w.connected && type != asio::cancellation_type::none;
    if (heard) w.asked = true;
    w.signal.emit(type);
    p.called(role::timer, heard);
    return 1;
}

unsigned reschedule(player& p, timer_cell& t) {
    const auto delay = p.delay();
    for (timer_wait& w : t.waits) w.perhaps_not_before(steady::now() + delay);
    const bool moved = t.timer->reschedule(delay);
    p.called(role::timer, moved);
    if (moved && p.in.planned.waits_per_timer == 1) t.waits[0].not_before(t.timer->expiry());
    return 1;
}

unsigned move(player& p, timer_cell& t) {
    wheel_timer moved(std::move(*t.timer));
    if (p.one_of(2))
        *t.timer = std::move(moved);
    else
        t.timer.emplace(std::move(moved));
    p.called(role::timer, true);
    return 1;
}

unsigned destroy(player& p, timer_cell& t) {
    for (timer_wait& w : t.waits) w.asked = true;
    t.timer.reset();
    p.called(role::timer, true);
    return 1;
}

} // namespace

unsigned use_timer(player& p, cogwheel::timer_wheel* wheel) {
    timer_cell& t = p.in.cells.timers[p.random.below(p.in.cells.timers.size())];
    const std::unique_lock lock(t.guard, std::try_to_lock);
    if (!lock) return 0;
    if (!t.timer) {
        if (wheel == nullptr) return 0;
        t.timer.emplace(*wheel);
    }
    const std::size_t possible = running(t);
    switch (p.random.below(16)) {
    case 0:
        ended_by_call(p, t, t.timer->cancel(), possible);
        return 1;
    case 1:
        ended_by_call(p, t, t.timer->cancel_one(), possible);
        return 1;
    case 2:
    case 3:
        return reschedule(p, t);
    case 4:
        return emit_at_wait(p, t);
    case 5:
        return move(p, t);
    case 6:
        return p.one_of(4) ? destroy(p, t) : 0;
    case 7:
    case 8:
        return start_wait(p, t);
    default:
        if (possible != 0 && !p.one_of(4)) return 0; // else hardly a wait would be left alone
        ended_by_call(p, t, t.timer->expires_after(p.delay()), possible);
        return 1 + start_wait(p, t);
    }
}

} // namespace stress
