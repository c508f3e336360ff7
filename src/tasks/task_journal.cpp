// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Makes each change in an order that loses no task. It allocates first, because the index must hold each change that is
// in the file. Then it writes the file, and then it changes the index. journal_rewriting.cpp rewrites the file.
#include "../detail/text_fields.hpp"
#include "crc32.hpp"

#include <cogwheel/tasks/task_journal.hpp>
#include <cogwheel/tasks/task_record_text.hpp>

#include <algorithm>
#include <stdexcept>
#include <system_error>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

using detail::journal_extent;
using detail::journal_file;
using detail::journal_header;
using detail::journal_header_1;
using detail::journal_line_frame;

namespace {

constexpr int most_links = 40; // the limit of Linux

std::string words_for(const std::filesystem::path& path) { return "cogwheel::task_journal: '" + path.string() + "' "; }

std::filesystem::path with(std::filesystem::path path, const char* suffix) {
    path += suffix;
    return path;
}

// Returns the path of the file itself. A rewriting replaces the file: the path must stay valid when the working
// directory changes, and a symbolic link must stay a link. weakly_canonical() does not follow a link to a file that
// does not exist.
std::filesystem::path settled(const std::filesystem::path& file) try {
    std::filesystem::path path = std::filesystem::weakly_canonical(std::filesystem::absolute(file));
    for (int links = 0; std::filesystem::is_symlink(path); ++links) {
        if (links == most_links)
            throw detail::sys::system_error(make_error_code(detail::sys::errc::too_many_symbolic_link_levels),
                                            words_for(file) +
                                                "leads to more than 40 symbolic links; give the file itself");
        path = std::filesystem::weakly_canonical(path.parent_path() / std::filesystem::read_symlink(path));
    }
    if (std::filesystem::exists(path) && !std::filesystem::is_regular_file(path))
        throw std::invalid_argument(words_for(path) +
                                    "is no regular file; give the path of a file in a directory of its own");
    return path;
} catch (const std::filesystem::filesystem_error& error) {
    throw detail::sys::system_error(error.code(), words_for(file) + "cannot be reached");
}

// Opens and locks a file. The journal locks two: "<file>.lock", because a process that opened the file just before a
// rewriting would lock the old file; and the file, because a process that uses a hard link has another "<file>.lock".
journal_file locked(const std::filesystem::path& path, const char* suffix) {
    journal_file lock = journal_file::open(with(path, suffix));
    if (!lock.try_lock())
        throw detail::sys::system_error(make_error_code(detail::sys::errc::device_or_resource_busy),
                                        words_for(path) +
                                            "is in use by another task_journal; end that process, or give each a file");
    return lock;
}

std::string place(const std::filesystem::path& path, const journal_extent& what) {
    return words_for(path) + "from byte " + std::to_string(what.offset) + " on: " + std::to_string(what.size) +
           " bytes ";
}

std::string lines_of(const detail::journal_gap& gap) {
    if (gap.first == gap.last) return "line " + std::to_string(gap.first) + " is";
    return "lines " + std::to_string(gap.first) + " to " + std::to_string(gap.last) + " are";
}

// A process that dies while it writes leaves the beginning of what it wrote: whole lines, and a part of one. Anything
// else was written whole, and is damaged.
bool begins_a_write(std::string_view end) {
    for (std::size_t newline = end.find('\n'); newline != end.npos; newline = end.find('\n')) {
        if (!detail::read_journal_line(end.substr(0, newline))) return false;
        end.remove_prefix(newline + 1);
    }
    return true;
}

} // namespace

task_journal::task_journal(const std::filesystem::path& file, task_journal_options options)
    : path_(settled(file)), options_(options), lock_(locked(path_, ".lock")), file_(locked(path_, "")) {
    directory_unsynced_ = true;
    detail::journal_scan ignored;
    read(ignored);
}

task_journal::~task_journal() { await_rewriting(); }

