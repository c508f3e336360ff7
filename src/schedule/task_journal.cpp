// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The order of steps is what keeps tasks: memory first, as a change that is in the file has to be known; then the file; then what is known.
#include <cogwheel/schedule/detail/task_record_text.hpp>
#include <cogwheel/schedule/detail/text_fields.hpp>
#include <cogwheel/schedule/task_journal.hpp>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <system_error>

namespace cogwheel {

using detail::journal_extent;
using detail::journal_file;
using detail::journal_header;

namespace {

constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
constexpr int most_links = 40; // as Linux follows

std::string words_for(const std::filesystem::path& path) { return "cogwheel::task_journal: '" + path.string() + "' "; }

std::filesystem::path with(std::filesystem::path path, const char* suffix) {
    path += suffix;
    return path;
}

// A rewriting replaces the file: it must be found from elsewhere, and a symbolic link to it must stay one, also one to a file that
// does not exist yet, which weakly_canonical() does not follow.
std::filesystem::path settled(const std::filesystem::path& file) {
    std::filesystem::path path = std::filesystem::weakly_canonical(std::filesystem::absolute(file));
    for (int links = 0; std::filesystem::is_symlink(path); ++links) {
        if (links == most_links)
            throw std::system_error(std::make_error_code(std::errc::too_many_symbolic_link_levels),
                                    words_for(file) + "leads to more than 40 symbolic links; give the file itself");
        path = std::filesystem::weakly_canonical(path.parent_path() / std::filesystem::read_symlink(path));
    }
    if (std::filesystem::exists(path) && !std::filesystem::is_regular_file(path))
        throw std::invalid_argument(words_for(path) +
                                    "is no regular file; give the path of a file in a directory of its own");
    return path;
}

// Not on the file itself: whoever opened it just before a rewriting would lock what has become of the old one.
journal_file locked(const std::filesystem::path& path) {
    journal_file lock = journal_file::open(with(path, ".lock"));
    if (!lock.try_lock())
        throw std::system_error(std::make_error_code(std::errc::device_or_resource_busy),
                                words_for(path) +
                                    "is in use by another task_journal; end that process, or give each a file");
    return lock;
}

std::string place(const std::filesystem::path& path, const journal_extent& what) {
    return words_for(path) + "from byte " + std::to_string(what.offset) + " on: " + std::to_string(what.size) +
           " bytes ";
}

} // namespace

task_journal::task_journal(const std::filesystem::path& file, task_journal_options options)
    : path_(settled(file)), options_(options), lock_(locked(path_)), file_(journal_file::open(path_)) {
    directory_unsynced_ = true;
    detail::journal_scan ignored;
    read(ignored);
}

// All that counts; makes the file end with it.
std::string task_journal::read(detail::journal_scan& scan) {
    if (torn_) cut_off();
    std::string text = file_.read_all();
    if (text.size() < journal_header.size() && journal_header.starts_with(text)) {
        if (!text.empty())
            dropped_.push_back(place(path_, {0, text.size()}) + "were not a whole first line, and are dropped");
        end_ = 0;
        cut_off();
        append(journal_header);
        text = journal_header;
    }
    if (const auto version = detail::other_journal_version(text))
        throw std::invalid_argument(words_for(path_) + "is a journal of version " + *version +
                                    ", but must be of version 1; use the library that wrote it, or give another path");
    scan = detail::scan_journal(text);
    if (scan.end == 0)
        throw std::invalid_argument(
            words_for(path_) +
            "is no journal of tasks: its first line must be 'cogwheel-journal 1'; move it away, or give another path");
    end_ = scan.end;
    if (scan.end != text.size()) {
        dropped_.push_back(place(path_, {scan.end, text.size() - scan.end}) +
                           "at the end were not written whole, and are dropped");
        cut_off();
    }
    text.resize(scan.end);
    if (text.back() != '\n') append("\n");
    live_ = scan.latest;
    live_bytes_ = journal_header.size();
    for (const auto& [name, line] : live_) live_bytes_ += line.size + 1;
    compact_from_ = scan.unknown.empty() ? 0 : never;
    return text;
}

task_storage::contents task_journal::load() {
    detail::journal_scan scan;
    const std::string text = read(scan);
    contents all;
    all.warnings = dropped_;
    for (const journal_extent& part : scan.damaged)
        all.warnings.push_back(place(path_, part) + "are damaged; the tasks they spoke of are as the lines before say");
    for (const auto& [offset, why] : scan.unknown)
        all.warnings.push_back(words_for(path_) + "at byte " + std::to_string(offset) + ": " + why);
    for (const auto& [name, line] : live_) {
        try {
            const auto read = detail::read_journal_line(std::string_view(text).substr(line.offset, line.size));
            all.tasks.push_back(detail::task_record_from(read.value().fields));
        } catch (const std::invalid_argument& e) {
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
    const bool batch = records.size() > 1;
    std::string lines;
    if (batch) detail::add_journal_line(lines, 'B', std::to_string(records.size()));
    detail::journal_index changes;
    for (const task_record& record : records) {
        const std::size_t at = lines.size();
        detail::add_journal_line(lines, batch ? 'M' : 'S', detail::to_text(record));
        changes.insert_or_assign(record.task.name, journal_extent{end_ + at, lines.size() - at - 1});
    }
    append(lines);
    note(std::move(changes));
    compact_if_due();
}

void task_journal::erase(std::string_view name) {
    const auto at = live_.find(name);
    if (at == live_.end()) return;
    std::string fields, line;
    detail::add_escaped(fields, name);
    detail::add_journal_line(line, 'E', fields);
    append(line);
    live_bytes_ -= at->second.size + 1;
    live_.erase(at);
    compact_if_due();
}

// Moves nodes: nothing is allocated here.
void task_journal::note(detail::journal_index&& changes) noexcept {
    while (!changes.empty()) {
        auto change = changes.extract(changes.begin());
        live_bytes_ += change.mapped().size + 1;
        const auto done = live_.insert(std::move(change));
        if (done.inserted) continue;
        live_bytes_ -= done.position->second.size + 1;
        done.position->second = done.node.mapped();
    }
}

void task_journal::append(std::string_view lines) {
    if (torn_) cut_off();
    torn_ = true;
    try {
        file_.append(lines);
        if (options_.sync) {
            file_.sync();
            if (directory_unsynced_) detail::sync_directory(path_.parent_path());
            directory_unsynced_ = false;
        }
    } catch (...) {
        try {
            cut_off();
        } catch (const std::system_error&) {
            // Whoever writes or reads next tries again.
        }
        throw;
    }
    torn_ = false;
    end_ += lines.size();
}

void task_journal::cut_off() {
    torn_ = true;
    file_.truncate(end_);
    torn_ = false;
}

void task_journal::compact_if_due() noexcept {
    if (end_ <= options_.compact_above || end_ < compact_from_ || end_ <= 2 * live_bytes_) return;
    try {
        compact();
        compact_from_ = 0;
    } catch (...) {
        // The change was made, and the old file has everything. Tried at each change, this would cost O(n) each.
        compact_from_ = 2 * end_;
    }
}

// Copies lines instead of writing them anew, so that those stay that mean nothing to this version or on this machine.
void task_journal::compact() {
    const std::string old = file_.read_all();
    std::string text(journal_header);
    std::vector<journal_extent> moved;
    moved.reserve(live_.size());
    for (const auto& [name, line] : live_) {
        const auto read =
            detail::read_journal_line(std::string_view(old).substr(std::min(line.offset, old.size()), line.size));
        if (!read) throw std::runtime_error("damaged since it was opened: the next load() says so");
        moved.push_back({text.size(), line.size});
        detail::add_journal_line(text, 'S', read->fields);
    }
    const std::filesystem::path name = with(path_, ".new");
    journal_file fresh = journal_file::replace(name, file_);
    try {
        fresh.append(text);
        fresh.sync();
        fresh.rename_to(path_);
    } catch (...) {
        std::error_code ignored;
        std::filesystem::remove(name, ignored);
        throw;
    }
    // From here on the new file is the journal, and nothing throws.
    file_ = std::move(fresh);
    end_ = live_bytes_ = text.size();
    auto line = moved.begin();
    for (auto& [task, extent] : live_) extent = *line++;
    try {
        directory_unsynced_ = true;
        detail::sync_directory(path_.parent_path());
        directory_unsynced_ = false;
    } catch (const std::system_error&) {
        // The next change with `sync` has to do it.
    }
}

} // namespace cogwheel
