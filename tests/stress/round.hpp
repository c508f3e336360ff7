// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What the threads of a round share: the cells, one wheel, and what was done to it.
#pragma once

#include "cell.hpp"
#include "exchange.hpp"

#include <cogwheel/asio/timer_wheel.hpp>
#include <cogwheel/asio/wheel_timer.hpp>

#include <asio/cancellation_signal.hpp>
#include <asio/io_context.hpp>
#include <asio/strand.hpp>

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <vector>

namespace stress {

// ---- what is started, and with what it is ended ----

struct callable_cell : cell {
    callable_cell() : cell(kind::callable) {}

    cogwheel::timer_token token;
    cogwheel::timer_token stale; // of the use before
    bool plain = false;          // its callable owns nothing, and says nothing when it is destroyed
};

/// Asio's signals are for one thread at a time: the guard is theirs, too.
struct signalled_cell : cell {
    using cell::cell;

    asio::cancellation_signal signal;
    bool connected = false; // to the present use; else perhaps to one before, to whose successors it must do nothing
};

struct wait_cell : signalled_cell {
    wait_cell() : signalled_cell(kind::wait) {}
};

struct timer_wait : signalled_cell {
    timer_wait() : signalled_cell(kind::timer) {}
};

/// One guard for the timer and those who wait on it.
struct timer_cell {
    try_guard guard;
    std::optional<cogwheel::wheel_timer> timer;
    std::array<timer_wait, 3> waits;
};

struct limit_cell : signalled_cell {
    limit_cell() : signalled_cell(kind::limit) {}

    exchange operation;
    bool reports = true; // that it timed out
};

/// All that can be pending at once; it lasts from round to round, and so do stale tokens and signals.
struct arena {
    std::vector<callable_cell> callables = std::vector<callable_cell>(8000);
    std::vector<wait_cell> waits = std::vector<wait_cell>(6000);
    std::vector<timer_cell> timers = std::vector<timer_cell>(1000);
    std::vector<limit_cell> limits = std::vector<limit_cell>(2000);

    template <class F>
    void for_each(F f) {
        for (auto& c : callables) f(c);
        for (auto& c : waits) f(c);
        for (auto& t : timers)
            for (auto& c : t.waits) f(c);
        for (auto& c : limits) f(c);
    }
};

// ---- a round ----

enum class ending {
    stop,         ///< wheel.stop(), while the others go on
    stop_visited, ///< the same with a visitor
    destroy,      ///< the wheel's destructor, while tokens, signals, timers and limits are in use
    move_away,    ///< the same for a wheel that was moved
    drop,         ///< the context is destroyed with all that is pending
};

struct plan {
    std::uint64_t index = 0;
    std::uint64_t operations = 0;
    cogwheel::wheel_options options;
    std::size_t waits_per_timer = 1; ///< with one, every count is exact
    bool limits = true;
    std::uint64_t sweeps = 0; ///< calls of cancel_all()
    ending end = ending::stop;
};

class player;

class round {
public:
    round(const plan& p, arena& c, asio::io_context& context, std::uint64_t seed);
    ~round();
    round(const round&) = delete;
    round& operator=(const round&) = delete;

    const plan& planned;
    arena& cells;
    asio::io_context& io;
    std::optional<asio::strand<asio::io_context::executor_type>> strand; // not beyond its context

    // ---- the wheel itself: not to be used while it is destroyed, see lease ----

    std::shared_ptr<cogwheel::timer_wheel> wheel;
    std::shared_mutex wheel_mutex;
    std::atomic<bool> wheel_goes{false}; // so that nobody comes before the one who destroys it

    // ---- reasons for an abort ----

    std::atomic<std::uint64_t> sweeps_begun{0}, sweeps_over{0}; // stop() and the wheel's end are sweeps, too
    std::atomic<bool> stopping{false}, stopped{false};
    std::atomic<bool> dropping{false};

    // ---- the way of the round ----

    bool over() const noexcept { return done.load(std::memory_order_relaxed) >= planned.operations || findings::any(); }
    /// `n` operations were done: now and then that makes `by` the one who cancels all, or ends the wheel.
    /// Preconditions: `by` holds no lease.
    void note(std::uint64_t n, player& by);
    void end_wheel(player& by);

    std::atomic<std::uint64_t> done{0};

    // ---- handlers on the wheel's own executor: never two at once ----

    void ran_in_turn();

    std::uint64_t unguarded = 0; // the wheel's turn is its guard
    std::atomic<std::uint64_t> in_turn_runs{0};
    std::unique_ptr<player> in_turn;                // the same
    std::optional<cogwheel::wheel_stats> last_seen; // before the wheel was destroyed

private:
    void sweep(player& by);

    std::atomic<bool> sweep_in_turn_{false}, end_in_turn_{false}, ended_{false};
};

/// The right to use the wheel itself, if there is one.
class lease {
public:
    explicit lease(round& r) : lock_(r.wheel_mutex, std::defer_lock) {
        if (r.wheel_goes) return;
        lock_.lock();
        wheel_ = r.wheel.get();
    }
    explicit operator bool() const noexcept { return wheel_ != nullptr; }
    cogwheel::timer_wheel& operator*() const noexcept { return *wheel_; }
    cogwheel::timer_wheel* operator->() const noexcept { return wheel_; }

private:
    std::shared_lock<std::shared_mutex> lock_;
    cogwheel::timer_wheel* wheel_ = nullptr;
};

} // namespace stress
