// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Decides in two steps: which points of the grid still get a run (misfire), and whether these runs may begin (overlap).
#include "task_machine.hpp"

#include <cogwheel/schedule/repetition.hpp>

#include <algorithm>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

using std::chrono::nanoseconds;

namespace {

// A cron expression finds its points one by one: counting a year of seconds would take a second.
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
    : when_(of.when),
      misfire_(of.misfire),
      overlap_(of.overlap),
      most_at_once_(of.overlap == task_overlap::allow ? of.most_at_once : 1),
      grace_(grace) {
    at_.left = of.when.runs();
}

void task_machine::begin(nanoseconds now) {
    at_.next = up_to_end(when_.first(now));
    at_.done = now;
}

// Of the points of a cron expression. One that was stored is none any more if the rules of its zone have changed since.
std::optional<nanoseconds> task_machine::nearest_to(nanoseconds stored) const {
    const auto last = when_.before(stored), next = when_.after(stored);
    if (!last || !next) return last ? last : next;
    return stored - *last <= *next - stored ? last : next;
}

bool task_machine::resume(std::optional<nanoseconds> next, std::int64_t left, std::size_t active,
                          std::list<nanoseconds> waiting, nanoseconds now) {
    const bool moved = next && when_.what() == task_trigger::kind::cron &&
                       when_.before(detail::saturating_add(*next, std::chrono::seconds(1))) != next;
    if (moved) next = nearest_to(*next);
    at_.next = up_to_end(next);
    at_.left = left;
    at_.active = active;
    at_.waiting = std::move(waiting);
    at_.done =
        detail::saturating_add(now, nanoseconds(1)); // a point that is due now may have been due in the process before
    std::optional<nanoseconds> furthest = when_.first(at_.done);
    if (when_.what() == task_trigger::kind::periodic)
        furthest = detail::saturating_add(at_.done, std::max(when_.first_delay(), when_.period()));
    if (!at_.next || !furthest || *at_.next <= *furthest || when_.what() == task_trigger::kind::date) return moved;
    at_.next = up_to_end(furthest);
    return true;
}

bool task_machine::clock_put_back(nanoseconds by, nanoseconds elapsed, nanoseconds now) {
    if (when_.what() != task_trigger::kind::cron) return false;
    const cron_schedule& cron = when_.schedule();
    const bool again = by >= std::chrono::hours(3) || cron.expression().follows_the_clock() ||
                       cron.policy() == dst_policy::follow_clock;
    nanoseconds from =
        detail::saturating_add(now, -elapsed); // the earliest point to which the clock may have been put back
    if (at_.done <= now || (at_.was_due && !again)) from = std::max(from, at_.done);
    const std::optional<nanoseconds> point = up_to_end(at_.was_due ? when_.after(from) : when_.first(from));
    if (!point || *point >= *at_.next) return false;
    at_.next = point;
    return true;
}

task_machine::decision task_machine::expired(nanoseconds now) {
    decision d;
    const nanoseconds last = when_.latest(*at_.next, std::min(now, end_));
    at_.done = last;
    at_.was_due = true;
    for (const nanoseconds point : due_by(*at_.next, last, now)) {
        if (has_room() && at_.waiting.empty()) {
            start(d, point);
        } else if (overlap_ == task_overlap::replace) {
            d.replace = true;
            wait(point, 1);
        } else {
            wait(point, misfire_.what() == task_misfire::kind::catch_up ? misfire_.most() : 0);
        }
    }
    at_.next = static_cast<std::uint64_t>(at_.left) > at_.waiting.size() ? up_to_end(when_.after(last)) : std::nullopt;
    return d;
}

// Returns the points that get a run. The last point is in time within the grace. All points before it are missed,
// because a later one is due.
std::vector<nanoseconds> task_machine::due_by(nanoseconds first, nanoseconds last, nanoseconds now) {
    const bool in_time = detail::saturating_add(now, -std::max(last, -nanoseconds::max())) <= grace_;
    std::uint64_t most = in_time ? 1 : 0;
    if (misfire_.what() == task_misfire::kind::fire_once) most = 1;
    if (misfire_.what() == task_misfire::kind::catch_up) most += misfire_.most();
    const auto free = static_cast<std::uint64_t>(at_.left) - at_.waiting.size();
    if (overlap_ == task_overlap::replace) most = std::min<std::uint64_t>(most, 1);

    std::vector<nanoseconds> points;
    for (auto at = std::optional(last); at && *at >= first && points.size() < std::min(most, free);
         at = when_.before(*at))
        points.push_back(*at);
    std::reverse(points.begin(), points.end());
    const std::uint64_t all = points_between(when_, first, last); // for a cron expression, up to most_counted
    at_.missed += all - std::min<std::uint64_t>(all, points.size());
    return points;
}

void task_machine::start(decision& d, nanoseconds point) {
    d.begin.push_back(point);
    ++at_.active;
    if (at_.left != forever) --at_.left;
}

void task_machine::wait(nanoseconds point, std::size_t most) {
    at_.waiting.push_back(point);
    if (at_.waiting.size() <= most) return;
    at_.waiting.pop_front();
    ++at_.dropped;
}

std::optional<nanoseconds> task_machine::begin_waiting() noexcept {
    if (at_.waiting.empty() || !has_room()) return std::nullopt;
    const nanoseconds point = at_.waiting.front();
    at_.waiting.pop_front();
    ++at_.active;
    if (at_.left != forever) --at_.left;
    return point;
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
