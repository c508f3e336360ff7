// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "cron_parser.hpp"

#include <cogwheel/detail/visible_text.hpp>

#include <algorithm>
#include <array>
#include <cctype>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

namespace {

constexpr std::array<std::string_view, 12> month_names{"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                                       "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
constexpr std::array<std::string_view, 7> weekday_names{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};

constexpr std::uint64_t bit(int n) { return std::uint64_t{1} << n; }
bool is_control(char c) { return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == '\x7f'; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
std::size_t columns(std::string_view text) { return detail::text_width(detail::visible_text(text)); }
bool is_letter(char c) { return upper(c) >= 'A' && upper(c) <= 'Z'; }

} // namespace

cron_error::cron_error(std::string_view expression, std::size_t position, const std::string& why)
    : std::invalid_argument("cogwheel::cron_expression: " + why + "\n  " + detail::visible_text(expression) + "\n  " +
                            std::string(columns(expression.substr(0, position)), ' ') + "^"),
      column_(columns(expression.substr(0, position)) + 1),
      reason_size_(why.size()) {}

void cron_parser::refuse_at(std::size_t position, const std::string& why) const {
    throw cron_error(text_, position, why);
}

// Returns the character at the present position, for a message: as bytes if it cannot be shown.
std::string cron_parser::here() const {
    const std::string_view rest = text_.substr(position_);
    const std::size_t length = detail::utf8_length(rest);
    const std::string_view character = rest.substr(0, std::max<std::size_t>(length, 1));
    if (length != 0 && detail::visible_text(character) == character) return "'" + std::string(character) + "'";
    std::string words(length != 0 ? "the control character" : "the byte");
    for (const char c : character) {
        constexpr std::string_view digits = "0123456789abcdef";
        const auto byte = static_cast<unsigned char>(c);
        words += std::string(" 0x") + digits[byte >> 4] + digits[byte & 15];
    }
    return words;
}

bool cron_parser::take(char c) {
    if (peek() != c) return false;
    ++position_;
    return true;
}

bool cron_parser::take_letters(std::string_view word) {
    if (text_.size() - position_ < word.size()) return false;
    for (std::size_t i = 0; i < word.size(); ++i)
        if (upper(text_[position_ + i]) != word[i]) return false;
    position_ += word.size();
    return true;
}

void cron_parser::skip_blanks() {
    while (is_blank(peek())) ++position_;
}

std::size_t cron_parser::count_fields() const {
    std::size_t fields = 0;
    for (std::size_t i = 0; i < text_.size(); ++i) fields += !is_blank(text_[i]) && (i == 0 || is_blank(text_[i - 1]));
    return fields;
}

void cron_parser::parse() {
    // Control characters first: a line end is no blank, and a message about the fields would not show it.
    for (; !at_end(); ++position_)
        if (is_control(peek())) refuse(here() + " does not belong here");
    position_ = 0;
    skip_blanks();
    if (peek() == '@') return macro();
    const std::size_t fields = count_fields();
    if (fields != 5 && fields != 6)
        refuse("there are " + std::to_string(fields) +
               " fields, but must be 5 (minute hour day month weekday) or 6 (with the second before them)");
    const field second{"second", 0, 59, {}}, minute{"minute", 0, 59, {}}, hour{"hour", 0, 23, {}},
        month{"month", 1, 12, month_names};
    out_.seconds_ = fields == 6 ? plain_field(second) : bit(0);
    out_.time_begins_with_star_ = (skip_blanks(), peek() == '*');
    out_.minutes_ = plain_field(minute);
    out_.time_begins_with_star_ |= (skip_blanks(), peek() == '*');
    out_.hours_ = static_cast<std::uint32_t>(plain_field(hour));
    const std::size_t days_begin = (skip_blanks(), position_);
    days_of_month();
    out_.months_ = static_cast<std::uint16_t>(plain_field(month));
    const std::size_t weekdays_begin = (skip_blanks(), position_);
    days_of_week();
    skip_blanks();
    require_a_day(days_begin, weekdays_begin);
}

void cron_parser::macro() {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> macros{{{"@yearly", "0 0 1 1 *"},
                                                                                          {"@annually", "0 0 1 1 *"},
                                                                                          {"@monthly", "0 0 1 * *"},
                                                                                          {"@weekly", "0 0 * * 0"},
                                                                                          {"@daily", "0 0 * * *"},
                                                                                          {"@midnight", "0 0 * * *"},
                                                                                          {"@hourly", "0 * * * *"}}};
    std::string_view word = text_.substr(position_);
    while (!word.empty() && is_blank(word.back())) word.remove_suffix(1);
    const auto same = [&](std::string_view name) {
        return std::equal(name.begin(), name.end(), word.begin(), word.end(),
                          [](char a, char b) { return upper(a) == upper(b); });
    };
    for (const auto& [name, meaning] : macros)
        if (same(name)) return cron_parser(meaning, out_).parse();
    std::string why = "'";
    why += detail::visible_text(word);
    refuse(why + "' is unknown; there are @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly, and "
                 "for tasks @every, such as @every 1h30m");
}

// Reads items with commas between them, up to a blank or the end. Returns where the field begins.
template <class Item>
std::size_t cron_parser::list(Item item) {
    skip_blanks();
    const std::size_t begin = position_;
    do item();
    while (take(','));
    if (!at_end() && !is_blank(peek())) refuse(here() + " does not belong here");
    return begin;
}

std::uint64_t cron_parser::plain_field(const field& f) {
    std::uint64_t bits = 0;
    list([&] { bits |= ranges(f); });
    return bits;
}

// Reads all values, one value or a range, and a step. With a step, one value is a range to the end of the field.
std::uint64_t cron_parser::ranges(const field& f) {
    range r{f.lowest, f.highest, 1};
    const bool for_days = f.lowest == 1 && f.highest == 31;
    const bool for_weekdays = f.highest == 7;
    const int count = for_weekdays ? 7 : f.highest - f.lowest + 1;
    const bool all = take('*') || ((for_days || for_weekdays) && take('?'));
    if (all && for_weekdays) r.to = 6;
    if (!all) {
        r.from = r.to = value(f);
        if (take('-')) {
            r.to = value(f);
            if (r.to < r.from) r.to += count; // on past the end of the field, as in 22-4
        } else if (peek() == '/') {
            if (for_weekdays) r.from %= 7;
            r.to = for_weekdays ? 6 : f.highest;
        }
    }
    if (take('/')) r.step = number("a step", 1, f.highest);
    std::uint64_t bits = 0;
    for (int n = r.from; n <= r.to; n += r.step) bits |= bit(f.lowest + (n - f.lowest) % count);
    return bits;
}

int cron_parser::value(const field& f) {
    if (!f.names.empty() && is_letter(peek())) {
        for (std::size_t i = 0; i < f.names.size(); ++i)
            if (take_letters(f.names[i])) return f.lowest + static_cast<int>(i);
        refuse(std::string(f.name) + " has an unknown name; there are " + std::string(f.names.front()) + " .. " +
               std::string(f.names.back()));
    }
    return number(f.name, f.lowest, f.highest);
}

int cron_parser::number(const char* what, int lowest, int highest) {
    const std::size_t begin = position_;
    const std::string wanted =
        std::string(what) + " must be " + std::to_string(lowest) + " .. " + std::to_string(highest);
    if (!is_digit(peek())) {
        if (at_end() || is_blank(peek())) refuse(wanted + ", but there is nothing");
        refuse(wanted + ", but here is " + here());
    }
    int n = 0;
    for (; is_digit(peek()); ++position_) n = std::min(n * 10 + (peek() - '0'), 100'000);
    if (n < lowest || n > highest)
        refuse_at(begin, wanted + ", but is " + std::string(text_.substr(begin, position_ - begin)));
    return n;
}

void cron_parser::days_of_month() {
    const field day{"day of month", 1, 31, {}};
    std::uint64_t bits = 0;
    skip_blanks();
    out_.days_begin_with_star_ = peek() == '*' || peek() == '?';
    list([&] {
        if (take_letters("LW")) {
            out_.last_working_day_ = true;
        } else if (take_letters("L")) {
            out_.days_from_last_ |=
                static_cast<std::uint32_t>(bit(take('-') ? number("days before the last", 0, 30) : 0));
        } else {
            const std::size_t begin = position_;
            const std::uint64_t some = ranges(day);
            if (upper(peek()) != 'W') {
                bits |= some;
                return;
            }
            if (!is_digit(text_[position_ - 1]) || (some & (some - 1)) != 0)
                refuse_at(begin, "W takes one day, as in 15W; write a list for several");
            ++position_;
            out_.nearest_weekday_ |= static_cast<std::uint32_t>(some);
        }
    });
    out_.days_ = static_cast<std::uint32_t>(bits);
}

void cron_parser::days_of_week() {
    const field weekday{"day of week", 0, 7, weekday_names};
    std::uint64_t bits = 0;
    skip_blanks();
    out_.weekdays_begin_with_star_ = peek() == '*' || peek() == '?';
    const auto folded = [](std::uint64_t week) { return (week | week >> 7) & 0x7f; }; // 7 is Sunday, as 0 is
    list([&] {
        const std::size_t begin = position_;
        const std::uint64_t some = folded(ranges(weekday));
        const bool one =
            (some & (some - 1)) == 0 && text_.substr(begin, position_ - begin).find('/') == std::string_view::npos;
        if (upper(peek()) == 'L') {
            if (!one) refuse_at(begin, "L takes one day of the week, as in 5L; write a list for several");
            ++position_;
            out_.last_weekdays_ |= static_cast<std::uint8_t>(some);
        } else if (take('#')) {
            if (!one) refuse_at(begin, "# takes one day of the week, as in 5#2; write a list for several");
            out_.nth_weekdays_ |= some << (7 * (number("which one of the month", 1, 5) - 1));
        } else {
            bits |= some;
        }
    });
    out_.weekdays_ = static_cast<std::uint8_t>(bits);
}

// Returns true if any day matches. 400 years have each kind of year: leap or not, starting on each weekday.
bool cron_parser::has_a_day(const cron_expression& in) {
    using namespace std::chrono;
    for (int y = 2000; y < 2400; ++y) // the Gregorian cycle; common expressions return in its first month
        for (unsigned m = 1; m <= 12; ++m) {
            if ((in.months_ & bit(static_cast<int>(m))) == 0) continue;
            const unsigned last{static_cast<unsigned>((year(y) / month(m) / std::chrono::last).day())};
            for (unsigned d = 1; d <= last; ++d)
                if (in.day_matches(year(y) / month(m) / day(d))) return true;
        }
    return false;
}

void cron_parser::require_a_day(std::size_t days_begin, std::size_t weekdays_begin) const {
    if (has_a_day(out_)) return;
    cron_expression any_weekday = out_;
    any_weekday.weekdays_ = 0x7f;
    any_weekday.weekdays_begin_with_star_ = true;
    if (has_a_day(any_weekday))
        refuse_at(weekdays_begin,
                  "no such day ever comes: none is of this day of week and of this day of month, and as one of the "
                  "two begins with a star, it has to be of both");
    refuse_at(days_begin, "no such day ever comes; look at the day of month and the month together");
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
