// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Rewrites a journal. A thread writes a new file beside the old one, and copies the lines that are appended meanwhile.
// When at most 64 KiB of these are left, it takes the lock, copies the rest and renames the new file. Until then the
// old file is complete; from then on the new one is.
#include "quiet_thread.hpp"

#include <cogwheel/tasks/task_journal.hpp>

#include <algorithm>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

using detail::journal_file;
using detail::journal_header;

namespace {

constexpr std::size_t most_under_lock = std::size_t{1} << 16;

// The thread writes this many bytes and waits for the disk before it goes on. Otherwise a system call of a change might
// wait for all that a long fsync(2) writes.
constexpr std::size_t piece = std::size_t{1} << 18;

// Room is reserved in steps of this size, where the disk has it. So a change rarely takes two system calls.
constexpr std::size_t reserve_step = std::size_t{1} << 14;

} // namespace

std::size_t task_journal::reserved_in(const journal_file& file, std::size_t from, std::size_t most) {
    try {
        return file.reserve(from, most + reserve_step) ? most + reserve_step : never;
    } catch (const detail::sys::system_error&) {
        return file.reserve(from, most) ? most : never;
    }
}

struct task_journal::successor {
    // Declared before the file: removes the file's name also when the constructor of the file throws.
    struct name_of_it {
        std::filesystem::path path;
        bool taken_over = false;

        ~name_of_it() {
            error_code ignored;
            if (taken_over || std::filesystem::is_directory(path, ignored)) return; // what is in the way is not ours
            std::filesystem::remove(path, ignored);
        }
    };

    name_of_it name;
    journal_file file;
    std::size_t copied; // the offset in the old file up to which all is copied
    std::string text{journal_header};
    std::size_t end = 0, reserved = 0;
    std::uint64_t lines = 1;

    successor(std::filesystem::path path, const journal_file& old, std::size_t from)
        : name{std::move(path)}, file(journal_file::replace(name.path, old)), copied(from) {
        file.try_lock();
    }
    successor(const successor&) = delete;
    successor& operator=(const successor&) = delete;

    void add(char op, std::string_view fields) {
        detail::add_journal_line(text, op, ++lines, fields);
        if (text.size() >= piece) flush(true);
    }

    void flush(bool push) {
        file.write(end, text);
        if (push) file.push(end, end + text.size());
        end += text.size();
        text.clear();
    }

    // Copies the lines of the old file up to `to`, with the numbers that they have in the new file.
    void follow(const journal_file& old, std::size_t to, bool sync) {
        const std::string all = old.read(copied, to);
        for (std::string_view rest = all; !rest.empty();) {
            const std::size_t size = std::min(rest.find('\n'), rest.size());
            const auto line = detail::read_journal_line(rest.substr(0, size));
            if (!line) throw std::runtime_error("damaged since it was written: the next load() says so");
            add(line->op, line->fields);
            rest.remove_prefix(std::min(size + 1, rest.size()));
        }
        copied = to;
        flush(false);
        if (sync) file.sync();
    }
};

void task_journal::compact_if_due() noexcept {
    if (rewriting_ || end_ <= options_.compact_above || end_ < compact_from_ || end_ <= 2 * live_bytes_) return;
    try {
        await_rewriting(); // joins the thread of the rewriting before, which has ended
        rewriter_ = detail::quiet_thread([this, end = end_, tasks = live_.size()] { rewrite(end, tasks); });
        rewriting_ = true;
    } catch (...) {
        compact_from_ = 2 * end_;
    }
}

void task_journal::await_rewriting() {
    if (rewriter_.joinable()) rewriter_.join();
}

std::unique_lock<std::mutex> task_journal::locked_in_turn() {
    const std::lock_guard next(turn_);
    return std::unique_lock(mutex_);
}

// Copies lines instead of parsing and writing tasks. So lines stay that this version or this machine cannot read.
void task_journal::rewrite(std::size_t end, std::size_t tasks) noexcept {
    bool done = false;
    try {
        refuse_links();
        std::string old = file_.read(0, end);
        const detail::journal_scan scan = detail::scan_journal(old);
        if (scan.damaged != damaged_ || scan.end != end || scan.latest.size() != tasks)
            throw std::runtime_error("damaged since it was opened: the next load() says so");
        std::filesystem::path name = path_;
        successor fresh(name += ".new", file_, end);
        for (const auto& [task, line] : scan.latest)
            fresh.add('S', detail::read_journal_line(std::string_view(old).substr(line.offset, line.size))->fields);
        fresh.flush(true);
        fresh.file.sync();
        std::string().swap(old);
        while (!take_over(fresh)) {
        }
        done = true; // the end of this block closes the old file, without the lock: the disk takes its time to free it
    } catch (...) {
        // The old file is complete. The next rewriting waits until it has doubled: one at each change would cost O(n)
        // each.
    }
    if (done) sync_the_name();
    const auto lock = locked_in_turn();
    compact_from_ = done ? 0 : 2 * end_;
    rewriting_ = false;
}

void task_journal::refuse_links() const {
    if (file_.names() > 1) throw std::runtime_error("its hard links would be left behind: load() says so");
}

// Makes the new file the journal. Returns false if too much was left to do under the lock, after it has done that
// without the lock.
bool task_journal::take_over(successor& fresh) {
    auto lock = locked_in_turn();
    const std::size_t end = end_;
    const std::size_t most = fresh.end + (end - fresh.copied) + erase_bytes_;
    if (end - fresh.copied > most_under_lock || most > fresh.reserved) {
        lock.unlock();
        fresh.follow(file_, end, options_.sync);
        fresh.reserved = reserved_in(fresh.file, fresh.end, most);
        return false;
    }
    fresh.follow(file_, end, options_.sync);
    refuse_links();
    if (!file_.in_place()) throw std::runtime_error("its path leads to another file, which is not ours");
    fresh.file.take_name_of(file_);
    // From here on the new file is the journal, and nothing throws.
    fresh.name.taken_over = true;
    file_ = std::move(fresh.file);
    end_ = fresh.end;
    lines_ = fresh.lines;
    reserved_ = fresh.reserved;
    torn_ = false;
    directory_unsynced_ = true;
    damaged_.clear();
    return true;
}

void task_journal::sync_the_name() noexcept {
    try {
        detail::sync_directory(path_.parent_path());
        const auto lock = locked_in_turn();
        directory_unsynced_ = false;
    } catch (const detail::sys::system_error&) {
        // The next change with `sync` tries again.
    }
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
