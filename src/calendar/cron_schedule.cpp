// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The search goes from stretch to stretch: between two changes of the clocks, local time has a constant offset.
#include <cogwheel/calendar/cron_schedule.hpp>
#include <cogwheel/detail/constant_name.hpp>

#include <algorithm>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

zone_info take_zone(std::string_view& text, zone_info otherwise) {
    const auto skip_blanks = [&](std::string_view from) {
        return from.substr(std::min(from.find_first_not_of(" \t"), from.size()));
    };
    const std::string_view all = skip_blanks(text);
    for (const std::string_view head : {"TZ=", "CRON_TZ="}) {
        if (!all.starts_with(head)) continue;
        const std::size_t end = std::min(all.find_first_of(" \t"), all.size());
        text = skip_blanks(all.substr(end));
        return zone_info(all.substr(head.size(), end - head.size()));
    }
    return otherwise;
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

using std::chrono::local_seconds;
using std::chrono::seconds;
using std::chrono::sys_seconds;

namespace {

constexpr seconds tick{1};

// cron_expression has no runs outside the years 0 to 9999. These limits also keep sums from overflowing.
constexpr sys_seconds latest{std::chrono::sys_days{std::chrono::year{10000} / 1 / 1}};
constexpr sys_seconds earliest{std::chrono::sys_days{std::chrono::year{0} / 1 / 1}};

local_seconds local(sys_seconds at, seconds offset) { return local_seconds(at.time_since_epoch() + offset); }
sys_seconds moment(local_seconds at, seconds offset) { return sys_seconds(at.time_since_epoch() - offset); }

} // namespace

cron_schedule::cron_schedule(std::string_view text, zone_info zone, dst_policy policy)
    : cron_schedule(cron_expression("@daily"), detail::take_zone(text, zone), policy) {
    expression_ = cron_expression(text);
}

// The local times of a stretch at which the expression can run.
struct cron_schedule::window {
    local_seconds first, end; // the range is [first, end)
    seconds offset;
    std::optional<sys_seconds> made_up; // the beginning of the stretch, if the expression runs then for skipped times
};

cron_schedule::window cron_schedule::window_of(const zone_info::stretch& s) const {
    const sys_seconds begin = std::max(s.begin, earliest), end = std::min(s.end, latest);
    window w{local(begin, s.offset), local(end, s.offset), s.offset, {}};
    if (begin != s.begin || policy_ == dst_policy::follow_clock || expression_.follows_the_clock()) return w;
    // The local time that the clock would show at `begin` without the change.
    const local_seconds before = local(begin, zone_.stretch_at(begin - tick).offset);
    if (before > w.first) {
        w.first = std::min(before, w.end); // the times before this one are repeated
    } else if (before < w.first && policy_ == dst_policy::vixie) {
        const auto left_out = expression_.next(before - tick);
        if (left_out && *left_out < w.first) w.made_up = begin;
    }
    return w;
}

std::optional<sys_seconds> cron_schedule::next(sys_seconds after) const {
    after = std::max(after, earliest - tick);
    while (after < latest - tick) {
        const zone_info::stretch s = zone_.stretch_at(after + tick);
        const window w = window_of(s);
        if (w.made_up && *w.made_up > after) return w.made_up;
        const local_seconds from = std::max(w.first, local(after + tick, w.offset));
        const auto found = expression_.next(from - tick);
        if (found && *found < w.end) return moment(*found, w.offset);
        if (!found) return std::nullopt;
        after = std::min(s.end, latest) - tick;
    }
    return std::nullopt;
}

std::optional<sys_seconds> cron_schedule::previous(sys_seconds before) const {
    before = std::min(before, latest);
    while (before > earliest) {
        const zone_info::stretch s = zone_.stretch_at(before - tick);
        const window w = window_of(s);
        const auto found = expression_.previous(std::min(w.end, local(before, w.offset)));
        if (found && *found >= w.first) return moment(*found, w.offset);
        if (w.made_up) return w.made_up;
        if (!found) return std::nullopt;
        before = std::max(s.begin, earliest);
    }
    return std::nullopt;
}

std::string_view to_string(dst_policy policy) noexcept {
    return detail::constant_name(policy, {"vixie", "skip", "follow_clock"});
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
