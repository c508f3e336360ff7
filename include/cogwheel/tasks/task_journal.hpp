// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Stores tasks in a file, so that they outlive the process. POSIX. Target cogwheel::tasks.
//
//     cogwheel::task_journal journal("/var/lib/reports/tasks");
//     cogwheel::task_scheduler tasks(wheel, {.storage = &journal});
//
// - A change whose call has returned survives the death of the process, even by kill -9. With `sync` it also survives a
//   loss of power. If the call throws, the change is not made, and the journal remains usable.
// - A batch is stored as a whole or not at all.
// - No change waits for a whole rewrite: a thread of the journal writes a new file beside the old one.
// - On a full disk, saving may fail, but erasing succeeds if the file system can reserve room for it (on Linux: ext4,
//   xfs, btrfs and tmpfs).
// - If the process died while it wrote a line or batch, opening drops this torn end, and load() reports it. load() also
//   reports where the file is damaged and where lines are missing. The tasks of these lines are as earlier lines say.
//   Opening keeps a copy of a damaged file, "<file>.damaged-<number>".
// - If the file is deleted or moved away while it is in use, changes fail.
// - It does not write to a file that is not a journal, or that a later version wrote; an empty file becomes a journal.
//   Opening turns a journal of version 1 into one of version 2.
//
// It does not share a file between processes, encrypt, or keep history.
#pragma once

#include <cogwheel/tasks/detail/journal_file.hpp>
#include <cogwheel/tasks/detail/journal_scan.hpp>
#include <cogwheel/tasks/task_storage.hpp>

#include <filesystem>
#include <mutex>
#include <span>
#include <thread>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// The options of a task_journal.
struct task_journal_options {
    /// Calls fsync(2) after each change, which takes milliseconds on a disk.
    bool sync = false;

    /// In bytes. The journal never rewrites a smaller file. After a change, it rewrites a larger one if less than half
    /// of it is up to date; after a rewrite that failed, not before the file has doubled. It rewrites no file with hard
    /// links, because these would keep the old file. It rewrites no file with lines of an unknown kind, or without
    /// a correct name or count.
    std::size_t compact_above = std::size_t{1} << 20;
};

/// A text file with a line for each change (detail/journal_scan.hpp).
/// Complexity: a change is usually one pwrite(2) of its own size, and O(log tasks) in memory for each task. The thread
/// that rewrites adds O(log tasks) amortised. Opening and load() read the whole file. Memory: a name and two numbers
/// for each task; during opening, load() or a rewrite, also the file.
/// Thread safety: one call at a time. The journal locks the file: no other journal opens it, even in another process or
/// by the name of a hard link. A child process made by fork() shares the lock.
class task_journal final : public task_storage {
public:
    /// Opens the file, or creates it.
    /// Effects: creates "<file>.lock", which stays. Drops a torn end. A rewrite creates "<file>.new".
    /// Errors: std::system_error with std::errc::device_or_resource_busy if another journal uses the file, and with
    ///   other codes if the file cannot be opened or written. std::invalid_argument if the file is not a journal, or
    ///   has a version that this library cannot read; the file then stays as it is. All messages name the file.
    explicit task_journal(const std::filesystem::path& file, task_journal_options options = {});

    task_journal(const task_journal&) = delete;
    task_journal& operator=(const task_journal&) = delete;
    /// Waits for a rewrite under way.
    ~task_journal() override;

    /// Errors of all three: std::system_error that names the file, such as std::errc::no_space_on_device;
    ///   std::bad_alloc.
    void save(const task_record&) override;
    void save_all(std::span<const task_record>) override;
    void erase(std::string_view name) override;

    /// Returns the tasks, sorted by name. The warnings report damage, missing or unknown lines, hard links, and what
    /// the journal dropped at opening or later. They also name tasks that load() cannot read (for example, the time
    /// zone is not installed). Such tasks stay in the file until they are saved or erased.
    /// Waits for a rewrite under way. Errors: as save() and the constructor.
    contents load() override;

    /// Returns the number of tasks in the file, including those that load() cannot read.
    std::size_t size() const noexcept { return live_.size(); }
    /// Returns the absolute path, without symbolic links.
    const std::filesystem::path& file() const noexcept { return path_; }

private:
    static constexpr std::size_t never = static_cast<std::size_t>(-1);
    // In bytes: the size of the line that saves a task, and the largest size of a line that erases it.
    struct line_sizes {
        std::size_t saved, erased;
    };
    using index = std::map<std::string, line_sizes, std::less<>>;
    struct successor; // the new file, during a rewrite

    std::string read(detail::journal_scan&);
    void keep_damaged(const detail::journal_scan&, std::string_view text);
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
    std::string kept_;                            // what became of a damaged file, in words
    bool lost_its_end_ = false;                   // opening has dropped lines that had been written whole
    std::vector<detail::journal_extent> damaged_; // known damage: a rewrite that finds other damage gives up
    std::size_t end_ = 0;                         // the end of the last line that counts
    std::uint64_t lines_ = 0;                     // the number of that line
    std::size_t live_bytes_ = 0;                  // the size of the file after a rewrite is at most this
    std::size_t erase_bytes_ = 0;                 // the lines that erase all tasks take at most this
    std::size_t reserved_ = 0;                    // the end of the reserved room
    std::size_t compact_from_ = 0;                // no rewrite below this size; raised when one fails
    bool torn_ = false;                           // the file may have bytes after end_
    bool directory_unsynced_ = false;

    // Guards the members above: the thread that rewrites reads them, and changes them at its end.
    std::mutex mutex_;
    // Held by the thread that waits for mutex_. Without it, a thread that makes changes without a pause would keep the
    // thread that rewrites from ever locking mutex_.
    std::mutex turn_;
    bool rewriting_ = false;
    std::thread rewriter_;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
