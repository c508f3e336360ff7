// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A leg: one workload on one contender, in a process of its own, so that no heap and no cache line is shared. The legs
// of a workload live side by side and are called in turn, a repetition each: what disturbs the machine disturbs all.
#pragma once

#include "contenders/contender.hpp"

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace bench {

/// What must be equal for all contenders of a workload.
struct outcome {
    std::uint64_t cancelled = 0;
    std::uint64_t pending = 0; ///< at the end
    tally fired;

    friend bool operator==(const outcome&, const outcome&) = default;
};

/// One repetition. Its layout is what a leg's process writes; those of other languages write the same (peers/).
struct sample {
    double cpu_ns = 0; ///< an operation; zero operations: nothing was timed
    double wall_ns = 0;
    std::uint64_t operations = 0;
    double bytes = 0;        ///< a timer, all live
    double handle_bytes = 0; ///< a timer, that its user keeps beside that
    double mallocs = 0;      ///< an operation
    outcome result;
    std::array<double, 8> figures{}; ///< what the workload says beside that (workload::figures)
    char error[160] = {};            ///< empty: none
};

class leg {
public:
    virtual ~leg() = default;
    virtual sample repeat(std::uint64_t repetition) = 0;
};

static_assert(sizeof(sample) == 10 * 8 + 8 * 8 + 160);

/// What a leg's process does: a sample for each command on standard input, to standard output.
void serve(const std::function<std::unique_ptr<leg>()>& make);

/// A leg in a process of its own: `program --leg WORKLOAD CONTENDER TIMERS`. huge_heap: glibc takes its memory in huge
/// pages there.
class leg_process {
public:
    leg_process(const std::string& program, std::string_view workload, std::string_view contender, std::size_t timers,
                bool huge_heap);
    leg_process(const leg_process&) = delete;
    leg_process& operator=(const leg_process&) = delete;
    ~leg_process();

    /// A child that fails or dies says so in sample::error.
    sample repeat(std::uint64_t repetition);

private:
    pid_t child_ = -1;
    int commands_ = -1;
    int answers_ = -1;
};

} // namespace bench
