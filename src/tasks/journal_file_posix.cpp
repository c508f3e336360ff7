// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// See journal_file.hpp. Each call is repeated when a signal interrupts it.
#include <cogwheel/detail/platform.hpp>
#include <cogwheel/tasks/detail/journal_file.hpp>

#if !COGWHEEL_WINDOWS

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#if COGWHEEL_LINUX
#include <sys/xattr.h>
#endif
#include <unistd.h>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

constexpr mode_t owner_alone = S_IRUSR | S_IWUSR;

[[noreturn]] void fail_at(const std::filesystem::path& path, const char* what) {
    const int error = errno;
    throw sys::system_error(error, sys::generic_category(),
                            "cogwheel::task_journal: '" + path.string() + "' cannot be " + what);
}

// Repeats a system call that a signal interrupts.
template <class Call>
auto uninterrupted(Call call) {
    auto result = call();
    while (result == -1 && errno == EINTR) result = call();
    return result;
}

int opened(const std::filesystem::path& path, int flags, const char* what) {
    const int descriptor = uninterrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC, owner_alone); });
    if (descriptor == -1) fail_at(path, what);
    return descriptor;
}

struct stat status(int descriptor, const std::filesystem::path& path) {
    struct stat status{};
    if (::fstat(descriptor, &status) == -1) fail_at(path, "read");
    return status;
}

// With access control lists among them. Those that this process may not give, such as a label of SELinux, come from the
// directory.
void copy_attributes([[maybe_unused]] int from, [[maybe_unused]] int to) {
#if COGWHEEL_LINUX
    const auto bytes = [](ssize_t n) { return static_cast<std::size_t>(std::max<ssize_t>(n, 0)); };
    std::string names(bytes(::flistxattr(from, nullptr, 0)), '\0');
    names.resize(bytes(::flistxattr(from, names.data(), names.size())));
    for (std::size_t at = 0; at < names.size(); at += std::strlen(names.c_str() + at) + 1) {
        const char* const name = names.c_str() + at;
        std::string value(bytes(::fgetxattr(from, name, nullptr, 0)), '\0');
        const ssize_t size = ::fgetxattr(from, name, value.data(), value.size());
        if (size >= 0) (void)::fsetxattr(to, name, value.data(), bytes(size), 0);
    }
#endif
}

} // namespace

journal_file::~journal_file() {
    if (file_ != -1) ::close(file_);
}

journal_file journal_file::open(std::filesystem::path path) {
    const int descriptor =
        opened(path, O_RDWR | O_CREAT, "opened for writing; its directory must exist, and both must be writable");
    return {descriptor, std::move(path)};
}

journal_file journal_file::replace(std::filesystem::path path, const journal_file& like) {
    // Removes a symbolic link too: open() would follow it to a file that is not the journal's.
    if (::unlink(path.c_str()) == -1 && errno != ENOENT) fail_at(path, "removed");
    const int descriptor = opened(path, O_RDWR | O_CREAT | O_EXCL, "created");
    journal_file file(descriptor, std::move(path));
    const struct stat old = status(like.file_, like.path_), fresh = status(file.file_, file.path_);
    // Without the right to give it that owner, it has at least that group, or else those of this process.
    const auto give = [&](uid_t owner) { return ::fchown(descriptor, owner, old.st_gid) == 0 || errno == EPERM; };
    if (old.st_uid != fresh.st_uid && !give(old.st_uid)) file.fail("given the owner of the old one");
    if (old.st_gid != fresh.st_gid && !give(static_cast<uid_t>(-1))) file.fail("given the group of the old one");
    copy_attributes(like.file_, descriptor);
    if (::fchmod(descriptor, old.st_mode & 07777) == -1) file.fail("given the permissions of the old one");
    return file;
}

void journal_file::fail(const char* what) const { fail_at(path_, what); }

bool journal_file::try_lock() const {
    if (uninterrupted([&] { return ::flock(file_, LOCK_EX | LOCK_NB); }) == 0) return true;
    if (errno != EWOULDBLOCK) fail("locked");
    return false;
}

std::size_t journal_file::names() const { return static_cast<std::size_t>(status(file_, path_).st_nlink); }

bool journal_file::in_place() const {
    struct stat there{};
    if (::stat(path_.c_str(), &there) == -1) {
        if (errno == ENOENT || errno == ENOTDIR) return false;
        fail("found");
    }
    const struct stat own = status(file_, path_);
    return there.st_dev == own.st_dev && there.st_ino == own.st_ino;
}

std::size_t journal_file::size() const { return static_cast<std::size_t>(status(file_, path_).st_size); }

std::string journal_file::read(std::size_t from, std::size_t to) const {
    std::string bytes(to - from, '\0');
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t n = uninterrupted(
            [&] { return ::pread(file_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(from + done)); });
        if (n == -1) fail("read");
        if (n == 0) break;
        done += static_cast<std::size_t>(n);
    }
    bytes.resize(done);
    return bytes;
}

void journal_file::write(std::size_t at, std::string_view bytes) const {
    while (!bytes.empty()) {
        const ssize_t n =
            uninterrupted([&] { return ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(at)); });
        if (n == -1) fail("written");
        bytes.remove_prefix(static_cast<std::size_t>(n));
        at += static_cast<std::size_t>(n);
    }
}

bool journal_file::reserve(std::size_t from, std::size_t to) const {
    if (from >= to) return true;
#ifdef FALLOC_FL_KEEP_SIZE
    const auto reserved = [&] {
        return ::fallocate(file_, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(from), static_cast<off_t>(to - from));
    };
    if (uninterrupted(reserved) == 0) return true;
    if (errno == ENOSPC || errno == EDQUOT || errno == EIO) fail("written, as erasing its tasks must remain possible");
#endif
    return false;
}

void journal_file::truncate(std::size_t size) const {
    if (uninterrupted([&] { return ::ftruncate(file_, static_cast<off_t>(size)); }) == -1) fail("truncated");
}

void journal_file::sync() const {
    if (uninterrupted([&] { return ::fsync(file_); }) == -1) fail("written to the disk");
}

void journal_file::push([[maybe_unused]] std::size_t from, [[maybe_unused]] std::size_t to) const noexcept {
#ifdef SYNC_FILE_RANGE_WRITE
    (void)::sync_file_range(file_, static_cast<off_t>(from), static_cast<off_t>(to - from),
                            SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
#endif
}

void journal_file::take_name_of(journal_file& old) {
    std::filesystem::path name = old.path_;
    if (::rename(path_.c_str(), name.c_str()) == -1) fail("renamed");
    path_.swap(name);
}

void sync_directory(const std::filesystem::path& path) {
    const int descriptor = opened(path, O_RDONLY | O_DIRECTORY, "opened");
    const int result = uninterrupted([&] { return ::fsync(descriptor); });
    const int error = errno;
    ::close(descriptor);
    errno = error;
    // EINVAL: directories of this file system need no sync.
    if (result == -1 && error != EINVAL) fail_at(path, "written to the disk");
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

#endif
