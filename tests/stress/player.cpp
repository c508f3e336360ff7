// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// See player.hpp.
#include "player.hpp"

#include <cogwheel/asio/error.hpp>

#include <algorithm>
#include <array>
#include <thread>

namespace stress {

using namespace std::chrono_literals;

player::player(round& r, unsigned number, std::uint64_t seed)
    : in(r), id(number), random(seed * 0x100000001b3 + r.planned.index * 257 + number) {}

// ---- what is drawn ----

std::chrono::nanoseconds player::delay() {
    switch (random.below(16)) {
    case 0:
        return 0ns;
    case 1:
        return 1h;
    case 2:
    case 3:
    case 4: // several revolutions
        return std::chrono::microseconds(random.below(150'000));
    case 5:
    case 6:
    case 7:
    case 8:
        return std::chrono::microseconds(random.below(8'000));
    default:
        return std::chrono::microseconds(random.below(2'000));
    }
}

asio::cancellation_type player::signal_type() {
    switch (random.below(16)) {
    case 0:
        return asio::cancellation_type::none;
    case 1:
        return asio::cancellation_type::partial;
    case 2:
        return asio::cancellation_type::total;
    default:
        return asio::cancellation_type::terminal;
    }
}

role player::draw() {
    using enum role;
    static constexpr std::array plays{schedule, schedule, schedule, schedule, schedule, schedule, schedule, wait,
                                      wait,     wait,     wait,     wait,     timer,    timer,    timer,    timer,
                                      limit,    limit,    cancel,   cancel,   cancel,   cancel,   cancel,   rearm,
                                      rearm,    rearm,    rearm,    emit,     emit,     emit,     complete, complete};
    const role r = plays[random.below(plays.size())];
    return (r == limit || r == complete) && !in.planned.limits ? schedule : r;
}

// ---- playing ----

unsigned player::play_once(role r, cogwheel::timer_wheel* wheel) {
    switch (r) {
    case role::schedule:
        return wheel == nullptr ? 0 : schedule_one(*this, *wheel);
    case role::wait:
        return wheel == nullptr ? 0 : wait_one(*this, *wheel);
    case role::limit:
        return wheel == nullptr ? 0 : limit_one(*this, *wheel);
    case role::timer:
        return use_timer(*this, wheel);
    case role::cancel:
        return cancel_one(*this);
    case role::rearm:
        return reschedule_one(*this);
    case role::emit:
        return emit_one(*this);
    case role::complete:
        return complete_one(*this);
    default:
        return 0;
    }
}

void player::play(std::optional<steady::time_point> until) {
    constexpr int batch = 64;
    while (!in.over() && (!until || steady::now() < *until)) {
        std::uint64_t n = 0;
        const role r = draw();
        {
            // Some roles are played without it, so that they go on while the wheel is destroyed.
            std::optional<lease> wheel;
            if (r == role::schedule || r == role::wait || r == role::limit || (r == role::timer && one_of(2)))
                wheel.emplace(in);
            cogwheel::timer_wheel* const w = wheel && *wheel ? &**wheel : nullptr;
            for (int i = 0; i < batch; ++i) n += play_once(r, w);
            if (w != nullptr && one_of(8)) {
                const auto s = w->stats();
                called(role::observe, true);
                ++n;
                if (s.scheduled != s.fired + s.cancelled + s.pending)
                    findings::add("{} scheduled, but {} fired, {} cancelled and {} pending", s.scheduled, s.fired,
                                  s.cancelled, s.pending);
                if (s.pending > in.planned.options.max_pending) findings::add("{} are pending: too many", s.pending);
            }
        }
        if (n == 0) std::this_thread::yield();
        watchdog::pulse();
        in.note(n, *this);
    }
}

// ---- keeping account ----

std::uint64_t player::begin(cell& c, steady::time_point earliest) {
    const std::uint64_t sweeps = in.sweeps_over;
    const bool after_stop = in.stopped;
    const std::uint64_t serial = c.begin(earliest);
    c.starter = id;
    c.sweeps_before = sweeps;
    c.after_stop = after_stop;
    ++book.of(c.of).started;
    return serial;
}

void player::settle(cell& c) {
    const phase p = c.now_in();
    if (p == phase::idle || p == phase::running) return;
    const std::uint64_t serial = c.serial();
    const auto wrong = [&](const char* why) {
        findings::add("{} {} use {} ended as {}: {}", c.name(), c.address(), serial, cell::phase_name(p), why);
    };
    c.rest();
    ends& e = book.of(c.of);
    const bool refused = p == phase::stopped || p == phase::too_many;
    if (c.after_stop && p != phase::stopped && !in.dropping) wrong("the wheel had been stopped before it began");
    if (c.must_abort && p != phase::aborted && p != phase::dropped) wrong("a cancel had said that it was pending");
    if (c.crowded && !refused) ++book.crowded;
    switch (p) {
    case phase::succeeded:
        ++e.succeeded;
        break;
    case phase::aborted:
        if (!c.asked && !was_swept(c)) wrong("nobody cancelled it");
        ++e.cancelled;
        break;
    case phase::unreported:
        ++book.unreported;
        ++e.timed_out;
        break;
    case phase::timed_out:
        ++e.timed_out;
        break;
    case phase::stopped:
        if (!in.stopping) wrong("nobody stopped the wheel");
        ++e.rejected;
        break;
    case phase::too_many:
        if (in.planned.options.max_pending == cogwheel::wheel_options().max_pending) wrong("there was no maximum");
        ++e.rejected;
        break;
    default:
        if (c.silent && (c.must_abort || (was_swept(c) && !in.dropping))) {
            ++e.cancelled;
        } else {
            if (!in.dropping) wrong("nobody cancelled it, and the context lives");
            ++e.dropped;
        }
    }
}

void player::settle_last(cell& c) {
    if (!c.running()) return settle(c);
    const bool known = c.silent && (was_swept(c) || in.dropping);
    if (!known) findings::add("{} {} use {} never ended", c.name(), c.address(), c.serial());
    ++(in.dropping ? book.of(c.of).dropped : book.of(c.of).cancelled);
    c.rest();
}

phase phase_of(const std::error_code& ec) {
    if (!ec) return phase::succeeded;
    if (ec == asio::error::operation_aborted) return phase::aborted;
    if (ec == asio::error::timed_out) return phase::timed_out;
    if (ec == cogwheel::errc::stopped) return phase::stopped;
    if (ec == cogwheel::errc::too_many_timers) return phase::too_many;
    findings::add("a handler was called with {} {}: {}", ec.category().name(), ec.value(), ec.message());
    return phase::aborted;
}

} // namespace stress