// Returns the part of the file that counts, and cuts the file off at its end.
std::string task_journal::read(detail::journal_scan& scan) {
    if (torn_) cut_off();
    std::string text = file_.read(0, file_.size());
    if (text.size() < journal_header.size() &&
        (journal_header.starts_with(text) || journal_header_1.starts_with(text))) {
        if (!text.empty())
            dropped_.push_back(place(path_, {0, text.size()}) + "were not a whole first line, and are dropped");
        end_ = 0;
        cut_off();
        append(journal_header, 1);
        text = journal_header;
    }
    if (const auto version = detail::other_journal_version(text))
        throw std::invalid_argument(
            words_for(path_) + "is a journal of version " + *version +
            ", but must be of version 1 or 2; use the library that wrote it, or give another path");
    scan = detail::scan_journal(text);
    if (!scan.damaged.empty() || !scan.missing.empty()) keep_damaged(scan, text);
    if (scan.end == 0)
        throw std::invalid_argument(
            words_for(path_) +
            "is no journal of tasks: its first line must be 'cogwheel-journal 2'; move it away, or give another path");
    end_ = scan.end;
    lines_ = scan.lines;
    if (scan.end != text.size()) {
        const std::string at = place(path_, {scan.end, text.size() - scan.end}) + "at the end ";
        if (begins_a_write(std::string_view(text).substr(scan.end))) {
            dropped_.push_back(at + "were not written whole, and are dropped");
        } else {
            keep_damaged(scan, text);
            lost_its_end_ = true;
            dropped_.push_back(at + "are damaged, and are dropped with the tasks they spoke of; " + kept_);
        }
        cut_off();
    }
    text.resize(scan.end);
    if (text.back() != '\n') append("\n", 0);
    // The lines that follow have numbers. An older library must refuse the file instead of taking them for damage.
    if (text.starts_with(journal_header_1)) file_.write(0, journal_header);
    live_.clear();
    live_bytes_ = journal_header.size();
    erase_bytes_ = 0;
    index found;
    for (const auto& [name, line] : scan.latest) {
        const std::string_view bytes = std::string_view(text).substr(line.offset, line.size);
        const std::size_t fields = detail::read_journal_line(bytes)->fields.find('\t');
        found.insert_or_assign(name, line_sizes{line.size + 1, journal_line_frame + std::min(fields, line.size)});
    }
    note(std::move(found));
    damaged_ = scan.damaged;
    if (!scan.unknown.empty()) compact_from_ = never;
    reserve_if_possible();
    return text;
}

// A rewriting drops what is damaged. A copy stays beside: one for each damage, however often the file is opened.
void task_journal::keep_damaged(const detail::journal_scan& scan, std::string_view text) {
    std::string marks;
    for (const journal_extent& part : scan.damaged) marks += text.substr(part.offset, part.size);
    for (const detail::journal_gap& gap : scan.missing) marks += lines_of(gap);
    marks += text.substr(scan.end);
    constexpr std::string_view digits = "0123456789abcdef";
    std::string suffix = ".damaged-";
    for (int shift = 28; shift >= 0; shift -= 4) suffix += digits[detail::crc32(marks) >> shift & 15];
    const std::filesystem::path copy = with(path_, suffix.c_str());
    kept_ = "the file as it was is kept as '" + copy.string() + "'";
    if (std::filesystem::exists(copy)) return;
    try {
        const std::filesystem::path part = with(path_, ".damaged"); // a copy is whole, or is not there
        const journal_file file = journal_file::replace(part, file_);
        file.write(0, text);
        file.sync();
        std::filesystem::rename(part, copy);
    } catch (const detail::sys::system_error& e) {
        kept_ = std::string("the file as it was is not kept: ") + e.what();
    }
}

task_storage::contents task_journal::load() {
    await_rewriting();
    detail::journal_scan scan;
    const std::string text = read(scan);
    contents all;
    all.warnings = dropped_;
    for (const journal_extent& part : scan.damaged)
        all.warnings.push_back(place(path_, part) + "are damaged; the tasks they spoke of are as the lines before say");
    for (const detail::journal_gap& gap : scan.missing)
        all.warnings.push_back(words_for(path_) + "before byte " + std::to_string(gap.offset) + ": " + lines_of(gap) +
                               " missing; their tasks are as the lines before say");
    all.damaged = !scan.damaged.empty() || !scan.missing.empty();
    if (all.damaged) all.warnings.back() += "; " + kept_;
    all.damaged = all.damaged || lost_its_end_;
    if (file_.names() > 1)
        all.warnings.push_back(words_for(path_) +
                               "has hard links, and is not rewritten as long as it has; remove them, or copy the "
                               "file instead");
    for (const auto& [offset, why] : scan.unknown)
        all.warnings.push_back(words_for(path_) + "at byte " + std::to_string(offset) + ": " + why);
    for (const auto& [name, line] : scan.latest) {
        try {
            const auto read = detail::read_journal_line(std::string_view(text).substr(line.offset, line.size));
            all.tasks.push_back(task_record_from(read.value().fields));
        } catch (const std::invalid_argument& e) {
            all.damaged = true;
            all.warnings.push_back(words_for(path_) + "at byte " + std::to_string(line.offset) + ": task '" + name +
                                   "' is left out, as it cannot be understood: " + e.what());
        }
    }
    return all;
}

