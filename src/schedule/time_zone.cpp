// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include <cogwheel/schedule/time_zone.hpp>

#include <algorithm>
#include <stdexcept>

#include <date/tz.h>

namespace cogwheel {

namespace {

const date::time_zone& zone_of(const void* zone) { return *static_cast<const date::time_zone*>(zone); }

// The system's database lists changes up to 2037; the rules go on as they are then. So a later year is as one of the last common years whose
// days fall on the same weekdays; a leap year as two of them, one before its 29 February and one from there on: the last leap year like it
// may be decades back, with rules of its own.
struct stand_in {
    static constexpr std::chrono::year last_listed{2037};

    explicit stand_in(std::chrono::sys_seconds at) {
        using namespace std::chrono;
        const sys_days beyond = (last_listed + years(1)) / 1 / 1;
        if (at < beyond) {
            end = beyond;
            return;
        }
        const year_month_day date(floor<days>(std::min(at, sys_seconds(sys_days(year(30'000) / 1 / 1)))));
        const sys_days leap_day = sys_days(date.year() / 2 / 28) + days(1);
        const bool late = date.year().is_leap() && at >= leap_day;
        const auto anchor = [late](year of) { return late ? sys_days(of / 12 / 31) : sys_days(of / 1 / 1); };
        year like = last_listed;
        while (like.is_leap() || weekday(anchor(like)) != weekday(anchor(date.year()))) --like;
        shift = anchor(date.year()) - anchor(like);
        begin = late ? leap_day : sys_days(date.year() / 1 / 1);
        end = date.year().is_leap() && !late ? leap_day : sys_days((date.year() + years(1)) / 1 / 1);
    }

    std::chrono::seconds shift{0};
    std::chrono::sys_seconds begin = std::chrono::sys_seconds::min(), end = std::chrono::sys_seconds::max();
};

} // namespace

time_zone::time_zone(std::string_view name) {
    try {
        const date::time_zone* zone = date::locate_zone(std::string(name));
        if (zone->name() != time_zone().name()) zone_ = zone;
    } catch (const std::runtime_error&) {
        throw std::invalid_argument(
            "cogwheel::time_zone: '" + std::string(name) +
            "' is unknown, but must be a name of the tz database, such as Europe/Berlin or UTC; is the "
            "package tzdata installed?");
    }
}

time_zone time_zone::local() {
    return time_zone(date::current_zone()->name()); // which knows that UTC is UTC
}

std::string time_zone::name() const { return zone_ == nullptr ? "UTC" : zone_of(zone_).name(); }

zone_stretch time_zone::stretch_at(std::chrono::sys_seconds at) const {
    using std::chrono::sys_seconds;
    if (zone_ == nullptr) return {sys_seconds::min(), sys_seconds::max(), std::chrono::seconds(0)};
    const stand_in year(at);
    const date::sys_info info = zone_of(zone_).get_info(date::sys_seconds((at - year.shift).time_since_epoch()));
    return {std::max(sys_seconds(info.begin.time_since_epoch()) + year.shift, year.begin),
            std::min(sys_seconds(info.end.time_since_epoch()) + year.shift, year.end), info.offset};
}

} // namespace cogwheel
