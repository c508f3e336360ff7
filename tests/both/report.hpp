// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What one half of the program has seen. No Asio is named here.
#pragma once

#include <set>
#include <string>

namespace both {

struct report {
    int fired = 0, cancelled = 0, timed_out = 0, signalled = 0;
    bool counts_hold = false;
    std::string category, message, wheel;
    const void* core = nullptr;  // the address of a function that both halves share
    std::set<std::string> tasks; // those that the journal held
};

/// Runs a context with a wheel to its end, then goes on with the tasks of the journal and adds one.
report live_standalone(const std::string& name, const std::string& journal);
report live_boost(const std::string& name, const std::string& journal);

} // namespace both
