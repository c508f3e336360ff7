// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "yearly_rule.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

using namespace std::chrono;

class yearly_rule::reader {
public:
    explicit reader(std::string_view text) : text_(text) {}

    void read(yearly_rule& to) {
        name();
        to.standard_ = -time(24); // POSIX counts offsets to the west
        to.changes_ = !rest().empty();
        if (!to.changes_) return;
        name();
        to.summer_ = rest().starts_with(',') ? to.standard_ + hours(1) : -time(24);
        to.begin_ = day();
        to.end_ = day();
        if (!rest().empty()) refuse();
    }

private:
    std::string_view rest() const { return text_.substr(at_); }

    [[noreturn]] void refuse() const {
        throw std::invalid_argument("its rule for later years is '" + std::string(text_) +
                                    "', which no POSIX TZ string reads like");
    }

    bool take(char c) {
        if (!rest().starts_with(c)) return false;
        ++at_;
        return true;
    }

    unsigned number(unsigned lowest, unsigned highest) {
        const std::size_t begin = at_;
        unsigned n = 0;
        for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9' && n <= highest; ++at_)
            n = n * 10 + static_cast<unsigned>(text_[at_] - '0');
        if (at_ == begin || n < lowest || n > highest) refuse();
        return n;
    }

    // Reads a name: letters, or any characters in <>.
    void name() {
        const bool quoted = take('<');
        const std::size_t length =
            std::min(quoted ? rest().find('>') : rest().find_first_of("+-0123456789,<"), rest().size());
        if (length < 3) refuse();
        at_ += length;
        if (quoted && !take('>')) refuse();
    }

    seconds time(unsigned most_hours) {
        const bool negative = take('-');
        if (!negative) take('+');
        seconds t = hours(number(0, most_hours));
        if (take(':')) t += minutes(number(0, 59));
        if (take(':')) t += seconds(number(0, 59));
        return negative ? -t : t;
    }

    day_of_year day() {
        using kind = day_of_year::kind;
        day_of_year d;
        if (!take(',')) refuse();
        if (take('M')) {
            d.month = number(1, 12);
            if (!take('.')) refuse();
            d.week = number(1, 5);
            if (!take('.')) refuse();
            d.weekday = number(0, 6);
        } else {
            d.what = take('J') ? kind::not_counting_leap_day : kind::counting_leap_day;
            d.number = d.what == kind::counting_leap_day ? number(0, 365) : number(1, 365);
        }
        if (take('/')) d.time = time(167);
        return d;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

yearly_rule::yearly_rule(std::string_view text) { reader(text).read(*this); }

sys_days yearly_rule::day_of_year::in(year y) const {
    if (what == kind::weekday) {
        const std::chrono::weekday w(weekday);
        const year_month in = y / std::chrono::month(month);
        return week == 5 ? sys_days(in / w[last]) : sys_days(in / w[week]);
    }
    const sys_days first = y / 1 / 1;
    if (what == kind::counting_leap_day) return first + days(number);
    constexpr unsigned first_of_march = 60;
    return first + days(number - 1 + (y.is_leap() && number >= first_of_march ? 1 : 0));
}

std::array<clock_change, 2> yearly_rule::in(year y) const {
    std::array<clock_change, 2> both{clock_change{begin_.in(y) + begin_.time - standard_, summer_},
                                     clock_change{end_.in(y) + end_.time - summer_, standard_}};
    if (both[1].at < both[0].at) std::swap(both[0], both[1]); // in the south, summer time ends first in a year
    return both;
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
