// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "api/text_values.hpp"

#include <cogwheel/durable/durable_task.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <stdexcept>

namespace cogwheeld {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

namespace {

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// Takes a date apart, from left to right.
class date_reader {
public:
    explicit date_reader(std::string_view text) : text_{text}, rest_{text} {}

    wall_point read() {
        const int y = number(4, 1, 9999, "a year from 0001 to 9999");
        need("-");
        const int m = number(2, 1, 12, "a month from 01 to 12");
        need("-");
        const int d = number(2, 1, 31, "a day from 01 to 31");
        const std::chrono::year_month_day date{std::chrono::year(y), std::chrono::month(static_cast<unsigned>(m)),
                                               std::chrono::day(static_cast<unsigned>(d))};
        if (!date.ok()) wrong("there is no such day");
        need("Tt ");
        const int hour = number(2, 0, 23, "an hour from 00 to 23");
        need(":");
        const int minute = number(2, 0, 59, "a minute from 00 to 59");
        need(":");
        const int second = number(2, 0, 60, "a second from 00 to 59");
        const auto fraction = read_fraction();
        const auto offset = read_offset();
        if (!rest_.empty()) wrong("something follows the date");
        const auto whole =
            std::chrono::sys_days(date).time_since_epoch() + hours(hour) + minutes(minute) + seconds(second) - offset;
        if (whole >
            std::chrono::floor<seconds>(cogwheel::durable_task::max_date.time_since_epoch())) // as seconds: no overflow
            wrong("it must not lie after " + date_text(cogwheel::durable_task::max_date));
        constexpr auto earliest = std::chrono::ceil<seconds>(wall_point::min().time_since_epoch());
        if (whole < earliest) return wall_point(earliest);
        return wall_point(whole + fraction);
    }

private:
    [[noreturn]] void wrong(const std::string& why) const {
        throw std::invalid_argument(fmt::format("bad date '{}': {}", text_, why));
    }

    int number(std::size_t digits, int least, int most, const char* wanted) {
        int n = 0;
        if (rest_.size() < digits ||
            !std::all_of(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(digits), is_digit))
            wrong(fmt::format("{} must come at column {}", wanted, column()));
        for (std::size_t i = 0; i < digits; ++i) n = 10 * n + (rest_[i] - '0');
        if (n < least || n > most) wrong(fmt::format("{} must come at column {}", wanted, column()));
        rest_.remove_prefix(digits);
        return n;
    }

    void need(std::string_view one_of) {
        if (rest_.empty() || one_of.find(rest_.front()) == one_of.npos)
            wrong(fmt::format("'{}' must come at column {}", one_of.front(), column()));
        rest_.remove_prefix(1);
    }

    nanoseconds read_fraction() {
        if (rest_.empty() || rest_.front() != '.') return {};
        rest_.remove_prefix(1);
        if (rest_.empty() || !is_digit(rest_.front())) wrong("digits must follow the full stop");
        std::int64_t result = 0;
        for (std::int64_t unit = 100'000'000; !rest_.empty() && is_digit(rest_.front()); unit /= 10) {
            result += unit * (rest_.front() - '0'); // digits beyond nanoseconds count nothing
            rest_.remove_prefix(1);
        }
        return nanoseconds(result);
    }

    minutes read_offset() {
        const char sign = rest_.empty() ? '\0' : rest_.front();
        if (sign != 'Z' && sign != 'z' && sign != '+' && sign != '-')
            wrong(fmt::format("Z, or an offset such as +01:00, must come at column {}", column()));
        rest_.remove_prefix(1);
        if (sign == 'Z' || sign == 'z') return {};
        const int h = number(2, 0, 23, "an offset in hours from 00 to 23");
        need(":");
        const int m = number(2, 0, 59, "an offset in minutes from 00 to 59");
        return (hours(h) + minutes(m)) * (sign == '-' ? -1 : 1);
    }

    std::size_t column() const noexcept { return text_.size() - rest_.size() + 1; }

    const std::string_view text_;
    std::string_view rest_;
};

} // namespace

wall_point read_date(std::string_view text) { return date_reader(text).read(); }

nanoseconds read_duration(std::string_view text) {
    const auto wrong = [&](std::string_view why) {
        throw std::invalid_argument(fmt::format(
            "bad duration '{}': {}; give numbers and units, such as 500ms, 1.5s, 2m, 1h30m or 7d", text, why));
    };
    constexpr std::array<std::pair<std::string_view, double>, 5> units{
        {{"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}, {"d", 86400e9}}};
    if (text.empty()) wrong("it is empty");
    double sum = 0;
    for (auto rest = text; !rest.empty();) {
        std::size_t digits = 0, points = 0;
        double number = 0, fraction = 1;
        while (digits < rest.size() && (is_digit(rest[digits]) || rest[digits] == '.')) {
            const char c = rest[digits++];
            if (c == '.') {
                ++points;
            } else if (points == 0) {
                number = 10 * number + (c - '0');
            } else {
                fraction /= 10;
                number += fraction * (c - '0');
            }
        }
        if (digits == points || points > 1) wrong("a number is missing or wrong");
        rest.remove_prefix(digits);
        const auto unit = rest.substr(0, rest.find_first_of("0123456789."));
        const auto* const known =
            std::find_if(units.begin(), units.end(), [&](const auto& u) { return u.first == unit; });
        if (known == units.end())
            wrong(unit.empty() ? "a unit is missing" : fmt::format("there is no unit '{}'", unit));
        sum += number * known->second;
        rest.remove_prefix(unit.size());
    }
    constexpr auto most = std::chrono::duration<double, std::nano>(cogwheel::durable_task::max_delay).count();
    if (!(sum <= most)) wrong("it is longer than 73000d");
    return nanoseconds(static_cast<std::int64_t>(std::ceil(sum - 1e-6)));
}

std::string date_text(wall_point at) {
    const auto day = std::chrono::floor<days>(at);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss time(std::chrono::floor<milliseconds>(at - day));
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), time.hours().count(),
                       time.minutes().count(), time.seconds().count(), time.subseconds().count());
}

} // namespace cogwheeld
