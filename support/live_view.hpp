// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a program shows of itself while it runs, on standard error: on a terminal a block of lines that is drawn again
// in place, elsewhere one plain line after the other. All text is ASCII: a byte is a column.
#pragma once

#include "support/output.hpp"

#include <cogwheel/counts/lateness_histogram.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/ioctl.h>
#include <unistd.h>

namespace output {

struct terminal_size {
    std::size_t columns = 80;
    std::size_t rows = 24;
};

/// The block in place of the last one, which had `above` lines. Each line ends one column before the edge, where some
/// terminals wrap. The cursor ends below the block: what is written next begins there, even if the program is killed.
inline std::string redrawn(const std::vector<std::string>& block, std::size_t above, terminal_size size) {
    // Up, and erase all that is below.
    std::string text = above != 0 ? fmt::format("\r\033[{}A\033[J", above) : std::string{};
    for (const auto& line : block) text += line.substr(0, size.columns - 1) + '\n';
    return text;
}

class live_view {
public:
    void show(std::vector<std::string> block, std::string_view line) {
        if (!terminal_) return complain("{}\n", line);
        terminal_size size;
        if (winsize window{}; ::ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0) {
            if (window.ws_col != 0) size.columns = window.ws_col;
            if (window.ws_row != 0) size.rows = window.ws_row;
        }
        block.resize(std::min(block.size(), size.rows - 1)); // the cursor cannot go above the first row
        // If something else was written in between, the last block is no longer just above: it stays as it is.
        complain("{}", redrawn(block, complaints == complaints_ ? drawn_ : 0, size));
        complaints_ = complaints;
        drawn_ = block.size();
    }

    bool on_terminal() const { return terminal_; }

private:
    static bool can_move_cursor() {
        const char* kind = std::getenv("TERM");
        return ::isatty(STDERR_FILENO) != 0 && (kind == nullptr || std::string_view{kind} != "dumb");
    }

    const bool terminal_ = can_move_cursor();
    std::size_t drawn_ = 0;
    unsigned complaints_ = 0; // at that time
};

// ---- what the lines consist of ------------------------------------------------------------------------------------

inline std::string labelled(std::string_view label, std::string_view text) {
    return fmt::format("{:<10}{}", label, text);
}

/// The label, the count, and a bar of as many of 50 columns as `count` is of `whole`: one at least if it is not zero.
inline std::string labelled_bar(std::string_view label, std::uint64_t count, std::uint64_t whole) {
    constexpr std::uint64_t width = 50;
    const auto filled = count < whole ? (count * width + whole - 1) / whole : count != 0 ? width : 0;
    return labelled(label, fmt::format("{:>7}  {}", count, std::string(filled, '#')));
}

inline std::string to_text(const cogwheel::lateness_histogram& lateness) {
    const auto at = [](std::chrono::nanoseconds value) {
        return std::chrono::duration<double, std::milli>(value).count();
    };
    return fmt::format("p50 {:.2f} ms, p99 {:.2f} ms, max {:.2f} ms", at(lateness.quantile(0.50)),
                       at(lateness.quantile(0.99)), at(lateness.max()));
}

/// How fast a count grows, from one look at it to the next.
class rate {
public:
    explicit rate(std::chrono::steady_clock::time_point start) : looked_{start} {}

    double per_second(std::uint64_t count, std::chrono::steady_clock::time_point now) {
        const std::chrono::duration<double> passed = now - looked_;
        if (passed < shortest) return rate_; // too short a time for a rate
        rate_ = static_cast<double>(count - std::exchange(count_, count)) / passed.count();
        looked_ = now;
        return rate_;
    }

private:
    static constexpr std::chrono::milliseconds shortest{100};

    std::chrono::steady_clock::time_point looked_;
    std::uint64_t count_ = 0;
    double rate_ = 0;
};

} // namespace output
