// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Finds the points that an expression matches: first the month, then the day, then the time of day.
#include "cron_parser.hpp"

#include <bit>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

namespace {

using namespace std::chrono;

constexpr year first_year{0}, last_year{9999};
constexpr int none = -1;

// Returns the first set bit from `from` on, or none.
int bit_from(std::uint64_t bits, int from) {
    if (from > 63) return none;
    const std::uint64_t rest = bits >> from;
    return rest != 0 ? from + std::countr_zero(rest) : none;
}
// Returns the last set bit up to `to`, or none.
int bit_up_to(std::uint64_t bits, int to) {
    if (to < 0) return none;
    const std::uint64_t rest = bits & ((std::uint64_t{2} << to) - 1);
    return rest != 0 ? static_cast<int>(std::bit_width(rest)) - 1 : none;
}

unsigned last_day(year_month ym) { return static_cast<unsigned>((ym / last).day()); }

unsigned weekday_of(year_month_day date) { return weekday(local_days(date)).c_encoding(); }

// Returns the day that nW means in that month, or 0 if the month has no n-th day.
unsigned nearest_working_day(year_month ym, unsigned n) {
    const unsigned end = last_day(ym);
    if (n > end) return 0;
    const unsigned w = weekday_of(ym / day(n));
    if (w == 6) return n == 1 ? 3 : n - 1;
    if (w == 0) return n == end ? n - 2 : n + 1;
    return n;
}

// Returns the first second of the day, at `from` or later, that all three fields match, or none.
int time_from(std::uint64_t h, std::uint64_t m, std::uint64_t s, int from) {
    const int hour = from / 3600, minute = from / 60 % 60, second = from % 60;
    int at_hour = bit_from(h, hour);
    if (at_hour == hour) {
        int at_minute = bit_from(m, minute);
        if (at_minute == minute) {
            if (const int at_second = bit_from(s, second); at_second != none)
                return hour * 3600 + minute * 60 + at_second;
            at_minute = bit_from(m, minute + 1);
        }
        if (at_minute != none) return hour * 3600 + at_minute * 60 + bit_from(s, 0);
        at_hour = bit_from(h, hour + 1);
    }
    return at_hour != none ? at_hour * 3600 + bit_from(m, 0) * 60 + bit_from(s, 0) : none;
}

// Returns the last second of the day, at `to` or before, that all three fields match, or none.
int time_up_to(std::uint64_t h, std::uint64_t m, std::uint64_t s, int to) {
    const int hour = to / 3600, minute = to / 60 % 60, second = to % 60;
    int at_hour = bit_up_to(h, hour);
    if (at_hour == hour) {
        int at_minute = bit_up_to(m, minute);
        if (at_minute == minute) {
            if (const int at_second = bit_up_to(s, second); at_second != none)
                return hour * 3600 + minute * 60 + at_second;
            at_minute = bit_up_to(m, minute - 1);
        }
        if (at_minute != none) return hour * 3600 + at_minute * 60 + bit_up_to(s, 59);
        at_hour = bit_up_to(h, hour - 1);
    }
    return at_hour != none ? at_hour * 3600 + bit_up_to(m, 59) * 60 + bit_up_to(s, 59) : none;
}

constexpr int end_of_day = 24 * 3600 - 1;

} // namespace

cron_expression::cron_expression(std::string_view text) { cron_parser(text, *this).parse(); }

bool cron_expression::day_matches(year_month_day date) const {
    const year_month ym = date.year() / date.month();
    const auto n = static_cast<unsigned>(date.day());
    const unsigned end = last_day(ym), w = weekday_of(date);
    bool day = ((days_ >> n) & 1) != 0 || ((days_from_last_ >> (end - n)) & 1) != 0;
    for (std::uint32_t rest = nearest_weekday_; !day && rest != 0; rest &= rest - 1)
        day = nearest_working_day(ym, static_cast<unsigned>(std::countr_zero(rest))) == n;
    if (!day && last_working_day_) day = nearest_working_day(ym, end) == n;
    const bool weekday = ((weekdays_ >> w) & 1) != 0 || (((last_weekdays_ >> w) & 1) != 0 && n + 7 > end) ||
                         ((nth_weekdays_ >> (7 * ((n - 1) / 7) + w)) & 1) != 0;
    return days_begin_with_star_ || weekdays_begin_with_star_ ? day && weekday : day || weekday;
}

bool cron_expression::matches(local_seconds at) const {
    const auto days = floor<std::chrono::days>(at);
    const auto second = static_cast<int>((at - days).count());
    const year_month_day date(days);
    return ((seconds_ >> (second % 60)) & 1) != 0 && ((minutes_ >> (second / 60 % 60)) & 1) != 0 &&
           ((hours_ >> (second / 3600)) & 1) != 0 && ((months_ >> static_cast<unsigned>(date.month())) & 1) != 0 &&
           day_matches(date);
}

std::optional<cron_expression::local_seconds> cron_expression::next(local_seconds after) const {
    if (after < local_days(first_year / 1 / 1)) after = local_days(first_year / 1 / 1) - seconds(1);
    if (after >= local_days(last_year / 12 / 31) + days(1)) return std::nullopt;
    local_seconds from = after + seconds(1);
    local_days at = floor<days>(from);
    int time = static_cast<int>((from - at).count());
    while (true) {
        const year_month_day date(at);
        if (date.year() > last_year) return std::nullopt;
        if (((months_ >> static_cast<unsigned>(date.month())) & 1) == 0) {
            at = local_days((date.year() / date.month() + months(1)) / 1);
            time = 0;
            continue;
        }
        if (day_matches(date))
            if (const int found = time_from(hours_, minutes_, seconds_, time); found != none)
                return at + seconds(found);
        at += days(1);
        time = 0;
    }
}

std::optional<cron_expression::local_seconds> cron_expression::previous(local_seconds before) const {
    if (before > local_days(last_year / 12 / 31) + days(1)) before = local_days(last_year / 12 / 31) + days(1);
    if (before <= local_days(first_year / 1 / 1)) return std::nullopt;
    local_seconds to = before - seconds(1);
    local_days at = floor<days>(to);
    int time = static_cast<int>((to - at).count());
    while (true) {
        const year_month_day date(at);
        if (date.year() < first_year) return std::nullopt;
        if (((months_ >> static_cast<unsigned>(date.month())) & 1) == 0) {
            at = local_days(date.year() / date.month() / 1) - days(1);
            time = end_of_day;
            continue;
        }
        if (day_matches(date))
            if (const int found = time_up_to(hours_, minutes_, seconds_, time); found != none)
                return at + seconds(found);
        at -= days(1);
        time = end_of_day;
    }
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
