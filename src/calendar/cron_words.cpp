// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// cron_expression::describe(): an expression in words.
#include <cogwheel/calendar/cron.hpp>

#include <array>
#include <bit>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

namespace {

constexpr std::array<const char*, 13> month_words{"",        "January",  "February", "March",  "April",
                                                  "May",     "June",     "July",     "August", "September",
                                                  "October", "November", "December"};
constexpr std::array<const char*, 7> weekday_words{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                   "Thursday", "Friday", "Saturday"};

std::vector<int> members(std::uint64_t bits) {
    std::vector<int> all;
    for (; bits != 0; bits &= bits - 1) all.push_back(std::countr_zero(bits));
    return all;
}

// Joins words as in "a, b and c".
std::string joined(const std::vector<std::string>& words) {
    std::string all;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i != 0) all += i + 1 == words.size() ? " and " : ", ";
        all += words[i];
    }
    return all;
}

// Lists the members of a field. Three or more in a row become a range.
template <class Word>
std::string listed(std::uint64_t bits, Word word) {
    const std::vector<int> all = members(bits);
    std::vector<std::string> words;
    for (std::size_t i = 0; i < all.size();) {
        std::size_t end = i + 1;
        while (end < all.size() && all[end] == all[end - 1] + 1) ++end;
        if (end - i >= 3) {
            words.push_back(word(all[i]) + " to " + word(all[end - 1]));
            i = end;
        } else {
            words.push_back(word(all[i++]));
        }
    }
    return joined(words);
}

std::string as_number(int n) { return std::to_string(n); }

std::string two_digits(int n) { return {static_cast<char>('0' + n / 10), static_cast<char>('0' + n % 10)}; }

std::string ordinal(int n) {
    const int tens = n / 10 % 10, ones = n % 10;
    const char* ending = tens == 1 ? "th" : ones == 1 ? "st" : ones == 2 ? "nd" : ones == 3 ? "rd" : "th";
    return std::to_string(n) + ending;
}

// Returns the step of a field that has each n-th value from 0 on, or 0 for any other field.
int step_of(std::uint64_t bits, int size) {
    const std::vector<int> all = members(bits);
    if (all.size() < 2 || all[0] != 0) return 0;
    const int step = all[1];
    std::uint64_t same = 0;
    for (int n = 0; n < size; n += step) same |= std::uint64_t{1} << n;
    return same == bits ? step : 0;
}

std::string each(std::uint64_t bits, int size, const std::string& unit) {
    const int step = step_of(bits, size);
    if (step == 1) return "every " + unit;
    if (step != 0) return "every " + std::to_string(step) + " " + unit + "s";
    return "at " + unit + (std::has_single_bit(bits) ? " " : "s ") + listed(bits, as_number);
}

std::string of_hours(std::uint64_t hours) {
    const int step = step_of(hours, 24);
    if (step == 1) return "";
    if (step != 0) return " of every " + std::to_string(step) + " hours";
    return std::string(" past hour") + (std::has_single_bit(hours) ? " " : "s ") + listed(hours, as_number);
}

} // namespace

std::string cron_expression::describe() const {
    std::string time;
    if (std::has_single_bit(seconds_) && std::has_single_bit(minutes_) && std::popcount(hours_) <= 4) {
        std::vector<std::string> times;
        const int minute = std::countr_zero(minutes_), second = std::countr_zero(seconds_);
        for (const int hour : members(hours_))
            times.push_back(two_digits(hour) + ":" + two_digits(minute) +
                            (second != 0 ? ":" + two_digits(second) : ""));
        time = "at " + joined(times);
    } else {
        if (seconds_ != 1) time = each(seconds_, 60, "second");
        if (seconds_ == 1 || std::popcount(minutes_) != 60) {
            if (!time.empty()) time += ", ";
            time += each(minutes_, 60, "minute");
        }
        time += of_hours(hours_);
    }

    const bool any_day = members(days_).size() == 31, any_weekday = weekdays_ == 0x7f;
    std::vector<std::string> days, weekdays;
    if (days_ != 0 && !any_day) days.push_back("the " + listed(days_, ordinal));
    for (const int n : members(days_from_last_))
        days.push_back(n == 0 ? "the last day"
                              : std::to_string(n) + (n == 1 ? " day" : " days") + " before the last day");
    for (const int n : members(nearest_weekday_)) days.push_back("the working day nearest to the " + ordinal(n));
    if (last_working_day_) days.emplace_back("the last working day");
    if (weekdays_ != 0 && !any_weekday)
        weekdays.push_back(
            listed(weekdays_, [](int w) { return std::string(weekday_words[static_cast<std::size_t>(w)]); }));
    for (const int n : members(nth_weekdays_)) {
        const auto w = static_cast<std::size_t>(n % 7);
        weekdays.push_back("the " + ordinal(n / 7 + 1) + " " + weekday_words[w] + " of the month");
    }
    for (const int w : members(last_weekdays_))
        weekdays.push_back("the last " + std::string(weekday_words[static_cast<std::size_t>(w)]) + " of the month");
    // A field with all days needs no words. Without a star, one matching field is enough, so every day matches.
    const bool every_day = (any_day || any_weekday) && !days_begin_with_star_ && !weekdays_begin_with_star_;
    if (any_day || every_day) days.clear();
    if (any_weekday || every_day) weekdays.clear();
    if (!days.empty()) time += ", on " + joined(days) + (weekdays.empty() && months_ == 0x1ffe ? " of the month" : "");
    if (!weekdays.empty()) {
        const bool both = days_begin_with_star_ || weekdays_begin_with_star_;
        time += days.empty() ? ", on " : both ? " if that is " : " or on ";
        time += joined(weekdays);
    }
    if (months_ != 0x1ffe)
        time += ", in " + listed(months_, [](int m) { return std::string(month_words[static_cast<std::size_t>(m)]); });
    return time;
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
