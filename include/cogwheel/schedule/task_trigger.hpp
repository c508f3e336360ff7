// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// When a task runs: once, at a date, every so often, or as a cron expression says.
//
// Delays and periods are counted by the wheel's clock, which nobody sets; dates and cron expressions by the clock on the wall.
#pragma once

#include <cogwheel/schedule/cron_schedule.hpp>
#include <cogwheel/schedule/error.hpp>
#include <cogwheel/wheel/tick.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace cogwheel {

class task_trigger {
public:
    using nanoseconds = std::chrono::nanoseconds;
    using wall_point = std::chrono::sys_time<nanoseconds>;

    static constexpr std::int64_t for_ever = std::numeric_limits<std::int64_t>::max();

    enum class kind : std::uint8_t { once, date, periodic, cron };

    /// At once.
    task_trigger() = default;

    template <class Rep, class Period>
    static task_trigger once(std::chrono::duration<Rep, Period> delay) {
        return task_trigger(kind::once, saturate_to_ns(delay), {}, 1);
    }

    template <class Duration>
    static task_trigger at(std::chrono::sys_time<Duration> date) {
        return task_trigger(kind::date, saturate_to_ns(date.time_since_epoch()), {}, 1);
    }

    /// On a grid that does not drift; the first run comes after a period, unless first_after() says otherwise.
    template <class Rep, class Period>
    static task_trigger every(std::chrono::duration<Rep, Period> period) {
        return task_trigger(kind::periodic, saturate_to_ns(period), saturate_to_ns(period), for_ever);
    }

    /// Errors: cron_error that marks the column.
    static task_trigger cron(std::string_view expression, time_zone zone = {}, dst_policy policy = dst_policy::vixie);

    /// So many runs and no more: at least 1. Runs that were missed or dropped do not count.
    task_trigger times(std::int64_t runs) const;

    /// The first run after this delay; for a cron expression: none before it. A date stays.
    template <class Rep, class Period>
    task_trigger first_after(std::chrono::duration<Rep, Period> delay) const {
        task_trigger changed = *this;
        if (kind_ != kind::date) changed.first_ = saturate_to_ns(delay);
        return changed;
    }

    kind what() const noexcept { return kind_; }
    bool on_the_wall() const noexcept { return kind_ == kind::date || kind_ == kind::cron; }
    std::int64_t runs() const noexcept { return runs_; }

    /// The delay of the first run; of a date: the date.
    nanoseconds first_delay() const noexcept { return first_; }
    nanoseconds period() const noexcept { return period_; }
    /// Precondition: a cron expression.
    const cron_schedule& schedule() const noexcept { return *cron_; }
    /// As it was given; empty for all others.
    const std::string& expression() const noexcept { return expression_; }

    /// schedule_errc::bad_period, bad_times, or nothing.
    std::error_code check() const noexcept;

    /// "once", "at 2026-03-01T07:00:00Z", "every 10s", "0 7 * * MON-FRI Europe/Berlin".
    std::string text() const;

    // Points below are since the epoch of its clock: the wheel's, or the one on the wall.

    /// The first point, seen from now. Nothing: there is none.
    std::optional<nanoseconds> first(nanoseconds now) const;
    /// The one after a point of the grid.
    std::optional<nanoseconds> after(nanoseconds point) const;
    /// The one before a point of the grid.
    std::optional<nanoseconds> before(nanoseconds point) const;
    /// The last that is not after now. Precondition: point <= now, and of the grid.
    nanoseconds latest(nanoseconds point, nanoseconds now) const;

private:
    task_trigger(kind k, nanoseconds first, nanoseconds period, std::int64_t runs)
        : kind_(k), first_(first), period_(period), runs_(runs) {}

    bool steps() const noexcept { return kind_ == kind::periodic && period_ > nanoseconds::zero(); }

    kind kind_ = kind::once;
    nanoseconds first_{};
    nanoseconds period_{};
    std::int64_t runs_ = 1;
    std::optional<cron_schedule> cron_;
    std::string expression_;
};

} // namespace cogwheel
