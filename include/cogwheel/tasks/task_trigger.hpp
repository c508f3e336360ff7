// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// When a task runs: once, at a date, periodically, or by a cron expression.
//
//     task_trigger::once(30s)
//     task_trigger::every(10s).first_after(0s).times(6)
//     task_trigger::cron("0 7 * * MON-FRI", zone_info("Europe/Berlin"))
//
// Dates and cron expressions use the wall clock. Other triggers use the wheel's clock, which is the steady clock on a
// timer_wheel.
#pragma once

#include <cogwheel/calendar/cron_schedule.hpp>
#include <cogwheel/schedule/repetition.hpp>
#include <cogwheel/tasks/error.hpp>
#include <cogwheel/wheel/tick.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// The points at which a task is due. A value.
class task_trigger {
public:
    using nanoseconds = std::chrono::nanoseconds;
    using wall_point = std::chrono::sys_time<nanoseconds>;

    enum class kind : std::uint8_t { once, date, periodic, cron };

    /// One run, at once.
    task_trigger() = default;

    /// Returns a trigger with one run, after `delay`.
    template <class Rep, class Period>
    static task_trigger once(std::chrono::duration<Rep, Period> delay) {
        return task_trigger(kind::once, detail::saturate_to_ns(delay), {}, 1);
    }

    /// Returns a trigger with one run, at a date of the wall clock; a date after 2262 is the last one of 2262.
    template <class Duration>
    static task_trigger at(std::chrono::sys_time<Duration> date) {
        return task_trigger(kind::date, detail::saturate_to_ns(date.time_since_epoch()), {}, 1);
    }

    /// Returns a trigger with runs on a grid that does not drift. The first run comes after one period, unless
    /// first_after() sets another delay.
    template <class Rep, class Period>
    static task_trigger every(std::chrono::duration<Rep, Period> period) {
        return task_trigger(kind::periodic, detail::saturate_to_ns(period), detail::saturate_to_ns(period), forever);
    }

    /// Returns a trigger with a run at each match of the expression. "TZ=Europe/Berlin " or "CRON_TZ=Europe/Berlin "
    /// before the expression names the zone, and goes before `zone`. "@every 1h30m" is every(1h + 30min); its units are
    /// ns, us, ms, s, m, h and d.
    /// Errors: cron_error that marks the column; those of zone_info's constructor.
    static task_trigger cron(std::string_view expression, zone_info zone = {}, dst_policy policy = dst_policy::vixie);

    /// Returns this trigger with a limit on the number of runs. Missed and dropped runs do not count.
    /// The limit must be at least 1, and may be more only with every() and cron(); otherwise add() refuses the task.
    task_trigger times(std::int64_t runs) const;

    /// Returns this trigger with another delay before the first run. A cron expression has no run before the delay is
    /// over. A date stays as it is.
    template <class Rep, class Period>
    task_trigger first_after(std::chrono::duration<Rep, Period> delay) const {
        task_trigger changed = *this;
        if (kind_ != kind::date) changed.first_ = detail::saturate_to_ns(delay);
        return changed;
    }

    /// Returns this trigger with a random delay of each run, of at most `most`, evenly distributed. The points stay;
    /// they are what a run tells. `most`: zero or more; with every(), below the period; otherwise add() refuses the
    /// task. With cron(), choose it below the time between two matches: runs that come due during a delay are late, and
    /// may be missed.
    template <class Rep, class Period>
    task_trigger jitter(std::chrono::duration<Rep, Period> most) const {
        task_trigger changed = *this;
        changed.jitter_ = detail::saturate_to_ns(most);
        return changed;
    }

    /// Returns this trigger with a last date: no run is due after it. The task then ends as after its last run. A
    /// trigger of the wheel's clock converts the date when the task is added or recovered; setting the wall clock later
    /// does not move it.
    template <class Duration>
    task_trigger until(std::chrono::sys_time<Duration> date) const {
        task_trigger changed = *this;
        changed.until_ = wall_point(detail::saturate_to_ns(date.time_since_epoch()));
        return changed;
    }

    kind what() const noexcept { return kind_; }
    nanoseconds jitter() const noexcept { return jitter_; }
    /// Returns the last date, or nothing if there is no end.
    std::optional<wall_point> until() const noexcept { return until_; }
    bool on_the_wall() const noexcept { return kind_ == kind::date || kind_ == kind::cron; }
    std::int64_t runs() const noexcept { return runs_; }

    /// Returns the delay before the first run; for a date, the time from the wall clock's epoch to the date.
    nanoseconds first_delay() const noexcept { return first_; }
    nanoseconds period() const noexcept { return period_; }
    /// Preconditions: what() is kind::cron.
    const cron_schedule& schedule() const noexcept { return *cron_; }
    /// Returns the text of the cron expression, or an empty string for other kinds.
    const std::string& expression() const noexcept { return expression_; }

    /// Returns task_errc::bad_period, bad_times, bad_jitter, or success.
    error_code check() const noexcept;

    /// Returns, for example, "once", "at 2026-03-01T07:00:00Z", "every 10s" or "0 7 * * MON-FRI Europe/Berlin".
    std::string text() const;

    // Points below count from the epoch of the trigger's clock: the wheel's clock, or the wall clock.

    /// Returns the first point for a task that is added at `now`, or nothing if there is none. It may be `now`: a cron
    /// expression that matches the moment in which the task is added runs at once.
    std::optional<nanoseconds> first(nanoseconds now) const;
    /// Returns the next point after a point of the grid, or nothing if there is none.
    std::optional<nanoseconds> after(nanoseconds point) const;
    /// Returns the point before a point of the grid, or nothing if there is none.
    std::optional<nanoseconds> before(nanoseconds point) const;
    /// Returns the last point up to `now`. Preconditions: `point` is a point of the grid, and point <= now.
    nanoseconds latest(nanoseconds point, nanoseconds now) const;

private:
    task_trigger(kind k, nanoseconds first, nanoseconds period, std::int64_t runs)
        : kind_(k), first_(first), period_(period), runs_(runs) {}

    bool steps() const noexcept { return kind_ == kind::periodic && period_ > nanoseconds::zero(); }

    kind kind_ = kind::once;
    nanoseconds first_{};
    nanoseconds period_{};
    nanoseconds jitter_{};
    std::int64_t runs_ = 1;
    std::optional<wall_point> until_;
    std::optional<cron_schedule> cron_;
    std::string expression_;
};
std::string_view to_string(task_trigger::kind) noexcept; ///< the name of the constant

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
