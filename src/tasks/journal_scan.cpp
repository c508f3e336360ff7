// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// See journal_scan.hpp.
#include "../detail/text_fields.hpp"
#include "crc32.hpp"

#include <cogwheel/tasks/detail/journal_scan.hpp>
#include <cogwheel/tasks/task_record_text.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <stdexcept>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

constexpr std::size_t digits = 8;
constexpr std::size_t number_from = digits + 2; // after the space and the letter
constexpr std::size_t most_number = 19;
static_assert(journal_line_frame >= number_from + most_number + 2); // and the tab and the newline
constexpr std::string_view hex = "0123456789abcdef", decimal = hex.substr(0, 10);

std::array<char, digits> hex_of(std::uint32_t value) {
    std::array<char, digits> text{};
    for (std::size_t i = digits; i-- > 0; value >>= 4) text[i] = hex[value & 15];
    return text;
}

// Returns where the fields begin, or 0 if this does not look like a line.
std::size_t fields_from(std::string_view text) {
    if (text.size() <= number_from || text[digits] != ' ') return 0;
    if (text.substr(0, digits).find_first_not_of(hex) != text.npos) return 0;
    const std::size_t tab = text.find_first_not_of(decimal, number_from);
    return tab != text.npos && text[tab] == '\t' && tab - number_from <= most_number ? tab + 1 : 0;
}

class scanner {
public:
    explicit scanner(std::string_view file) : file_(file) {}

    journal_scan run() {
        std::size_t at = 0;
        // A damaged first line is handled as any damaged line. The lines after it show whether this is a journal.
        if (file_.starts_with(journal_header) || file_.starts_with(journal_header_1)) {
            at = result_.end = journal_header.size();
            last_ = result_.lines = 1;
        }
        while (at < file_.size()) {
            const std::size_t newline = std::min(file_.find('\n', at), file_.size());
            const std::size_t next = std::min(newline + 1, file_.size());
            if (!take(at, newline, next)) take_pieces(at, newline, next);
            at = next;
        }
        const auto torn = [&](const auto& part) { return part.offset >= result_.end; };
        std::erase_if(result_.damaged, torn);
        std::erase_if(result_.missing, torn);
        return std::move(result_);
    }

private:
    // A batch whose lines have not all been read.
    struct batch {
        std::size_t count; // 0: its first line is damaged
        std::size_t next = 0;
        std::uint64_t last = 0;
        std::vector<std::pair<std::string, journal_extent>> lines{};
    };

    // Takes the line at [begin, end); the next one begins at `next`. Returns false if the line is damaged.
    bool take(std::size_t begin, std::size_t end, std::size_t next) {
        const auto line = read_journal_line(file_.substr(begin, end - begin));
        if (!line) return false;
        if (line->number != 0 && line->number <= last_) {
            damaged(begin, next);
            return true;
        }
        count(*line, begin);
        try {
            apply(*line, {begin, end - begin}, next);
        } catch (const std::invalid_argument& e) {
            result_.unknown.emplace_back(begin, e.what());
            reach(next, last_);
        }
        return true;
    }

    // Compares the number of a line with the expected one. After damage it reports no gap: how many lines the damaged
    // part had is not known.
    void count(const journal_line& line, std::size_t begin) {
        const std::uint64_t expected = last_ + 1;
        last_ = line.number != 0 ? line.number : expected;
        if (last_ != expected && !lost_count_) result_.missing.push_back({begin, expected, last_ - 1});
        lost_count_ = false;
    }

    void reach(std::size_t end, std::uint64_t lines) {
        if (end <= result_.end) return;
        result_.end = end;
        result_.lines = lines;
    }

    // Takes the lines in a damaged part: lines without the newline between them, or a line after other bytes. The byte
    // before a line may be a damaged newline.
    void take_pieces(std::size_t begin, std::size_t end, std::size_t next) {
        while (begin < next) {
            const std::size_t piece_end = next_line_in(begin + 1, end);
            const std::size_t piece_next = piece_end == end ? next : piece_end;
            if (take(begin, piece_end, piece_next)) {
                // a whole line
            } else if (piece_end > begin && take(begin, piece_end - 1, piece_end - 1)) {
                damaged(piece_end - 1, piece_next);
            } else {
                damaged(begin, piece_next);
            }
            begin = piece_next;
        }
    }