void task_journal::save(const task_record& record) { write({&record, 1}); }

void task_journal::save_all(std::span<const task_record> records) {
    if (!records.empty()) write(records);
}

void task_journal::write(std::span<const task_record> records) {
    const auto lock = locked_in_turn();
    const bool batch = records.size() > 1;
    std::uint64_t number = lines_;
    std::string lines;
    if (batch) detail::add_journal_line(lines, 'B', ++number, std::to_string(records.size()));
    index changes;
    std::size_t most = end_ + erase_bytes_;
    for (const task_record& record : records) {
        const std::size_t at = lines.size();
        const std::string fields = to_text(record);
        detail::add_journal_line(lines, batch ? 'M' : 'S', ++number, fields);
        const line_sizes sizes{lines.size() - at, journal_line_frame + fields.find('\t')};
        const bool known =
            !changes.insert_or_assign(record.task.name, sizes).second || live_.contains(record.task.name);
        if (!known) most += sizes.erased;
    }
    reserve(most + lines.size());
    append(lines, number - lines_);
    note(std::move(changes));
    compact_if_due();
}

void task_journal::erase(std::string_view name) {
    const auto lock = locked_in_turn();
    const auto at = live_.find(name);
    if (at == live_.end()) return;
    std::string fields, line;
    detail::add_escaped(fields, name);
    detail::add_journal_line(line, 'E', lines_ + 1, fields);
    append(line, 1);
    live_bytes_ -= at->second.saved;
    erase_bytes_ -= at->second.erased;
    live_.erase(at);
    compact_if_due();
}

// Adds changes to the index. Moves the nodes, so it allocates nothing.
void task_journal::note(index&& changes) noexcept {
    while (!changes.empty()) {
        auto change = changes.extract(changes.begin());
        live_bytes_ += change.mapped().saved;
        erase_bytes_ += change.mapped().erased;
        const auto done = live_.insert(std::move(change));
        if (done.inserted) continue;
        live_bytes_ -= done.position->second.saved;
        erase_bytes_ -= done.position->second.erased;
        done.position->second = done.node.mapped();
    }
}

// Reserves room up to an offset. Called before each save: the saved lines must not take the room for the lines that
// erase them.
void task_journal::reserve(std::size_t most) {
    if (most > reserved_) reserved_ = reserved_in(file_, std::max(end_, reserved_), most);
}

void task_journal::reserve_if_possible() noexcept {
    try {
        reserve(end_ + erase_bytes_);
    } catch (const detail::sys::system_error&) {
        // The disk is full: the next save throws.
    }
}

void task_journal::append(std::string_view lines, std::uint64_t count) {
    if (!file_.in_place())
        throw detail::sys::system_error(make_error_code(detail::sys::errc::no_such_file_or_directory),
                                        words_for(path_) +
                                            "was deleted or moved while it was in use; "
                                            "start the program again, and keep others from its directory");
    if (torn_) cut_off();
    torn_ = true;
    try {
        file_.write(end_, lines);
        if (options_.sync) {
            file_.sync();
            if (directory_unsynced_) detail::sync_directory(path_.parent_path());
            directory_unsynced_ = false;
        }
    } catch (...) {
        try {
            cut_off();
        } catch (const detail::sys::system_error&) {
            // The next write or read tries again.
        }
        throw;
    }
    torn_ = false;
    end_ += lines.size();
    lines_ += count;
}

// Cuts the file off at end_. It also syncs: a refused change may be on the disk, and must not come back after a loss of
// power.
void task_journal::cut_off() {
    torn_ = true;
    reserved_ = 0;
    file_.truncate(end_);
    if (options_.sync) file_.sync();
    torn_ = false;
    reserve_if_possible();
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
