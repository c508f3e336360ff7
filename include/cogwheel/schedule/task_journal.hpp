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
// - Nothing waits for a rewriting: it has a thread of its own for as long as it takes, and the new file is beside the old one until then.
// - A disk that is full refuses what is saved, but not what is erased: room for that is reserved, where the file system can (on Linux
//   ext4, xfs, btrfs and tmpfs can).
// - What was being written when the process died is dropped, and said by load(). So is damage in the midst, which costs the lines it
//   is in, and a line that is missing: such a task is as the line before said, and load() names the place.
// - Neither a file that is no journal nor one of a later version is written to. One of version 1 goes on as one of version 2.
//
// Complexity: a change is one pwrite(2) of its own size: O(1), and O(1) amortised on the other thread. Opening and load() read the whole
// file. Memory: a name and two numbers a task; for a load or a rewriting, the file.
//
// It does not: share a file between processes (the second is refused, also by the name of a hard link; a fork() shares the lock),
// encrypt, or keep history.
#pragma once

#include <cogwheel/schedule/detail/journal_file.hpp>
#include <cogwheel/schedule/detail/journal_scan.hpp>
#include <cogwheel/schedule/task_storage.hpp>

#include <filesystem>
#include <mutex>
#include <thread>

namespace cogwheel {

struct task_journal_options {
    /// fsync(2) after each change: milliseconds on a disk.
    bool sync = false;

    /// Bytes. A smaller file is never rewritten, a larger one when it is more than twice as large as what of it counts; not while it has
    /// hard links, which would be left behind.
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
    /// Waits for a rewriting that is under way.
    ~task_journal() override;

    /// Errors of all three: std::system_error that names the file, such as one with std::errc::no_space_on_device.
    void save(const task_record&) override;
    void save_all(std::span<const task_record>) override;
    void erase(std::string_view name) override;

    /// Sorted by name. Warnings: what was dropped since the file was opened; damage; and tasks that mean nothing here (a time zone that is
    /// not installed), which stay in the file until they are saved or erased. Waits for a rewriting that is under way.
    contents load() override;

    /// Those that load() has something to say of.
    std::size_t size() const noexcept { return live_.size(); }
    /// Absolute, without symbolic links.
    const std::filesystem::path& file() const noexcept { return path_; }

private:
    static constexpr std::size_t never = static_cast<std::size_t>(-1);
    // Bytes of its lines: of that which says how it is, and of one that erases it.
    struct line_sizes {
        std::size_t saved, erased;
    };
    using index = std::map<std::string, line_sizes, std::less<>>;
    struct successor; // the new file while it is written

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
    std::vector<detail::journal_extent> damaged_; // a rewriting that finds more would hide it
    std::size_t end_ = 0;          // of the last line that counts
    std::uint64_t lines_ = 0;      // the number of that line
    std::size_t live_bytes_ = 0;   // what a rewriting would leave, at most
    std::size_t erase_bytes_ = 0;  // what it takes to erase all tasks
    std::size_t reserved_ = 0;     // up to there the disk cannot be full
    std::size_t compact_from_ = 0; // no use to try it in a smaller file
    bool torn_ = false;            // there may be something behind end_
    bool directory_unsynced_ = false;

    // The thread that rewrites reads what is above, and changes it when it is done.
    std::mutex mutex_;
    std::mutex
        turn_; // held by who is next: without it a thread that makes changes all the time would keep the other out
    bool rewriting_ = false;
    std::thread rewriter_;
};

} // namespace cogwheel
