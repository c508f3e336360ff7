// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Disks that are full, slow, or fail. A full one is a file system in memory; for the others, some system calls of this
// program go through here.
#include "support/refusal.hpp"
#include "support/tasks/journal_rig.hpp"

#include <cogwheel/tasks/task_journal.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <functional>
#include <mutex>
#include <thread>

#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace cogwheel;
using namespace cogwheel_tests;
namespace fs = std::filesystem;

namespace {

enum class disk_call { write, sync, cut };

/// Is asked before each call; the error with which it is to fail, or 0. Only while no other thread of the program
/// calls.
std::function<int(disk_call, std::size_t bytes)> disk_answer;

int disk_asked(disk_call call, std::size_t bytes) {
    const int error = disk_answer ? disk_answer(call, bytes) : 0;
    if (error != 0) errno = error;
    return error;
}

class disk_answers {
public:
    template <class F>
    explicit disk_answers(F f) {
        disk_answer = std::move(f);
    }
    disk_answers(const disk_answers&) = delete;
    disk_answers& operator=(const disk_answers&) = delete;
    ~disk_answers() { disk_answer = nullptr; }
};

} // namespace

// Where registers have 32 bits, the system takes an offset in two; with ARM's calls, in an even one and the next.
#if !defined(SYS_ftruncate64)
#define HALVES(offset) (offset)
#elif defined(__arm__)
#define HALVES(offset) 0, static_cast<long>(offset), static_cast<long>((offset) >> 32)
#else
#define HALVES(offset) static_cast<long>(offset), static_cast<long>((offset) >> 32)
#endif

// The linker finds these before those of the C library, which do the same.
extern "C" {
int fsync(int descriptor) {
    return disk_asked(disk_call::sync, 0) != 0 ? -1 : static_cast<int>(::syscall(SYS_fsync, descriptor));
}
int ftruncate(int descriptor, off_t size) noexcept {
    if (disk_asked(disk_call::cut, 0) != 0) return -1;
#ifdef SYS_ftruncate64
    return static_cast<int>(::syscall(SYS_ftruncate64, descriptor, HALVES(size)));
#else
    return static_cast<int>(::syscall(SYS_ftruncate, descriptor, size));
#endif
}
ssize_t pwrite(int descriptor, const void* bytes, std::size_t size, off_t at) {
    return disk_asked(disk_call::write, size) != 0 ? -1 : ::syscall(SYS_pwrite64, descriptor, bytes, size, HALVES(at));
}
}