    std::size_t next_line_in(std::size_t from, std::size_t end) const {
        for (std::size_t tab = from; (tab = file_.find('\t', tab)) < end; ++tab) {
            const std::size_t letter = file_.find_last_not_of(decimal, tab - 1);
            if (letter == file_.npos || letter < from + number_from - 1) continue;
            const std::size_t at = letter - (number_from - 1);
            if (fields_from(file_.substr(at, end - at)) != 0) return at;
        }
        return end;
    }

    void damaged(std::size_t begin, std::size_t end) {
        if (begin == end) return;
        lost_count_ = true;
        if (!result_.damaged.empty()) {
            journal_extent& last = result_.damaged.back();
            if (last.offset + last.size == begin) {
                last.size = end - last.offset;
                return;
            }
        }
        result_.damaged.push_back({begin, end - begin});
    }

    void apply(const journal_line& line, journal_extent extent, std::size_t next) {
        if (line.op == 'M') {
            if (!batch_) batch_ = batch{.count = 0};
            batch_->lines.emplace_back(task_name_from(line.fields), extent);
            batch_->next = next;
            batch_->last = last_;
            if (batch_->lines.size() == batch_->count) end_batch();
            return;
        }
        // The batch was written whole: this line was written after it.
        if (batch_) end_batch();
        if (line.op == 'S') {
            result_.latest.insert_or_assign(task_name_from(line.fields), extent);
        } else if (line.op == 'E') {
            result_.latest.erase(unescaped(line.fields));
        } else if (line.op == 'B') {
            batch_ = batch{.count = count_of(line.fields)};
            return;
        } else {
            throw std::invalid_argument(std::string("a line of kind '") + line.op + "' is unknown to this version");
        }
        reach(next, last_);
    }

    static std::size_t count_of(std::string_view text) {
        std::size_t count = 0;
        const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), count);
        if (error != std::errc{} || stopped != text.data() + text.size() || count == 0)
            throw std::invalid_argument("a batch of '" + std::string(text) + "' lines");
        return count;
    }

    void end_batch() {
        for (auto& [name, extent] : batch_->lines) result_.latest.insert_or_assign(std::move(name), extent);
        reach(batch_->next, batch_->last);
        batch_.reset();
    }

    std::string_view file_;
    journal_scan result_;
    std::optional<batch> batch_;
    std::uint64_t last_ = 0; // the number of the line before
    bool lost_count_ = false;
};

} // namespace

void add_journal_line(std::string& to, char op, std::uint64_t number, std::string_view fields) {
    const std::size_t at = to.size();
    to.append(digits, '0').append({' ', op}).append(std::to_string(number)).append(1, '\t').append(fields);
    const auto checksum = hex_of(crc32(std::string_view(to).substr(at + digits + 1)));
    std::copy(checksum.begin(), checksum.end(), to.begin() + static_cast<std::ptrdiff_t>(at));
    to += '\n';
}

std::optional<journal_line> read_journal_line(std::string_view line) {
    const std::size_t fields = fields_from(line);
    if (fields == 0) return std::nullopt;
    const auto checksum = hex_of(crc32(line.substr(digits + 1)));
    if (line.substr(0, digits) != std::string_view(checksum.data(), checksum.size())) return std::nullopt;
    std::uint64_t number = 0;
    std::from_chars(line.data() + number_from, line.data() + fields - 1, number);
    return journal_line{line[digits + 1], number, line.substr(fields)};
}

journal_scan scan_journal(std::string_view file) { return scanner(file).run(); }

std::optional<std::string> other_journal_version(std::string_view file) {
    const std::string_view words = journal_header.substr(0, journal_header.find(' ') + 1);
    const std::size_t newline = file.find('\n');
    if (!file.starts_with(words) || newline == file.npos || file.starts_with(journal_header) ||
        file.starts_with(journal_header_1))
        return std::nullopt;
    const std::string_view number = file.substr(words.size(), newline - words.size());
    if (number.empty() || number.find_first_not_of("0123456789") != number.npos) return std::nullopt;
    return std::string(number);
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
