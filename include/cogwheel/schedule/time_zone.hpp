// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Time zones: what the clock on the wall says at a moment, from the system's tz database, read as RFC 9636 has it. Library
// cogwheel::calendar.
//
// The database is in /usr/share/zoneinfo, or in the directory that the environment variable TZDIR names; a zone is read once a process.
// No process-wide TZ is read or set.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace cogwheel {

namespace detail {
class zone_rules;
} // namespace detail

/// A stretch of time in which the clocks run evenly: local = moment + offset, in [begin, end).
struct zone_stretch {
    std::chrono::sys_seconds begin, end;
    std::chrono::seconds offset;
};

/// A value; two of the same name and directory are the same. Thread safety: any.
class time_zone {
public:
    /// UTC.
    time_zone() noexcept = default;

    /// A name of the tz database, such as "Europe/Berlin". Errors: std::invalid_argument that names the zone and says what is wrong: it is
    /// unknown, its file is damaged, or counts leap seconds.
    explicit time_zone(std::string_view name);

    /// The system's own. Errors: std::runtime_error, if that cannot be found out.
    static time_zone local();

    std::string name() const;

    /// The rules that hold now go on for ever. Complexity: O(log changes).
    zone_stretch stretch_at(std::chrono::sys_seconds) const;

    std::chrono::local_seconds to_local(std::chrono::sys_seconds at) const {
        return std::chrono::local_seconds(at.time_since_epoch() + stretch_at(at).offset);
    }

    friend bool operator==(time_zone, time_zone) = default;

private:
    const detail::zone_rules* rules_ = nullptr; // which live as long as the process; nullptr: UTC
};

} // namespace cogwheel
