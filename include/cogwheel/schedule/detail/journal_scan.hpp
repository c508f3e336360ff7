// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The lines of a journal, and what a journal says as a whole, whatever has happened to it. No input or output is done here.
//
//     cogwheel-journal 2
//     5f1d1c33 S2<tab>fields               a task is as the fields say (task_record_text.hpp)
//     0a8f3e90 E3<tab>name                 there is no such task any more
//     91c02b7e B4<tab>2                    a batch: the next two lines count together or not at all
//     c1d2e3f4 M5<tab>fields               one of it, as S
//
// First the CRC-32 of all that follows the space, in eight small hex digits. The letter is followed by the number of the line: one that is
// missing as a whole is noticed at the next. A tab is nowhere in a field, so that a line can be found again in the midst of rubbish: by eight
// digits, a space, a letter, a number and a tab.
//
// Version 1 had no numbers. Its lines are read as well, and are counted; a file that begins with them may go on with lines of version 2.
//
// What is at the end and says nothing is torn: a line or batch that was being written when the process died. A batch that lacks a line
// but has something behind it had been written whole and is damaged: what is left of it counts. A line whose number has been before is
// a copy of an old one: it is damage, and does not count. Complexity: O(bytes).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cogwheel::detail {

inline constexpr std::string_view journal_header = "cogwheel-journal 2\n";
inline constexpr std::string_view journal_header_1 = "cogwheel-journal 1\n";
static_assert(journal_header.size() == journal_header_1.size());

/// Of a line, its newline included, without its fields: at most.
inline constexpr std::size_t journal_line_frame = 32;

struct journal_line {
    char op;
    std::uint64_t number; // 0: of version 1
    std::string_view fields;
};

void add_journal_line(std::string& to, char op, std::uint64_t number, std::string_view fields);

/// Of a line without its newline, which has to outlive the result. Nothing: it is damaged.
std::optional<journal_line> read_journal_line(std::string_view line);

/// A part of a file; of a line: without its newline.
struct journal_extent {
    std::size_t offset = 0;
    std::size_t size = 0;

    friend bool operator==(const journal_extent&, const journal_extent&) = default;
};

using journal_index = std::map<std::string, journal_extent, std::less<>>;

/// Lines that are missing as a whole.
struct journal_gap {
    std::size_t offset = 0; // of what stands in their place
    std::uint64_t first = 0, last = 0;

    friend bool operator==(const journal_gap&, const journal_gap&) = default;
};

struct journal_scan {
    /// Of each task the line that says how it is.
    journal_index latest;
    /// Up to `end`.
    std::vector<journal_extent> damaged;
    std::vector<journal_gap> missing;
    /// Lines that are whole and mean nothing here: where, and why.
    std::vector<std::pair<std::size_t, std::string>> unknown;
    /// What follows is torn. 0: nothing was found that is a journal's.
    std::size_t end = 0;
    /// The number of the last line before `end`.
    std::uint64_t lines = 0;
};

journal_scan scan_journal(std::string_view file);

/// The number behind "cogwheel-journal" in the first line, if it is none that can be read.
std::optional<std::string> other_journal_version(std::string_view file);

} // namespace cogwheel::detail
