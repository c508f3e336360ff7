// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Reads the lines of a journal, also of a damaged one, and says which line holds the state of each task. It does no
// input or output.
//
//     cogwheel-journal 2
//     5f1d1c33 S2<tab>fields               the present state of a task (task_record_text.hpp)
//     0a8f3e90 E3<tab>name                 the task does not exist any more
//     91c02b7e B4<tab>2                    a batch: the next two lines count together or not at all
//     c1d2e3f4 M5<tab>fields               a line of the batch, as S
//
// A line begins with the CRC-32 of all that follows the space, as eight hex digits in lower case. The letter is
// followed by the number of the line: so the scan notices a missing line at the next one. A field contains no tab. So
// the scan finds a line in the middle of damage: eight digits, a space, a letter, a number and a tab.
//
// Lines of version 1 have no numbers. The scan reads and counts them. Lines of version 2 may follow them in a file.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

inline constexpr std::string_view journal_header = "cogwheel-journal 2\n";
inline constexpr std::string_view journal_header_1 = "cogwheel-journal 1\n";
static_assert(journal_header.size() == journal_header_1.size());

/// The largest size of a line without its fields, but with its newline.
inline constexpr std::size_t journal_line_frame = 32;

struct journal_line {
    char op;
    std::uint64_t number; // 0: a line of version 1
    std::string_view fields;
};

void add_journal_line(std::string& to, char op, std::uint64_t number, std::string_view fields);

/// Parses a line, given without its newline. Returns nothing if the line is damaged. Lifetime: `line` outlives the
/// result.
std::optional<journal_line> read_journal_line(std::string_view line);

/// A part of a file. The part of a line does not include its newline.
struct journal_extent {
    std::size_t offset = 0;
    std::size_t size = 0;

    friend bool operator==(const journal_extent&, const journal_extent&) = default;
};

using journal_index = std::map<std::string, journal_extent, std::less<>>;

/// Whole lines that are missing.
struct journal_gap {
    std::size_t offset = 0; // of the line in their place
    std::uint64_t first = 0, last = 0;

    friend bool operator==(const journal_gap&, const journal_gap&) = default;
};

/// What a journal holds. A line or batch at the end that is not whole is torn: the process died while it wrote it. A
/// batch that lacks a line, with other lines after it, was written whole and is damaged: the rest of it counts. A line
/// whose number is not above the last one is a copy of an old line: it is damage, and does not count.
struct journal_scan {
    /// For each task, the line with its present state.
    journal_index latest;
    /// Damaged parts up to `end`.
    std::vector<journal_extent> damaged;
    std::vector<journal_gap> missing;
    /// Whole lines that this version does not understand: the offset, and the reason.
    std::vector<std::pair<std::size_t, std::string>> unknown;
    /// Where the torn end begins. 0: the file contains nothing of a journal.
    std::size_t end = 0;
    /// The number of the last line before `end`.
    std::uint64_t lines = 0;
};

/// Scans a whole file. Complexity: O(bytes).
journal_scan scan_journal(std::string_view file);

/// Returns the version that the first line names, if this library cannot read that version.
std::optional<std::string> other_journal_version(std::string_view file);

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
