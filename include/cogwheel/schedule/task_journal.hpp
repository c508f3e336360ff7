// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Tasks in a file, for those that are to outlive the process. POSIX; library cogwheel::calendar.
//
//     cogwheel::task_journal journal("/var/lib/reports/tasks");
//
// A text file to which a line is added for each change, and which is rewritten when more than half of it is out of date.
//
// - A change whose call has returned survives the death of the process, kill -9 included; with `sync` a loss of power as well.
// - A change whose call has thrown was not made, and the journal can be used on. A batch is there as a whole or not at all.
// - What was being written when the process died is dropped, and said by load(). So is damage in the midst, which costs the lines it
//   is in: such a task is as the line before said, and load() names the place.
// - Neither a file that is no journal nor one of a later version is written to.
//
// Complexity: a change is one write(2) of its own size, and the share of a rewriting that it causes: O(1) amortised. Opening and load()
// read the whole file. Memory: a name and two numbers a task; for a load or a rewriting, the file.
//
// It does not: share a file between processes (the second is refused; a fork() shares the lock), encrypt, or keep history.
#pragma once

#include <cogwheel/schedule/detail/journal_file.hpp>
#include <cogwheel/schedule/detail/journal_scan.hpp>
#include <cogwheel/schedule/task_storage.hpp>

#include <filesystem>

namespace cogwheel {

struct task_journal_options {
    /// fsync(2) after each change: milliseconds on a disk.
    bool sync = false;

    /// Bytes. A smaller file is never rewritten, a larger one when it is more than twice as large as what of it counts.
    std::size_t compact_above = std::size_t{1} << 20;
};

/// Thread safety: one call at a time.
class task_journal final : public task_storage {
public:
    /// Effects: creates the file and "<file>.lock", which stays; drops an end that is torn. A rewriting uses "<file>.new".
    /// Errors: std::system_error with std::errc::device_or_resource_busy, if it is in use; with others, if it cannot be opened or
    /// written. std::invalid_argument, if it is no journal or one of another version; then it is left alone. All name the file.
    explicit task_journal(const std::filesystem::path& file, task_journal_options options = {});

    task_journal(const task_journal&) = delete;
    task_journal& operator=(const task_journal&) = delete;

    /// Errors of all three: std::system_error that names the file, such as one with std::errc::no_space_on_device.
    void save(const task_record&) override;
    void save_all(std::span<const task_record>) override;
    void erase(std::string_view name) override;

    /// Sorted by name. Warnings: what was dropped since the file was opened; damage; and tasks that mean nothing here (a time zone that is
    /// not installed), which stay in the file until they are saved or erased.
    contents load() override;

    /// Those that load() has something to say of.
    std::size_t size() const noexcept { return live_.size(); }
    /// Absolute, without symbolic links.
    const std::filesystem::path& file() const noexcept { return path_; }

private:
    std::string read(detail::journal_scan&);
    void write(std::span<const task_record>);
    void append(std::string_view lines);
    void cut_off();
    void note(detail::journal_index&& changes) noexcept;
    void compact_if_due() noexcept;
    void compact();

    std::filesystem::path path_;
    task_journal_options options_;
    detail::journal_file lock_, file_;
    detail::journal_index live_;
    std::vector<std::string> dropped_;
    std::size_t end_ = 0;          // of the last line that counts
    std::size_t live_bytes_ = 0;   // what a rewriting would leave
    std::size_t compact_from_ = 0; // no use to try it in a smaller file
    bool torn_ = false;            // there may be something behind end_
    bool directory_unsynced_ = false;
};

} // namespace cogwheel