namespace {

// Lets the other thread go on until a change has been made: true. Or it is held up by what this thread does: false.
class journal_changes {
public:
    void made() {
        const std::lock_guard lock(mutex_);
        ++count_;
        changed_.notify_all();
    }
    void end() {
        const std::lock_guard lock(mutex_);
        over_ = true;
        changed_.notify_all();
    }
    // Gives a slow disk a moment to catch up.
    void rest() {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, std::chrono::milliseconds(1), [&] { return over_; });
    }
    bool more(int n) {
        std::unique_lock lock(mutex_);
        const int then = count_ + n;
        return changed_.wait_for(lock, std::chrono::seconds(10), [&] { return over_ || count_ >= then; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int count_ = 0;
    bool over_ = false;
};

} // namespace

TEST_CASE("journal_changes_wait_neither_for_the_disk_nor_for_more_than_64_KiB_of_a_rewriting") {
    const scratch_directory directory;
    task_journal journal(directory / "tasks", {.compact_above = 1U << 19});
    const std::string body(400, 'x');
    std::map<std::string, std::string> want;
    for (int n = 0; n < 400; ++n) {
        want[std::to_string(n)] = body;
        journal.save(record_of(std::to_string(n), body));
    }
    const auto caller = std::this_thread::get_id();
    journal_changes changes;
    std::atomic<int> waited = 0, held_up = 0, synced_here = 0;
    std::atomic<std::size_t> most_written_here = 0;
    const disk_answers answers([&](disk_call call, std::size_t bytes) {
        if (std::this_thread::get_id() == caller) {
            if (call == disk_call::sync) ++synced_here;
            most_written_here = std::max(most_written_here.load(), bytes);
        } else if (call == disk_call::sync || bytes > (1U << 16)) {
            // At first so many that what they append has to be copied without the lock as well.
            if (!changes.more(++waited < 8 ? 300 : 1)) ++held_up;
        }
        return 0;
    });
    std::uintmax_t size = 0;
    bool rewritten = false;
    for (int n = 0; n < 500'000 && held_up == 0 && (waited < 12 || !rewritten); ++n) {
        const std::string changed = std::to_string(n) + body;
        journal.save(record_of(std::to_string(n % 400), changed));
        want[std::to_string(n % 400)] = changed;
        changes.made();
        if (n > 50'000) changes.rest();
        const auto before = std::exchange(size, fs::file_size(journal.file()));
        rewritten = rewritten || size < before;
    }
    changes.end();
    const auto all = journal.load();
    CHECK(rewritten);
    CHECK(waited >= 12);
    CHECK(held_up == 0);
    CHECK(synced_here == 0);
    CHECK(most_written_here < 600); // its own line
    CHECK(joined(all.warnings) == "");
    CHECK(bodies_of(all) == want);
}

TEST_CASE("journal_rewriting_that_the_disk_fails_leaves_nothing_behind") {
    const scratch_directory directory;
    const auto caller = std::this_thread::get_id();
    for (const disk_call failing : {disk_call::write, disk_call::sync}) {
        const fs::path file = directory / (failing == disk_call::write ? "written" : "synced");
        task_journal journal(file, {.compact_above = 1000});
        std::atomic<int> failed = 0;
        {
            const disk_answers answers([&](disk_call call, std::size_t) {
                return std::this_thread::get_id() != caller && call == failing ? ++failed, EIO : 0;
            });
            for (int n = 0; n < 20; ++n) journal.save(record_of("a", std::to_string(n)));
            CHECK(bodies_of(journal.load()) == std::map<std::string, std::string>{{"a", "19"}});
        }
        CHECK(failed == 1);
        CHECK(fs::file_size(file) > 1000);
        CHECK(!fs::exists(file.string() + ".new"));
        const auto size = fs::file_size(file);
        for (int n = 0; n < 80 && fs::file_size(file) >= size; ++n) {
            journal.save(record_of("a", std::to_string(n)));
            CHECK(bodies_of(journal.load()) == std::map<std::string, std::string>{{"a", std::to_string(n)}});
        }
        CHECK(fs::file_size(file) < size);
    }
}

TEST_CASE("journal_change_that_was_not_synced_is_cut_off_and_that_is_synced") {
    const scratch_directory directory;
    task_journal journal(directory / "tasks", {.sync = true});
    journal.save(record_of("a", "1"));
    const std::string before = bytes_of(journal.file());
    std::vector<disk_call> calls;
    int failures = 1;
    const disk_answers answers([&](disk_call call, std::size_t) {
        calls.push_back(call);
        return call == disk_call::sync && failures-- > 0 ? EIO : 0;
    });
    using enum disk_call;
    CHECK_THROWS_AS(journal.save(record_of("a", "2")), std::system_error);
    CHECK(calls == std::vector{write, sync, cut, sync});
    CHECK(bytes_of(journal.file()) == before);

    // Failing as well, it is done before the next change.
    calls.clear();
    failures = 2;
    CHECK_THROWS_AS(journal.save(record_of("a", "2")), std::system_error);
    CHECK(bytes_of(journal.file()) == before);
    journal.save(record_of("b", "1"));
    CHECK(calls == std::vector{write, sync, cut, sync, cut, sync, write, sync});
    CHECK(bodies_of(journal.load()) == std::map<std::string, std::string>{{"a", "1"}, {"b", "1"}});
}

TEST_CASE("journal_change_that_failed_and_could_not_be_cut_off_is_not_read") {
    const scratch_directory directory;
    task_journal journal(directory / "tasks", {.sync = true});
    journal.save(record_of("a", "1"));
    {
        const disk_answers answers([&](disk_call call, std::size_t) { return call == disk_call::write ? 0 : EIO; });
        CHECK_THROWS_AS(journal.save(record_of("a", "2")), std::system_error);
    }
    const auto all = journal.load();
    CHECK(joined(all.warnings) == ""); // it was refused: that is all there is to say
    CHECK(bodies_of(all) == std::map<std::string, std::string>{{"a", "1"}});
}

TEST_CASE("journal_whose_torn_end_cannot_be_cut_off_is_not_opened") {
    const scratch_directory directory;
    const fs::path file = directory / "tasks";
    {
        task_journal(file).save(record_of("a", "1"));
    }
    const std::string torn = bytes_of(file) + "12345678 S3\thalf a li";
    put_bytes(file, torn);
    {
        const disk_answers answers([&](disk_call call, std::size_t) { return call == disk_call::cut ? EIO : 0; });
        CHECK_THROWS_AS(task_journal{file}, std::system_error);
    }
    CHECK(bytes_of(file) == torn);
    CHECK(bodies_of(task_journal(file).load()) == std::map<std::string, std::string>{{"a", "1"}});
}

namespace {

// In a process of its own, on a disk of `bytes`, which goes with it. 0: f has returned 0. 77: it must not mount one.
template <class F>
int on_a_disk_of(std::size_t bytes, const fs::path& mounted, F f) {
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
        const std::string size = "size=" + std::to_string(bytes);
        if (::unshare(CLONE_NEWNS) == -1 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == -1) ::_exit(77);
        (void)::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
        if (::mount("none", mounted.c_str(), "tmpfs", 0, size.c_str()) == -1) ::_exit(77);
        int result = 99;
        try {
            result = f();
        } catch (const std::exception& e) {
            std::fprintf(stderr, "%s\n", e.what());
        }
        if (result != 0) std::fprintf(stderr, "on a full disk: line %d\n", result);
        ::_exit(result == 0 ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool journal_is_full(task_journal& journal, const task_record& record) {
    try {
        journal.save(record);
        return false;
    } catch (const std::system_error& e) {
        if (e.code() != std::errc::no_space_on_device) throw;
        return says(e.what(), journal.file().string());
    }
}

enum class filling { one_by_one, at_once, after_a_rewriting, by_the_process_before };

// 0, or the line of what went wrong.
int erase_all_on_a_full_disk(const fs::path& directory, filling how) {
    const fs::path file = directory / "tasks";
    const auto name = [](int n) { return std::to_string(n) + "\x01 of many"; };
    {
        task_journal journal(file, {.compact_above = 100'000});
        for (int n = 0; how == filling::after_a_rewriting && n < 2000; ++n) journal.save(record_of(name(0), ""));
        journal.load();
        if (fs::file_size(file) > 110'000) return __LINE__;
        int saved = 0;
        if (how == filling::at_once) {
            std::vector<task_record> batch;
            while (batch.size() < 5000) batch.push_back(record_of(name(saved++), ""));
            const auto too_much = [&] {
                try {
                    journal.save_all(batch);
                    return false;
                } catch (const std::system_error&) {
                    return true; // what is refused takes nothing of what is reserved
                }
            };
            while (too_much()) batch.resize(batch.size() - 100);
        }
        while (!journal_is_full(journal, record_of(name(saved), ""))) ++saved;
        if (journal.size() < 1000) return __LINE__;
        put_bytes(directory / "others", std::string(1U << 20, 'x')); // as far as it goes
        if (!journal_is_full(journal, record_of("b", ""))) return __LINE__;
        if (how != filling::by_the_process_before) {
            while (saved >= 0) journal.erase(name(saved--));
            if (journal.size() != 0) return __LINE__;
        }
    }
    task_journal journal(file);
    if (how != filling::by_the_process_before && journal.size() != 0) return __LINE__;
    for (const task_record& record : journal.load().tasks) journal.erase(record.task.name);
    const auto all = journal.load();
    return all.tasks.empty() && all.warnings.empty() ? 0 : __LINE__;
}

} // namespace

TEST_CASE("journal_erases_every_task_on_a_full_disk") {
    for (const filling how :
         {filling::one_by_one, filling::at_once, filling::after_a_rewriting, filling::by_the_process_before}) {
        CAPTURE(static_cast<int>(how));
        const scratch_directory directory;
        fs::create_directory(directory / "disk");
        const int result = on_a_disk_of(512U << 10, directory / "disk",
                                        [&] { return erase_all_on_a_full_disk(directory / "disk", how); });
        if (result == 77)
            MESSAGE("left out: a file system cannot be mounted here");
        else
            CHECK(result == 0);
    }
}
