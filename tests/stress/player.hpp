// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A thread that plays one role after another on the wheel of a round, and keeps account.
//
// Each of the functions below does one thing and returns how many calls that were: none if nothing fits. Those that end
// something look for what another thread has started, at first for what is about to fire.
#pragma once

#include "round.hpp"
#include "support/random.hpp"

#include <mutex>

namespace stress {

template <class Cell>
struct held {
    Cell* cell = nullptr;
    std::unique_lock<try_guard> lock;

    explicit operator bool() const noexcept { return cell != nullptr; }
    Cell& operator*() const noexcept { return *cell; }
    Cell* operator->() const noexcept { return cell; }
};

class player {
public:
    player(round& r, unsigned number, std::uint64_t seed);

    /// Until the round, or the time, is over.
    void play(std::optional<steady::time_point> until);

    /// Deals with what has ended: it must have ended for a reason. Preconditions: guarded.
    void settle(cell& c);
    /// The same for one that has not, when nobody is left who could end it.
    void settle_last(cell& c);

    /// One that does not run, dealt with.
    template <class Cell>
    held<Cell> find_idle(std::vector<Cell>& cells);
    /// One that runs, or did a moment ago; another thread has started it.
    template <class Cell>
    held<Cell> find_running(std::vector<Cell>& cells);

    /// Starts a use.
    std::uint64_t begin(cell& c, steady::time_point earliest);
    void called(role r, bool effective) { book.note(r, effective); }

    /// Mostly short, often none, seldom longer than anybody waits.
    std::chrono::nanoseconds delay();
    asio::cancellation_type signal_type();
    bool one_of(std::uint64_t n) { return random.below(n) == 0; }

    round& in;
    const unsigned id;
    cogwheel_tests::random_source random;
    ledger book;

private:
    unsigned play_once(role r, cogwheel::timer_wheel* wheel);
    role draw();
    bool was_swept(const cell& c) const noexcept { return in.sweeps_begun > c.sweeps_before; }
};

// callables.cpp
unsigned schedule_one(player& p, cogwheel::timer_wheel& wheel);
unsigned cancel_one(player& p);
unsigned reschedule_one(player& p);

// waits.cpp
unsigned wait_one(player& p, cogwheel::timer_wheel& wheel);
unsigned emit_one(player& p);

// timers.cpp
unsigned use_timer(player& p, cogwheel::timer_wheel* wheel);

// limits.cpp
unsigned limit_one(player& p, cogwheel::timer_wheel& wheel);
unsigned complete_one(player& p);

/// What an async_wait completed with.
phase phase_of(const std::error_code& ec);

template <class Cell>
held<Cell> player::find_idle(std::vector<Cell>& cells) {
    const std::size_t first = random.below(cells.size());
    for (std::size_t look = 0; look < 16; ++look) {
        Cell& c = cells[(first + look) % cells.size()];
        if (c.running()) continue;
        std::unique_lock lock(c.guard, std::try_to_lock);
        if (!lock || c.running()) continue;
        settle(c);
        return {&c, std::move(lock)};
    }
    return {};
}

template <class Cell>
held<Cell> player::find_running(std::vector<Cell>& cells) {
    const std::size_t first = random.below(cells.size());
    const auto soon = steady::now() + std::chrono::milliseconds(1);
    for (std::size_t look = 0; look < 24; ++look) {
        Cell& c = cells[(first + look) % cells.size()];
        if (!c.running() || (look < 16 && c.earliest() > soon)) continue;
        std::unique_lock lock(c.guard, std::try_to_lock);
        if (!lock || c.starter == id) continue;
        return {&c, std::move(lock)};
    }
    return {};
}

} // namespace stress
