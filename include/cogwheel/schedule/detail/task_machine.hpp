// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Which runs of a task begin, wait, or do not run. Knows neither clock nor executor: points are since the epoch of the trigger's clock.
#pragma once

#include <cogwheel/schedule/task.hpp>

#include <list>
#include <vector>

namespace cogwheel::detail {

class task_machine {
public:
    using nanoseconds = std::chrono::nanoseconds;

    task_machine(const task& of, nanoseconds grace);

    /// A new task.
    void begin(nanoseconds now);

    /// One that was written down. `active`: its runs that were under way, and go on; `waiting`: those that had to wait.
    /// A next point that is further away than the trigger allows was found by a clock that was ahead, and is found anew: true.
    bool resume(std::optional<nanoseconds> next, std::int64_t left, std::size_t active, std::list<nanoseconds> waiting,
                nanoseconds now);

    /// The clock was put back `by` so much, at some moment of the last `elapsed`, and says `now`. True: next() is another one, and may
    /// have come. As Vixie's cron: points come again for what follows the clock, and for all if it was by three hours or more; fixed
    /// times that were due do not. Precondition: next().
    bool clock_put_back(nanoseconds by, nanoseconds elapsed, nanoseconds now);

    /// When the next run is due.
    std::optional<nanoseconds> next() const noexcept { return at_.next; }

    struct decision {
        std::vector<nanoseconds> begin; ///< the points at which these runs were due
        bool replace = false;           ///< those under way are to stop
    };

    /// Precondition: next() has come. Errors: std::bad_alloc, and then the progress before has to be restored.
    decision expired(nanoseconds now);

    /// All that changes with time.
    struct progress {
        std::optional<nanoseconds> next;
        nanoseconds done{};    // points up to here are: due, or before its time
        bool was_due = false;  // any point
        std::int64_t left = 0; // runs that have not begun
        std::size_t active = 0;
        std::list<nanoseconds> waiting; // empty for nearly all tasks, and then no memory
        std::uint64_t missed = 0;       // by the misfire policy
        std::uint64_t dropped = 0;      // by the overlap policy
    };
    const progress& present() const noexcept { return at_; }
    void go_back_to(progress&& before) noexcept { at_ = std::move(before); }

    /// A run has ended.
    void ended() noexcept { --at_.active; }

    /// The point of one that has waited and begins now.
    std::optional<nanoseconds> begin_waiting() noexcept;

    /// No run begins any more.
    void end() noexcept {
        at_.next.reset();
        at_.waiting.clear();
    }

    /// No run under way, and none to come.
    bool finished() const noexcept { return at_.active == 0 && at_.waiting.empty() && !at_.next; }

    std::int64_t left() const noexcept { return at_.left; }
    std::size_t active() const noexcept { return at_.active; }
    const std::list<nanoseconds>& waiting() const noexcept { return at_.waiting; }
    std::uint64_t missed() const noexcept { return at_.missed; }
    std::uint64_t dropped() const noexcept { return at_.dropped; }

private:
    std::vector<nanoseconds> due_by(nanoseconds first, nanoseconds last, nanoseconds now);
    void start(decision&, nanoseconds point);
    void wait(nanoseconds point, std::size_t most);

    task_trigger when_;
    misfire_policy misfire_;
    task_overlap overlap_;
    nanoseconds grace_;
    progress at_;
};

} // namespace cogwheel::detail
