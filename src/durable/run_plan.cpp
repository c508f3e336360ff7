// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// See run_plan.hpp.
#include "run_plan.hpp"

#include "milliseconds.hpp"

#include <cogwheel/resilience/random.hpp>
#include <cogwheel/schedule/repetition.hpp>

#include <algorithm>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

using std::chrono::nanoseconds;

namespace {

constexpr std::uint64_t most_counted = 1'000;

// FNV-1a
std::uint64_t hash_of(std::string_view id) noexcept {
    std::uint64_t h = 0xcbf29ce484222325;
    for (const char c : id) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return h;
}

// Whether this due time is that of a point. That of a cron expression was stored, perhaps by other rules of its zone.
bool is_due_time(const task_trigger& t, std::int64_t due, std::string_view id) {
    if (t.what() != task_trigger::kind::cron) return true;
    auto point = t.before(saturating_add(ns_of(due), std::chrono::seconds(1)));
    for (std::uint64_t n = 0; point && n < most_counted; point = t.before(*point), ++n) {
        if (due_of(t, *point, id) == due) return true;
        if (saturating_add(*point, t.jitter()) < ns_of(due)) return false;
    }
    return false;
}

bool ended(const task_trigger& t, nanoseconds point) { return t.until() && point > t.until()->time_since_epoch(); }

} // namespace

std::int64_t due_of(const task_trigger& t, nanoseconds point, std::string_view id) noexcept {
    if (t.jitter() <= nanoseconds::zero()) return ms_of(point);
    small_random random(hash_of(id) ^ static_cast<std::uint64_t>(point.count()));
    const auto delay = scale_bits(random(), static_cast<std::uint64_t>(t.jitter().count()));
    return ms_of(detail::saturating_add(point, nanoseconds(static_cast<std::int64_t>(delay))));
}

std::optional<nanoseconds> first_point(const task_trigger& t, nanoseconds now) {
    auto point = t.first(now);
    if (point && ended(t, *point)) point.reset();
    return point;
}

run_plan plan_runs(const recurring_part& part, std::string_view id, std::int64_t due, std::int64_t now,
                   std::int64_t grace, std::int64_t runs_left) {
    const task_trigger& t = part.trigger;
    const auto due_at = [&](nanoseconds point) { return due_of(t, point, id); };
    // The worker's estimate of the server's time may be a little behind: the run that brought it here is due.
    now = std::max(now, due);
    const nanoseconds first = std::min(part.first, ns_of(due)); // earlier only by other rules of the zone
    nanoseconds point = t.latest(first, ns_of(due));
    while (point > first && due_at(point) > due) point = t.before(point).value_or(first); // its jitter is long
    if (!is_due_time(t, due, id)) {
        // The nearest point is meant: its run has been moved to or fro.
        point = t.before(detail::saturating_add(ns_of(due), std::chrono::seconds(1))).value_or(first);
        const auto next = t.after(point);
        if (next && !ended(t, *next) && due_at(*next) - due < due - due_at(point)) {
            point = *next;
            if (due_at(point) > now) return {.next_due = due_at(point), .runs_left = runs_left};
        }
    }
    nanoseconds last = t.latest(point, std::max(point, ns_of(now)));
    while (last > point && due_at(last) > now) last = t.before(last).value_or(point); // its jitter is not over
    while (last > point && ended(t, last)) last = t.before(last).value_or(point);

    run_plan plan;
    const bool late = now - due_at(last) > grace;
    const auto kind = part.misfire.what();
    std::uint32_t most = kind == task_misfire::kind::catch_up ? part.misfire.most() : 1;
    if (kind == task_misfire::kind::skip && late) most = 0;
    if (kind == task_misfire::kind::catch_up && most == 0 && !late) most = 1;
    most = std::min(most, most_occurrences);
    std::uint64_t all = 0;
    for (std::optional<nanoseconds> p = last; p && *p >= point && all < most_counted; p = t.before(*p), ++all)
        if (plan.occurrences.size() < most && std::cmp_less(plan.occurrences.size(), runs_left))
            plan.occurrences.push_back(due_at(*p));
    std::ranges::reverse(plan.occurrences);
    plan.missed = all - plan.occurrences.size();
    plan.runs_left = runs_left == forever ? forever : runs_left - static_cast<std::int64_t>(plan.occurrences.size());
    if (plan.runs_left > 0)
        if (const auto next = t.after(last); next && !ended(t, *next)) plan.next_due = due_at(*next);
    return plan;
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
