// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Decides which runs of a task begin, wait, or do not happen. It uses neither a clock nor an executor. Points count
// from the epoch of the trigger's clock.
#pragma once

#include <cogwheel/tasks/task.hpp>

#include <list>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

class task_machine {
public:
    using nanoseconds = std::chrono::nanoseconds;

    task_machine(const task& of, nanoseconds grace);

    /// Sets the last point: no run is due after it. Preconditions: neither begin() nor resume() was called.
    void ends_at(nanoseconds last) noexcept { end_ = last; }

    /// Starts a new task.
    void begin(nanoseconds now);

    /// Continues a stored task. `active` is the number of its runs that were under way and go on; `waiting` are the
    /// points of runs that had to wait. If `next` is later than the trigger allows, a clock that was ahead has found
    /// it: resume() then finds it anew and returns true. So it does if `next` is no point of a cron expression any
    /// more, because the rules of its zone have changed: the nearest point is meant.
    bool resume(std::optional<nanoseconds> next, std::int64_t left, std::size_t active, std::list<nanoseconds> waiting,
                nanoseconds now);

    /// Adjusts next() after the clock was put back by `by`, during the last `elapsed`, and shows `now`. Returns true if
    /// next() has changed; it may be due. The rule is that of Vixie's cron. Points come again if the expression follows
    /// the clock, or if `by` is three hours or more. Otherwise fixed times that were due do not come again.
    /// Preconditions: next().
    bool clock_put_back(nanoseconds by, nanoseconds elapsed, nanoseconds now);

    /// Returns when the next run is due, or nothing if there is none.
    std::optional<nanoseconds> next() const noexcept { return at_.next; }

    struct decision {
        std::vector<nanoseconds> begin; ///< the points at which these runs were due
        bool replace = false;           ///< the runs under way must stop
    };

    /// Handles all points up to `now`. Preconditions: next() has come. Errors: std::bad_alloc; the caller then restores
    /// the progress with go_back_to().
    decision expired(nanoseconds now);

    /// The part of the state that changes.
    struct progress {
        std::optional<nanoseconds> next;
        nanoseconds done{};    // points up to here have been due, or came before the task
        bool was_due = false;  // a point has been due
        std::int64_t left = 0; // runs that have not begun
        std::size_t active = 0;
        std::list<nanoseconds> waiting; // nearly always empty, and then without memory
        std::uint64_t missed = 0;       // runs, by the misfire policy
        std::uint64_t dropped = 0;      // runs, by the overlap policy
    };
    const progress& present() const noexcept { return at_; }
    void go_back_to(progress&& before) noexcept { at_ = std::move(before); }

    /// Counts a run that has ended.
    void ended() noexcept { --at_.active; }

    /// Begins a run that has waited, and returns its point; nothing if none waits or there is no room for it.
    std::optional<nanoseconds> begin_waiting() noexcept;

    /// Ends the task: no run begins any more.
    void end() noexcept {
        at_.next.reset();
        at_.waiting.clear();
    }

    /// Returns whether no run is under way and none will come.
    bool finished() const noexcept { return at_.active == 0 && at_.waiting.empty() && !at_.next; }

    std::int64_t left() const noexcept { return at_.left; }
    std::size_t active() const noexcept { return at_.active; }
    const std::list<nanoseconds>& waiting() const noexcept { return at_.waiting; }
    std::uint64_t missed() const noexcept { return at_.missed; }
    std::uint64_t dropped() const noexcept { return at_.dropped; }

private:
    std::optional<nanoseconds> nearest_to(nanoseconds stored) const;
    std::vector<nanoseconds> due_by(nanoseconds first, nanoseconds last, nanoseconds now);
    void start(decision&, nanoseconds point);
    void wait(nanoseconds point, std::size_t most);
    std::optional<nanoseconds> up_to_end(std::optional<nanoseconds> point) const noexcept {
        return point && *point <= end_ ? point : std::nullopt;
    }
    bool has_room() const noexcept { return at_.active < most_at_once_; }

    task_trigger when_;
    task_misfire misfire_;
    task_overlap overlap_;
    std::size_t most_at_once_;
    nanoseconds grace_;
    nanoseconds end_ = nanoseconds::max();
    progress at_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
