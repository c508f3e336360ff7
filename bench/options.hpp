// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The command line.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

struct options {
    bool quick = false;
    bool full = false;
    bool help = false;
    std::vector<std::string> only;   ///< workloads, and groups of contenders; empty: all
    std::vector<std::size_t> timers; ///< empty: each workload's own
    std::optional<std::size_t> repeat;
    std::optional<std::string> json;
    int cpu = -1;

    // What a parent asks of its children.
    struct leg_name {
        std::string workload;
        std::string contender;
        std::size_t timers = 0;
    };
    std::optional<leg_name> leg;
    bool asio_version = false;
};

struct usage_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Errors: usage_error, one line.
options parse(int argc, char** argv);

std::string usage();

} // namespace bench
