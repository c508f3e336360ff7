// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include <cogwheel/detail/constant_name.hpp>
#include <cogwheel/tasks/detail/task_words.hpp>
#include <cogwheel/tasks/task_info.hpp>
#include <cogwheel/tasks/task_job.hpp>
#include <cogwheel/tasks/task_options.hpp>

#include <array>
#include <cstdio>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

std::string words(std::chrono::nanoseconds d) {
    if (d == std::chrono::nanoseconds::zero()) return "0s";
    std::string text(d.count() < 0 ? "-" : "");
    auto left = d.count() < 0 ? 0 - static_cast<std::uint64_t>(d.count()) : static_cast<std::uint64_t>(d.count());
    for (const duration_unit& unit : duration_units) {
        const auto size = static_cast<std::uint64_t>(unit.size);
        if (left >= size) text.append(std::to_string(left / size)).append(unit.name);
        left %= size;
    }
    return text;
}

std::string date_text(std::chrono::sys_time<std::chrono::nanoseconds> at) {
    using namespace std::chrono;
    const auto day = floor<days>(at);
    const year_month_day date(day);
    // Not from `at` itself: its day may begin before the range of nanoseconds.
    const hh_mm_ss clock(floor<milliseconds>(at) - day);
    std::array<char, 40> text{};
    int n = std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d", int(date.year()),
                          unsigned(date.month()), unsigned(date.day()), int(clock.hours().count()),
                          int(clock.minutes().count()), int(clock.seconds().count()));
    std::string whole(text.data(), static_cast<std::size_t>(n));
    if (clock.subseconds() != milliseconds::zero()) {
        n = std::snprintf(text.data(), text.size(), ".%03d", int(clock.subseconds().count()));
        whole.append(text.data(), static_cast<std::size_t>(n));
    }
    return whole + 'Z';
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

std::string task_misfire::text() const {
    std::string words(to_string(kind_));
    if (kind_ == kind::catch_up) words.append("(").append(std::to_string(most_)).append(")");
    return words;
}

std::string_view to_string(task_state s) noexcept {
    return detail::constant_name(s, {"pending", "queued", "running", "completed", "failed", "cancelled"});
}

std::string_view to_string(task_stop_reason r) noexcept {
    return detail::constant_name(r, {"none", "timeout", "cancelled", "replaced", "stopped"});
}

std::string_view to_string(task_event::kind k) noexcept {
    return detail::constant_name(k, {"added", "started", "retrying", "completed", "failed", "cancelled", "finished",
                                     "interrupted", "unrecorded"});
}

std::string_view to_string(task_overlap o) noexcept { return detail::constant_name(o, {"forbid", "allow", "replace"}); }

std::string_view to_string(task_cancel_result r) noexcept {
    return detail::constant_name(r, {"not_found", "cancelled", "running"});
}

std::string_view to_string(task_misfire::kind k) noexcept {
    return detail::constant_name(k, {"fire_once", "skip", "catch_up"});
}

std::string_view to_string(full_policy::kind k) noexcept {
    return detail::constant_name(k, {"wait", "wait_for", "reject", "run_on_caller"});
}

std::string_view to_string(interrupted_runs i) noexcept { return detail::constant_name(i, {"again", "fail"}); }

std::string_view to_string(task_trigger::kind k) noexcept {
    return detail::constant_name(k, {"once", "date", "periodic", "cron"});
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
