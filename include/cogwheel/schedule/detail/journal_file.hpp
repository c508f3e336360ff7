// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// An open file of a journal: POSIX calls that are repeated when a signal interrupts them, and fail with a std::system_error that names the
// file. None is inherited by a program that this process starts.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include <sys/stat.h>

namespace cogwheel::detail {

class journal_file {
public:
    /// Creates it if there is none, for its owner alone: a task's body may be anybody's secret.
    static journal_file open(std::filesystem::path path);

    /// Instead of what has this name; with the permissions of `like`.
    static journal_file replace(std::filesystem::path path, const journal_file& like);

    journal_file(journal_file&&) noexcept;
    journal_file& operator=(journal_file&&) noexcept;
    ~journal_file();

    /// Until it is closed; by another process, or another open() of this one. False: someone else has it.
    bool try_lock() const;

    /// More than one: it has hard links.
    std::size_t names() const;

    std::size_t size() const;
    /// Less, if the file ends before.
    std::string read(std::size_t from, std::size_t to) const;
    /// One call of pwrite(2), and further ones for what that leaves.
    void write(std::size_t at, std::string_view bytes) const;
    /// So that writing there does not find the disk full: without changing the size. False: the file system cannot.
    bool reserve(std::size_t from, std::size_t to) const;
    /// What was reserved behind it is gone as well.
    void truncate(std::size_t size) const;
    void sync() const;
    /// Has this part on its way to the disk, so that a sync() finds less to do. A hint.
    void push(std::size_t from, std::size_t to) const noexcept;
    void rename_to(const std::filesystem::path&);

private:
    journal_file(int descriptor, std::filesystem::path path) noexcept;

    struct stat status() const;
    [[noreturn]] void fail(const char* what) const;

    int descriptor_;
    std::filesystem::path path_;
};

/// So that a file that was created or renamed in it is found after a loss of power.
void sync_directory(const std::filesystem::path&);

} // namespace cogwheel::detail
