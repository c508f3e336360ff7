// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Computes the points of a trigger. The points of a cron expression are whole seconds.
#include <cogwheel/schedule/repetition.hpp>
#include <cogwheel/tasks/detail/task_words.hpp>
#include <cogwheel/tasks/task_trigger.hpp>

#include <algorithm>
#include <charconv>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

using std::chrono::nanoseconds;
using std::chrono::seconds;
using std::chrono::sys_seconds;

namespace {

// Returns a date as nanoseconds, or nothing if it lies beyond their range.
std::optional<nanoseconds> point(const std::optional<sys_seconds>& at) {
    if (!at) return std::nullopt;
    const nanoseconds ns = detail::saturate_to_ns(at->time_since_epoch());
    return ns == nanoseconds::max() || ns == nanoseconds::min() ? std::nullopt : std::optional(ns);
}

bool begins_with_every(std::string_view text) {
    constexpr std::string_view word = "@every";
    return text.size() > word.size() && (text[word.size()] == ' ' || text[word.size()] == '\t') &&
           std::equal(word.begin(), word.end(), text.begin(), [](char a, char b) { return a == (b | 0x20) || a == b; });
}

// Parses the period of "@every 1h30m".
nanoseconds period_of(std::string_view text) {
    const std::size_t end = text.find_last_not_of(" \t") + 1;
    std::size_t at = std::min(text.find_first_not_of(" \t", std::string_view("@every").size()), end);
    nanoseconds sum{};
    do {
        std::int64_t n = 0;
        const auto number = std::from_chars(text.data() + at, text.data() + end, n);
        if (number.ptr == text.data() + at || text[at] == '-')
            throw cron_error(text, at, "a number with its unit must come here, as in @every 1h30m");
        const auto unit_at = static_cast<std::size_t>(number.ptr - text.data());
        const std::string_view rest = text.substr(unit_at, end - unit_at);
        const std::string_view unit = rest.substr(0, std::min(rest.find_first_of("0123456789 \t"), rest.size()));
        const auto* const known = std::ranges::find(detail::duration_units, unit, &detail::duration_unit::name);
        if (known == detail::duration_units.end())
            throw cron_error(
                text, unit_at,
                "a unit must come here, after a whole number: ns, us, ms, s, m, h or d, as in @every 1h30m");
        if (number.ec != std::errc() || n > nanoseconds::max().count() / known->size)
            throw cron_error(text, at, "the period must not exceed 106751d (292 years)");
        sum = detail::saturating_add(sum, nanoseconds(n * known->size));
        at = unit_at + unit.size();
    } while (at != end);
    if (sum == nanoseconds::zero()) throw cron_error(text, 0, "the period is 0s, but must be above zero");
    return sum;
}

sys_seconds second_of(nanoseconds at) { return sys_seconds(std::chrono::floor<seconds>(at)); }

} // namespace

task_trigger task_trigger::cron(std::string_view expression, zone_info zone, dst_policy policy) {
    const zone_info own = detail::take_zone(expression, zone);
    expression.remove_prefix(std::min(expression.find_first_not_of(" \t"), expression.size()));
    if (begins_with_every(expression)) return every(period_of(expression));
    task_trigger t(kind::cron, {}, {}, forever);
    t.cron_.emplace(cron_expression(expression), own, policy);
    t.expression_ = expression;
    return t;
}

task_trigger task_trigger::times(std::int64_t runs) const {
    task_trigger changed = *this;
    changed.runs_ = runs;
    return changed;
}

error_code task_trigger::check() const noexcept {
    if (runs_ < 1) return task_errc::bad_times;
    const bool repeats = kind_ == kind::periodic || kind_ == kind::cron;
    if (kind_ == kind::periodic ? period_ <= nanoseconds::zero() : !repeats && runs_ > 1) return task_errc::bad_period;
    if (jitter_ < nanoseconds::zero() || (kind_ == kind::periodic && jitter_ >= period_)) return task_errc::bad_jitter;
    return {};
}

std::string task_trigger::text() const {
    std::string words;
    if (kind_ == kind::once) words = first_ <= nanoseconds::zero() ? "once" : "once after " + detail::words(first_);
    if (kind_ == kind::date) words = "at " + detail::date_text(wall_point(first_));
    if (kind_ == kind::periodic) words = "every " + detail::words(period_);
    if (kind_ == kind::cron) words = expression_ + ' ' + cron_->zone().name();
    const bool repeats = kind_ == kind::periodic || kind_ == kind::cron;
    if (repeats && runs_ != forever) words += ", " + std::to_string(runs_) + " times";
    if (jitter_ != nanoseconds::zero()) words += ", jitter " + detail::words(jitter_);
    if (until_) words += ", until " + detail::date_text(*until_);
    return words;
}

std::optional<nanoseconds> task_trigger::first(nanoseconds now) const {
    if (kind_ == kind::date) return first_;
    const nanoseconds earliest = detail::saturating_add(now, std::max(first_, nanoseconds::zero()));
    if (kind_ != kind::cron) return earliest;
    // A point that is now counts as well, but next() returns later points only: so this starts one second earlier.
    return point(cron_->next(sys_seconds(std::chrono::ceil<seconds>(earliest)) - seconds(1)));
}

std::optional<nanoseconds> task_trigger::after(nanoseconds at) const {
    if (kind_ == kind::cron) return point(cron_->next(second_of(at)));
    if (!steps() || at > nanoseconds::max() - period_) return std::nullopt;
    return at + period_;
}

std::optional<nanoseconds> task_trigger::before(nanoseconds at) const {
    if (kind_ == kind::cron) return point(cron_->previous(second_of(at)));
    if (!steps() || at < nanoseconds::min() + period_) return std::nullopt;
    return at - period_;
}

nanoseconds task_trigger::latest(nanoseconds at, nanoseconds now) const {
    if (kind_ == kind::cron) return std::max(at, point(cron_->previous(second_of(now) + seconds(1))).value_or(at));
    return steps() ? at + detail::points_passed(at, period_, now) * period_ : at;
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
