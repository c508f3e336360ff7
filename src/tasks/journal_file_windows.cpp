// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// See journal_file.hpp. Files are shared for everything, also for deletion: as on POSIX, a rewritten journal takes the
// name of a file that is still open.
#include <cogwheel/detail/platform.hpp>
#include <cogwheel/tasks/detail/journal_file.hpp>

#if COGWHEEL_WINDOWS

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

#ifndef NOMINMAX // libstdc++ defines it
#define NOMINMAX
#endif
#ifndef WIN32_LEAN_AND_MEAN // without the old sockets, which Asio refuses in a unity build
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

HANDLE handle(std::intptr_t file) noexcept { return reinterpret_cast<HANDLE>(file); }

[[noreturn]] void fail_at(const std::filesystem::path& path, const char* what) {
    const DWORD error = ::GetLastError();
    throw sys::system_error(static_cast<int>(error), sys::system_category(),
                            "cogwheel::task_journal: '" + path.string() + "' cannot be " + what);
}

constexpr DWORD share_all = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

std::intptr_t opened(const std::filesystem::path& path, DWORD how, const char* what) {
    const HANDLE file = ::CreateFileW(path.c_str(), GENERIC_READ | GENERIC_WRITE, share_all, nullptr, how,
                                      FILE_ATTRIBUTE_NORMAL, nullptr);
    if (file == INVALID_HANDLE_VALUE) fail_at(path, what);
    return reinterpret_cast<std::intptr_t>(file);
}

OVERLAPPED at_offset(std::uint64_t offset) noexcept {
    OVERLAPPED where{};
    where.Offset = static_cast<DWORD>(offset);
    where.OffsetHigh = static_cast<DWORD>(offset >> 32);
    return where;
}

DWORD most_at_once(std::size_t bytes) noexcept { return static_cast<DWORD>(std::min(bytes, std::size_t{1} << 30)); }

// POSIX semantics, from Windows 10 1607 on, with NTFS: the old file may be open. Not in all headers.
// By a handle of its own: with the right to delete in that of the journal, most programs could not read the file.
bool renamed_as_posix(const std::filesystem::path& from, const std::filesystem::path& to) {
    constexpr auto rename_info_ex = static_cast<FILE_INFO_BY_HANDLE_CLASS>(22); // FileRenameInfoEx
    constexpr DWORD replace_if_exists = 1, posix_semantics = 2;
    const std::wstring& name = to.native();
    struct header {
        DWORD flags;
        HANDLE root;
        DWORD name_bytes;
        wchar_t name[1];
    };
    std::vector<std::byte> block(sizeof(header) + name.size() * sizeof(wchar_t));
    auto* const info = ::new (block.data())
        header{replace_if_exists | posix_semantics, nullptr, static_cast<DWORD>(name.size() * sizeof(wchar_t)), {}};
    std::copy(name.begin(), name.end(), info->name);
    const HANDLE file =
        ::CreateFileW(from.c_str(), DELETE | SYNCHRONIZE, share_all, nullptr, OPEN_EXISTING, 0, nullptr);
    if (file == INVALID_HANDLE_VALUE) return false;
    const BOOL renamed = ::SetFileInformationByHandle(file, rename_info_ex, info, static_cast<DWORD>(block.size()));
    ::CloseHandle(file);
    return renamed != 0;
}

} // namespace

journal_file::~journal_file() {
    if (file_ != -1) ::CloseHandle(handle(file_));
}

journal_file journal_file::open(std::filesystem::path path) {
    const native file =
        opened(path, OPEN_ALWAYS, "opened for writing; its directory must exist, and both must be writable");
    return {file, std::move(path)};
}

journal_file journal_file::replace(std::filesystem::path path, const journal_file&) {
    ::SetFileAttributesW(path.c_str(), FILE_ATTRIBUTE_NORMAL); // it may be read-only
    if (!::DeleteFileW(path.c_str()) && ::GetLastError() != ERROR_FILE_NOT_FOUND) fail_at(path, "removed");
    const native file = opened(path, CREATE_NEW, "created");
    return {file, std::move(path)};
}

