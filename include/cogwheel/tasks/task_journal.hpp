// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Stores tasks in a file, so that they outlive the process. POSIX. Target cogwheel::tasks.
//
//     cogwheel::task_journal journal("/var/lib/reports/tasks");
//     cogwheel::task_scheduler tasks(wheel, {.storage = &journal});
//
// - A change whose call has returned survives the death of the process, also by kill -9. With `sync` it survives a loss
//   of power. If the call has thrown, the change was not made, and the journal remains usable.
// - A batch is stored as a whole or not at all.
// - No change waits for a whole rewriting: a thread of the journal writes a new file beside the old one.
// - A full disk refuses to save, but not to erase: the journal reserves room for that, where the file system can (on
//   Linux ext4, xfs, btrfs and tmpfs).
// - Opening drops an end that the process was writing when it died, and load() reports it. load() also reports the
//   place of damage and of missing lines; the tasks in them are as earlier lines say.
// - It does not write to a file that is no journal, or is one of a later version. A journal of version 1 becomes one of
//   version 2.
//
// It does not share a file between processes, encrypt, or keep history.
#pragma once

#include <cogwheel/tasks/detail/journal_file.hpp>
#include <cogwheel/tasks/detail/journal_scan.hpp>
#include <cogwheel/tasks/task_storage.hpp>

#include <filesystem>
#include <mutex>
#include <thread>

namespace cogwheel {

/// The options of a task_journal.
struct task_journal_options {
    /// Calls fsync(2) after each change, which takes milliseconds on a disk.
    bool sync = false;

    /// In bytes. The journal never rewrites a smaller file. It rewrites a larger one when less than half of it is up to
    /// date. It does not rewrite a file with hard links, because these would keep the old file.
    std::size_t compact_above = std::size_t{1} << 20;
};

/// A text file with a line for each change (detail/journal_scan.hpp).
/// Complexity: a change is one pwrite(2) of its own size: O(1), and O(1) amortised on the thread that rewrites. Opening
/// and load() read the whole file. Memory: a name and two numbers for each task; during load() or a rewriting, the
/// file.
/// Thread safety: one call at a time. A second journal on the file is refused, also by the name of a hard link, and in
/// another process. A process made by fork() shares the lock.
class task_journal final : public task_storage {
public:
    /// Opens the file, or creates it.
    /// Effects: creates "<file>.lock", which stays. Drops a torn end. A rewriting writes "<file>.new".
    /// Errors: std::system_error with std::errc::device_or_resource_busy if another journal uses the file, and with
    ///   other codes if the file cannot be opened or written. std::invalid_argument if the file is no journal, or is
    ///   one of a version that it cannot read; the file stays as it is then. All messages name the file.
    explicit task_journal(const std::filesystem::path& file, task_journal_options options = {});

    task_journal(const task_journal&) = delete;
    task_journal& operator=(const task_journal&) = delete;
    /// Waits for a rewriting under way.
    ~task_journal() override;

    /// Errors of all three: std::system_error that names the file, such as one with std::errc::no_space_on_device.
    void save(const task_record&) override;
    void save_all(std::span<const task_record>) override;
    void erase(std::string_view name) override;

    /// Returns the tasks, sorted by name. The warnings report what was dropped since the file was opened, damage,
    /// missing lines and hard links. They also name tasks that cannot be read here (the time zone is not installed).
    /// Such tasks stay in the file until they are saved or erased. Waits for a rewriting under way.
    /// Errors: as save() and the constructor.
    contents load() override;

    /// Returns the number of tasks in the file, also of those that load() cannot read.
    std::size_t size() const noexcept { return live_.size(); }
    /// Returns the absolute path, without symbolic links.
    const std::filesystem::path& file() const noexcept { return path_; }

private:
    static constexpr std::size_t never = static_cast<std::size_t>(-1);
    // The sizes of a task's lines, in bytes: of the line that saves it, and at most of a line that erases it.
    struct line_sizes {
        std::size_t saved, erased;
    };
    using index = std::map<std::string, line_sizes, std::less<>>;
    struct successor; // the new file, during a rewriting

    std::string read(detail::journal_scan&);
    void write(std::span<const task_record>);
    void append(std::string_view lines, std::uint64_t count);
    static std::size_t reserved_in(const detail::journal_file&, std::size_t from, std::size_t most);
    void reserve(std::size_t most);
    void reserve_if_possible() noexcept;
    void cut_off();
    void note(index&& changes) noexcept;
    void compact_if_due() noexcept;
    void rewrite(std::size_t end, std::size_t tasks) noexcept;
    bool take_over(successor&);
    void refuse_links() const;
    void sync_the_name() noexcept;
    void await_rewriting();
    std::unique_lock<std::mutex> locked_in_turn();

    std::filesystem::path path_;
    task_journal_options options_;
    detail::journal_file lock_, file_;
    index live_;
    std::vector<std::string> dropped_;
    std::vector<detail::journal_extent> damaged_; // known damage: a rewriting that finds more would hide it
    std::size_t end_ = 0;                         // the end of the last line that counts
    std::uint64_t lines_ = 0;                     // the number of that line
    std::size_t live_bytes_ = 0;                  // at most: the size of the file after a rewriting
    std::size_t erase_bytes_ = 0;                 // at most: the size of the lines that erase all tasks
    std::size_t reserved_ = 0;                    // the end of the reserved room
    std::size_t compact_from_ = 0;                // no rewriting below this size; raised when one fails
    bool torn_ = false;                           // the file may have bytes behind end_
    bool directory_unsynced_ = false;

    // Guards the members above: the thread that rewrites reads them, and changes them at its end.
    std::mutex mutex_;
    // Held by the thread that waits for mutex_. Without it, a thread that makes changes without pause would keep the
    // other one from ever locking.
    std::mutex turn_;
    bool rewriting_ = false;
    std::thread rewriter_;
};

} // namespace cogwheel
