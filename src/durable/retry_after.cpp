// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "retry_after.hpp"

#include <algorithm>
#include <array>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

using namespace std::chrono;

constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> long_days{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                    "Thursday", "Friday", "Saturday"};

/// Takes the parts of a date from the front. After a mistake, good() is false.
class date_reader {
public:
    explicit date_reader(std::string_view text) noexcept : rest_(text) {}

    void literal(std::string_view wanted) noexcept {
        if (rest_.starts_with(wanted))
            rest_.remove_prefix(wanted.size());
        else
            good_ = false;
    }
    int digits(std::size_t count) noexcept {
        int value = 0;
        for (std::size_t i = 0; i < count; ++i) {
            if (i >= rest_.size() || rest_[i] < '0' || rest_[i] > '9') {
                good_ = false;
                return 0;
            }
            value = value * 10 + (rest_[i] - '0');
        }
        rest_.remove_prefix(count);
        return value;
    }
    unsigned month() noexcept {
        for (unsigned m = 0; m < months.size(); ++m)
            if (rest_.starts_with(months[m])) {
                rest_.remove_prefix(3);
                return m + 1;
            }
        good_ = false;
        return 1;
    }
    bool starts_with(std::string_view text) const noexcept { return rest_.starts_with(text); }
    bool ended() const noexcept { return good_ && rest_.empty(); }

    seconds time_of_day() noexcept {
        const int h = digits(2);
        literal(":");
        const int m = digits(2);
        literal(":");
        const int s = digits(2);
        if (h > 23 || m > 59 || s > 60) good_ = false; // 60: a leap second
        return hours(h) + minutes(m) + seconds(s);
    }

private:
    std::string_view rest_;
    bool good_ = true;
};

std::optional<sys_seconds> put_together(const date_reader& reader, int y, unsigned m, int d, seconds time) noexcept {
    const year_month_day date(year(y), std::chrono::month(m), std::chrono::day(static_cast<unsigned>(d)));
    if (!reader.ended() || !date.ok() || y < 1970 || y > 9999) return std::nullopt;
    return sys_seconds(sys_days(date)) + time;
}

} // namespace

std::optional<sys_seconds> parse_http_date(std::string_view text, sys_seconds now) noexcept {
    date_reader reader(text);
    // The name of the day is not compared with the date: it decides nothing.
    for (const std::string_view name : long_days) {
        if (reader.starts_with(name)) { // RFC 850: Sunday, 06-Nov-94 08:49:37 GMT
            reader.literal(name);
            reader.literal(", ");
            const int d = reader.digits(2);
            reader.literal("-");
            const unsigned m = reader.month();
            reader.literal("-");
            const int short_year = reader.digits(2);
            reader.literal(" ");
            const seconds time = reader.time_of_day();
            reader.literal(" GMT");
            const int this_year = static_cast<int>(year_month_day(floor<days>(now)).year());
            int y = this_year - this_year % 100 + short_year;
            if (y > this_year + 49) y -= 100;
            if (y < this_year - 50) y += 100;
            return put_together(reader, y, m, d, time);
        }
    }
    for (const std::string_view name : long_days) {
        if (!reader.starts_with(name.substr(0, 3))) continue;
        reader.literal(name.substr(0, 3));
        if (reader.starts_with(",")) { // Sun, 06 Nov 1994 08:49:37 GMT
            reader.literal(", ");
            const int d = reader.digits(2);
            reader.literal(" ");
            const unsigned m = reader.month();
            reader.literal(" ");
            const int y = reader.digits(4);
            reader.literal(" ");
            const seconds time = reader.time_of_day();
            reader.literal(" GMT");
            return put_together(reader, y, m, d, time);
        }
        reader.literal(" "); // asctime: Sun Nov  6 08:49:37 1994
        const unsigned m = reader.month();
        reader.literal(" ");
        const bool one_digit = reader.starts_with(" ");
        if (one_digit) reader.literal(" ");
        const int d = reader.digits(one_digit ? 1 : 2);
        reader.literal(" ");
        const seconds time = reader.time_of_day();
        reader.literal(" ");
        const int y = reader.digits(4);
        return put_together(reader, y, m, d, time);
    }
    return std::nullopt;
}

std::optional<seconds> parse_retry_after(std::string_view text, sys_seconds now, seconds most) noexcept {
    const auto blank = [](char c) { return c == ' ' || c == '\t'; };
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && blank(text.back())) text.remove_suffix(1);
    if (text.empty()) return std::nullopt;
    if (std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) {
        seconds wait{0};
        for (const char c : text) {
            const seconds digit(c - '0');
            wait = wait > most / 10 ? most : std::min(wait * 10, most - digit) + digit; // never above `most`
        }
        return wait;
    }
    const auto date = parse_http_date(text, now);
    if (!date) return std::nullopt;
    return std::clamp(*date - now, seconds(0), most);
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