void journal_file::fail(const char* what) const { fail_at(path_, what); }

// The locked byte lies beyond all data, because Windows keeps others from reading a locked part.
bool journal_file::try_lock() const {
    OVERLAPPED where = at_offset(std::uint64_t{1} << 62);
    if (::LockFileEx(handle(file_), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &where)) return true;
    const DWORD error = ::GetLastError();
    if (error != ERROR_LOCK_VIOLATION && error != ERROR_IO_PENDING) fail("locked");
    return false;
}

std::size_t journal_file::names() const {
    BY_HANDLE_FILE_INFORMATION info{};
    if (!::GetFileInformationByHandle(handle(file_), &info)) fail("read");
    return info.nNumberOfLinks;
}

// A file that is open keeps its name until it is closed, or is moved by its journal.
bool journal_file::in_place() const { return true; }

std::size_t journal_file::size() const {
    LARGE_INTEGER size{};
    if (!::GetFileSizeEx(handle(file_), &size)) fail("read");
    return static_cast<std::size_t>(size.QuadPart);
}

std::string journal_file::read(std::size_t from, std::size_t to) const {
    std::string bytes(to - from, '\0');
    std::size_t done = 0;
    while (done < bytes.size()) {
        OVERLAPPED where = at_offset(from + done);
        DWORD n = 0;
        if (!::ReadFile(handle(file_), bytes.data() + done, most_at_once(bytes.size() - done), &n, &where) &&
            ::GetLastError() != ERROR_HANDLE_EOF)
            fail("read");
        if (n == 0) break;
        done += n;
    }
    bytes.resize(done);
    return bytes;
}

void journal_file::write(std::size_t at, std::string_view bytes) const {
    while (!bytes.empty()) {
        OVERLAPPED where = at_offset(at);
        DWORD n = 0;
        if (!::WriteFile(handle(file_), bytes.data(), most_at_once(bytes.size()), &n, &where)) fail("written");
        bytes.remove_prefix(n);
        at += n;
    }
}

bool journal_file::reserve(std::size_t from, std::size_t to) const {
    if (from >= to) return true;
    FILE_ALLOCATION_INFO room{};
    room.AllocationSize.QuadPart = static_cast<LONGLONG>(std::max(to, size())); // less would cut the file off
    if (::SetFileInformationByHandle(handle(file_), FileAllocationInfo, &room, sizeof room)) return true;
    if (::GetLastError() == ERROR_DISK_FULL) fail("written, as erasing its tasks must remain possible");
    return false;
}

void journal_file::truncate(std::size_t size) const {
    FILE_END_OF_FILE_INFO end{};
    end.EndOfFile.QuadPart = static_cast<LONGLONG>(size);
    if (!::SetFileInformationByHandle(handle(file_), FileEndOfFileInfo, &end, sizeof end)) fail("truncated");
}

void journal_file::sync() const {
    if (!::FlushFileBuffers(handle(file_))) fail("written to the disk");
}

void journal_file::push(std::size_t, std::size_t) const noexcept {}

// Another process cannot come between, because it finds the lock file of the journal locked.
void journal_file::take_name_of(journal_file& old) {
    std::filesystem::path name = old.path_;
    if (!renamed_as_posix(path_, name)) {
        ::CloseHandle(handle(std::exchange(old.file_, -1)));
        if (!::MoveFileExW(path_.c_str(), name.c_str(), MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH)) {
            const DWORD error = ::GetLastError();
            old.file_ = opened(name, OPEN_EXISTING, "opened again");
            if (!old.try_lock()) fail_at(name, "locked again");
            ::SetLastError(error);
            fail("renamed");
        }
    }
    path_.swap(name);
}

// NTFS writes names to its own log. There is no call for a directory.
void sync_directory(const std::filesystem::path&) {}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

#endif
