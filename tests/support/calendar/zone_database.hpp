// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The tz database compiled anew, in both layouts that zic writes, and as the C library reads it.
#pragma once

#include "support/tasks/journal_rig.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <optional>
#include <utility>

namespace cogwheel_tests {

/// A variable of the environment, for as long as this lives. One at a time, and no thread beside.
class environment_variable {
public:
    environment_variable(const char* name, const std::string& value) : name_(name) {
        if (const char* const said = std::getenv(name)) before_ = said;
        ::setenv(name, value.c_str(), 1);
    }
    environment_variable(const environment_variable&) = delete;
    environment_variable& operator=(const environment_variable&) = delete;
    ~environment_variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }

private:
    const char* name_;
    std::optional<std::string> before_;
};

/// By the zic of this machine, from the text that Debian's tzdata brings.
class zone_database {
public:
    zone_database() {
        for (const char* const layout : {"slim", "fat"}) {
            const std::string command = "PATH=$PATH:/usr/sbin zic -b " + std::string(layout) + " -d " +
                                        directory(layout) + " /usr/share/zoneinfo/tzdata.zi";
            if (std::system(command.c_str()) != 0) throw std::runtime_error("cannot: " + command);
        }
    }

    /// What TZDIR is to say.
    std::string directory(const char* layout) const { return scratch_ / layout; }

    std::vector<std::string> names() const {
        std::vector<std::string> all;
        const std::filesystem::path top = directory("fat");
        for (const auto& entry : std::filesystem::recursive_directory_iterator(top))
            if (entry.is_regular_file()) all.push_back(entry.path().lexically_relative(top).string());
        std::sort(all.begin(), all.end());
        return all;
    }

private:
    scratch_directory scratch_;
};

/// Of the whole process.
class c_library_zone {
public:
    explicit c_library_zone(const std::string& file) : variable_("TZ", ":" + file) { ::tzset(); }

    /// Returns false for moments after January 2038 where time_t has 32 bits.
    static bool knows(std::chrono::sys_seconds at) { return std::in_range<std::time_t>(at.time_since_epoch().count()); }

    /// Preconditions: knows(at).
    std::chrono::seconds offset(std::chrono::sys_seconds at) const {
        const auto t = static_cast<std::time_t>(at.time_since_epoch().count());
        std::tm fields{};
        ::localtime_r(&t, &fields);
        return std::chrono::seconds(fields.tm_gmtoff);
    }

private:
    environment_variable variable_;
};

} // namespace cogwheel_tests
