// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Two questions, one after the other: which points of the grid are still to be served (misfire), and may they begin (overlap)?
#include <cogwheel/schedule/detail/grid.hpp>
#include <cogwheel/schedule/detail/task_machine.hpp>

#include <algorithm>

namespace cogwheel::detail {

using std::chrono::nanoseconds;

namespace {

// A cron expression has to be asked for each of its points: a year of seconds would take a second.
constexpr std::uint64_t most_counted = 10'000;

std::uint64_t points_between(const task_trigger& when, nanoseconds first, nanoseconds last) {
    if (when.what() == task_trigger::kind::periodic)
        return 1 + static_cast<std::uint64_t>(points_passed(first, when.period(), last));
    std::uint64_t n = 1;
    for (auto at = std::optional(first); n < most_counted && *at < last && (at = when.after(*at)) && *at <= last;) ++n;
    return n;
}

} // namespace

task_machine::task_machine(const task& of, nanoseconds grace)
    : when_(of.when), misfire_(of.misfire), overlap_(of.overlap), grace_(grace) {
    at_.left = of.when.runs();
}

void task_machine::begin(nanoseconds now) {
    at_.next = when_.first(now);
    at_.done = now;
}

bool task_machine::resume(std::optional<nanoseconds> next, std::int64_t left, std::size_t active,
                          std::list<nanoseconds> waiting, nanoseconds now) {
    at_.next = next;
    at_.left = left;
    at_.active = active;
    at_.waiting = std::move(waiting);
    at_.done = saturating_add(now, nanoseconds(1)); // what is due just now may have been due to the process before
    std::optional<nanoseconds> furthest = when_.first(at_.done);
    if (when_.what() == task_trigger::kind::periodic)
        furthest = saturating_add(at_.done, std::max(when_.first_delay(), when_.period()));
    if (!at_.next || !furthest || *at_.next <= *furthest || when_.what() == task_trigger::kind::date) return false;
    at_.next = furthest;
    return true;
}

bool task_machine::clock_put_back(nanoseconds by, nanoseconds elapsed, nanoseconds now) {
    if (when_.what() != task_trigger::kind::cron) return false;
    const cron_schedule& cron = when_.schedule();
    const bool again = by >= std::chrono::hours(3) || cron.expression().follows_the_clock() ||
                       cron.policy() == dst_policy::follow_clock;
    nanoseconds from = saturating_add(now, -elapsed); // where the clock may have begun anew
    if (at_.done <= now || (at_.was_due && !again)) from = std::max(from, at_.done);
    const std::optional<nanoseconds> point = at_.was_due ? when_.after(from) : when_.first(from);
    if (!point || *point >= *at_.next) return false;
    at_.next = point;
    return true;
}

task_machine::decision task_machine::expired(nanoseconds now) {
    decision d;
    const nanoseconds last = when_.latest(*at_.next, now);
    at_.done = last;
    at_.was_due = true;
    for (const nanoseconds point : due_by(*at_.next, last, now)) {
        const bool free = at_.active == 0 && at_.waiting.empty();
        if (overlap_ == task_overlap::allow || free) {
            start(d, point);
        } else if (overlap_ == task_overlap::replace) {
            d.replace = true;
            wait(point, 1);
        } else {
            wait(point, misfire_.what() == misfire_policy::kind::catch_up ? misfire_.most() : 0);
        }
    }
    at_.next = static_cast<std::uint64_t>(at_.left) > at_.waiting.size() ? when_.after(last) : std::nullopt;
    return d;
}

// The last point counts as served in time within the grace; all before it are missed, for a later one has come.
std::vector<nanoseconds> task_machine::due_by(nanoseconds first, nanoseconds last, nanoseconds now) {
    const bool in_time = saturating_add(now, -std::max(last, -nanoseconds::max())) <= grace_;
    std::uint64_t most = in_time ? 1 : 0;
    if (misfire_.what() == misfire_policy::kind::fire_once) most = 1;
    if (misfire_.what() == misfire_policy::kind::catch_up) most += misfire_.most();
    const auto free = static_cast<std::uint64_t>(at_.left) - at_.waiting.size();
    if (overlap_ == task_overlap::replace) most = std::min<std::uint64_t>(most, 1);

    std::vector<nanoseconds> points;
    for (auto at = std::optional(last); at && *at >= first && points.size() < std::min(most, free);
         at = when_.before(*at))
        points.push_back(*at);
    std::reverse(points.begin(), points.end());
    const std::uint64_t all = points_between(when_, first, last); // of an expression: not more than it counts
    at_.missed += all - std::min<std::uint64_t>(all, points.size());
    return points;
}

void task_machine::start(decision& d, nanoseconds point) {
    d.begin.push_back(point);
    ++at_.active;
    if (at_.left != task_trigger::for_ever) --at_.left;
}

void task_machine::wait(nanoseconds point, std::size_t most) {
    at_.waiting.push_back(point);
    if (at_.waiting.size() <= most) return;
    at_.waiting.pop_front();
    ++at_.dropped;
}

std::optional<nanoseconds> task_machine::begin_waiting() noexcept {
    if (at_.waiting.empty() || at_.active != 0) return std::nullopt;
    const nanoseconds point = at_.waiting.front();
    at_.waiting.pop_front();
    ++at_.active;
    if (at_.left != task_trigger::for_ever) --at_.left;
    return point;
}

} // namespace cogwheel::detail
