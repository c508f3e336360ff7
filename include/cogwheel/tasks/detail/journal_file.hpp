// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// An open file of a journal, on POSIX and on Windows. If a call of the system fails, the function throws a
// std::system_error that names the file. A program that this process starts inherits no such file.
#pragma once

#include <cogwheel/detail/platform.hpp>
#include <cogwheel/detail/which_asio.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// A file and its path. The destructor closes the file.
class journal_file {
public:
    /// Opens a file for reading and writing, or creates it. Only the owner may read a new file: the body of a task may
    /// be secret. (On Windows, its directory decides that.)
    static journal_file open(std::filesystem::path path);

    /// Removes the file of this name and creates a new one, with the permissions and extended attributes of `like`, and
    /// with its owner and group if this process may give it these.
    static journal_file replace(std::filesystem::path path, const journal_file& like);

    journal_file(journal_file&& other) noexcept
        : file_(std::exchange(other.file_, -1)), path_(std::move(other.path_)) {}
    journal_file& operator=(journal_file&& other) noexcept {
        std::swap(file_, other.file_);
        path_.swap(other.path_);
        return *this;
    }
    ~journal_file();

    /// Locks the file until it is closed. Returns false if another process, or another open() in this one, has locked
    /// it.
    bool try_lock() const;

    /// Returns the number of names of the file: more than one if it has hard links, 0 if it was deleted.
    std::size_t names() const;
    /// Whether its path still leads to it: nobody has moved it away, or put another file in its place.
    bool in_place() const;

    std::size_t size() const;
    /// Returns the bytes from `from` up to `to`, or fewer if the file ends before `to`.
    std::string read(std::size_t from, std::size_t to) const;
    /// Writes with one call of the system, and with further calls if that one wrote only a part.
    void write(std::size_t at, std::string_view bytes) const;
    /// Reserves room, so that a later write there does not find the disk full. The size of the file stays.
    /// Returns false if the file system cannot reserve room. Errors: std::system_error, also if the disk is full.
    bool reserve(std::size_t from, std::size_t to) const;
    /// Cuts the file off at `size`. The room that was reserved behind it is gone as well.
    void truncate(std::size_t size) const;
    void sync() const;
    /// Writes this part to the disk and waits for it, so that sync() has less to do. A hint: other systems than Linux
    /// ignore it.
    void push(std::size_t from, std::size_t to) const noexcept;
    /// Replaces `old`, which stays open, under its name. If only closed files can be replaced (Windows, on exFAT or a
    /// network share), closes it for that, and opens it again if there is an error.
    void take_name_of(journal_file& old);

private:
#if COGWHEEL_WINDOWS
    using native = std::intptr_t; // a HANDLE
#else
    using native = int; // a descriptor
#endif

    journal_file(native file, std::filesystem::path path) noexcept : file_(file), path_(std::move(path)) {}

    [[noreturn]] void fail(const char* what) const;

    native file_; // -1: none
    std::filesystem::path path_;
};

/// Writes a directory to the disk, so that a file created or renamed in it exists after a loss of power.
void sync_directory(const std::filesystem::path&);

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
