// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a cron expression means, as plainly as can be: is this minute in, and if not, the next one. Shares nothing with
// the parser: fields are cut by blanks, items by commas, and each value is asked of each item.
#pragma once

#include <chrono>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace cogwheel_tests {

class cron_oracle {
public:
    explicit cron_oracle(const std::string& expression) {
        std::istringstream in(expression);
        for (std::string field; in >> field;) fields_.push_back(field);
        minutes_ = in_field(fields_[0], 0, 59);
        hours_ = in_field(fields_[1], 0, 23);
        months_ = in_field(fields_[3], 1, 12);
    }

    /// By trying each minute for so many days.
    std::optional<std::chrono::local_seconds> next(std::chrono::local_seconds after, int days) const {
        using namespace std::chrono;
        auto at = floor<minutes>(after) + minutes(1);
        const auto end = after + std::chrono::days(days);
        for (; at <= end; at += minutes(1)) {
            const auto date = floor<std::chrono::days>(at);
            if (at == date || at == floor<minutes>(after) + minutes(1)) today_ = day_is_in(year_month_day(date));
            if (!today_) {
                at = date + std::chrono::days(1) - minutes(1);
                continue;
            }
            const auto minute = (at - date).count();
            if (minutes_[static_cast<std::size_t>(minute % 60)] && hours_[static_cast<std::size_t>(minute / 60)])
                return at;
        }
        return std::nullopt;
    }

private:
    static std::vector<std::string> cut(const std::string& text, char at) {
        std::vector<std::string> parts(1);
        for (const char c : text)
            if (c == at)
                parts.emplace_back();
            else
                parts.back() += c;
        return parts;
    }
    static int number(const std::string& text) {
        static const char* const names[] = {"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                            "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
        static const char* const weekdays[] = {"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};
        for (int i = 0; i < 12; ++i)
            if (text == names[i]) return i + 1;
        for (int i = 0; i < 7; ++i)
            if (text == weekdays[i]) return i;
        return std::stoi(text);
    }
    static bool item_holds(const std::string& item, int value, int lowest, int highest) {
        const auto by_step = cut(item, '/');
        const int step = by_step.size() > 1 ? number(by_step[1]) : 1;
        if (by_step[0] == "*" || by_step[0] == "?") return (value - lowest) % step == 0;
        const auto ends = cut(by_step[0], '-');
        const int from = number(ends[0]);
        const int to = ends.size() > 1 ? number(ends[1]) : by_step.size() > 1 ? highest : from;
        return value >= from && value <= to && (value - from) % step == 0;
    }
    static std::vector<bool> in_field(const std::string& field, int lowest, int highest) {
        std::vector<bool> in(static_cast<std::size_t>(highest) + 1);
        for (const std::string& item : cut(field, ','))
            for (int v = lowest; v <= highest; ++v)
                if (item_holds(item, v, lowest, highest)) in[static_cast<std::size_t>(v)] = true;
        return in;
    }

    bool day_is_in(std::chrono::year_month_day date) const {
        using namespace std::chrono;
        if (!months_[static_cast<unsigned>(date.month())]) return false;
        const int n = static_cast<int>(static_cast<unsigned>(date.day()));
        const int end = static_cast<int>(static_cast<unsigned>((date.year() / date.month() / last).day()));
        const auto weekday_on = [&](int d) {
            return static_cast<int>(
                weekday(local_days(date.year() / date.month() / day(static_cast<unsigned>(d)))).c_encoding());
        };
        // The working day nearest to `wanted` in this month, looked for step by step.
        const auto nearest = [&](int wanted) {
            for (int away = 0; away < 4; ++away)
                for (const int d : {wanted - away, wanted + away})
                    if (d >= 1 && d <= end && weekday_on(d) != 0 && weekday_on(d) != 6) return d;
            return 0;
        };
        bool day_in = false, weekday_in = false;
        for (const std::string& item : cut(fields_[2], ',')) {
            if (item == "LW")
                day_in |= n == nearest(end);
            else if (item == "L")
                day_in |= n == end;
            else if (item[0] == 'L')
                day_in |= n == end - std::stoi(item.substr(2));
            else if (item.back() == 'W')
                day_in |= std::stoi(item) <= end && n == nearest(std::stoi(item));
            else
                day_in |= item_holds(item, n, 1, 31);
        }
        const int w = weekday_on(n);
        for (const std::string& item : cut(fields_[4], ',')) {
            const auto nth = cut(item, '#');
            if (nth.size() > 1)
                weekday_in |= w == number(nth[0]) % 7 && (n + 6) / 7 == std::stoi(nth[1]);
            else if (item.back() == 'L')
                weekday_in |= w == number(item.substr(0, item.size() - 1)) % 7 && n + 7 > end;
            else
                weekday_in |=
                    item_holds(item, w, 0, 6) || (w == 0 && item.find('/') == std::string::npos && item[0] != '*' &&
                                                  item[0] != '?' && item_holds(item, 7, 0, 7));
        }
        const auto starred = [](const std::string& field) { return field[0] == '*' || field[0] == '?'; };
        return starred(fields_[2]) || starred(fields_[4]) ? day_in && weekday_in : day_in || weekday_in;
    }

    std::vector<std::string> fields_;
    std::vector<bool> minutes_, hours_, months_;
    mutable bool today_ = false;
};

} // namespace cogwheel_tests
