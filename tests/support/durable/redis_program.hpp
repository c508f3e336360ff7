// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The server that tests start: as redis_program() of tests/support/redis_program.py.
#pragma once

#include <cstdlib>
#include <string>

namespace cogwheel_tests {

/// Returns what the environment variable COGWHEEL_REDIS names, else redis-server, else valkey-server; empty: it is not
/// installed.
inline const std::string& redis_program() {
    static const std::string program = [] {
        const char* const named = std::getenv("COGWHEEL_REDIS");
        const bool asked = named != nullptr && *named != '\0';
        for (const std::string name : {asked ? named : "redis-server", asked ? named : "valkey-server"})
            if (std::system(("command -v '" + name + "' >/dev/null 2>&1").c_str()) == 0) return name;
        return std::string();
    }();
    return program;
}

} // namespace cogwheel_tests
