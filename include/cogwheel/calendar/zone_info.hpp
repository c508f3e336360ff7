// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Time zones: the local time at a moment, from the system's tz database (files as in RFC 9636).
// Library: cogwheel::calendar.
//
//     const cogwheel::zone_info berlin("Europe/Berlin");
//     berlin.to_local(std::chrono::sys_seconds(0s)); // 1970-01-01 01:00:00
//
// The database is in /usr/share/zoneinfo (/usr/lib, /usr/share/lib, /etc), or where the environment variable TZDIR
// says. A process keeps each zone that it has read. The library neither reads nor sets TZ. std::chrono::time_zone,
// which a program may use beside it, is not available before GCC 13.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {
class zone_rules;
} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {
class zone_info;
} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {
zone_info local_zone(const std::string& etc);
} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// A time zone: a value. Two zones of the same name and directory are equal.
/// Thread safety: any thread may make and use zones.
class zone_info {
public:
    /// The time between two changes of the clocks. For a moment in [begin, end): local time = moment + offset. Without
    /// a change before it, `begin` is sys_seconds::min(); without one after it, `end` is sys_seconds::max().
    struct stretch {
        std::chrono::sys_seconds begin, end;
        std::chrono::seconds offset;
    };

    /// Makes the zone UTC.
    zone_info() noexcept = default;

    /// Makes the zone with this name in the tz database, such as "Europe/Berlin".
    /// Errors: std::invalid_argument with the name and reason: unknown, damaged, unreadable, or with leap seconds.
    explicit zone_info(std::string_view name);

    /// Returns the zone of the system, as the C library has it: that of /etc/localtime. If this file is no link into
    /// the database, the zone gets its name from /etc/timezone, if the zone there agrees. Else it gets the name of a
    /// database file with the same bytes, or "localtime". Without /etc/localtime: the zone in /etc/timezone, or UTC.
    /// Errors: std::invalid_argument, as for the constructor.
    static zone_info local();

    std::string name() const;

    /// Returns the stretch of this moment. After the file's last change, its rule applies. Complexity: O(log changes).
    stretch stretch_at(std::chrono::sys_seconds) const;

    std::chrono::local_seconds to_local(std::chrono::sys_seconds at) const {
        return std::chrono::local_seconds(at.time_since_epoch() + stretch_at(at).offset);
    }

    friend bool operator==(zone_info, zone_info) = default;

private:
    friend zone_info detail::local_zone(const std::string& etc);

    const detail::zone_rules* rules_ = nullptr; // the rules live as long as the process; nullptr: UTC
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
