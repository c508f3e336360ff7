// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Whether this process has asked for huge pages.
#pragma once

#include <cogwheel/detail/platform.hpp>

#include <fstream>
#include <optional>
#include <string>

namespace cogwheel_tests {

/// True if the system has been told of any memory that huge pages are welcome there (proc(5), VmFlags); nothing if it
/// has none, or does not say.
inline std::optional<bool> huge_pages_asked_for() {
    // Wine shows the files of the system, which knows nothing of this process.
    if (COGWHEEL_WINDOWS || !std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled")) return std::nullopt;
    std::ifstream maps("/proc/self/smaps");
    bool says = false;
    for (std::string line; std::getline(maps, line);) {
        if (!line.starts_with("VmFlags:")) continue;
        says = true;
        if (line.find(" hg") != std::string::npos) return true;
    }
    return says ? std::optional(false) : std::nullopt;
}

} // namespace cogwheel_tests
