// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The command line.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

namespace stress {

struct options {
    unsigned threads = 8;
    std::uint64_t operations = 1'000'000;
    std::uint64_t seed = 1;
    std::optional<std::chrono::seconds> limit;
    bool help = false;
};

struct usage_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Errors: usage_error, one line that names the value, the range and the remedy.
options parse(int argc, char** argv);

std::string usage();

} // namespace stress
