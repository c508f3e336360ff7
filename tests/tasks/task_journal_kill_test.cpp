// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The process that writes a journal is killed at some point: all that it has reported is there, and batches as a whole.
#include "support/tasks/journal_rig.hpp"

#include <cogwheel/tasks/task_journal.hpp>

#include <doctest/doctest.h>

#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

using namespace cogwheel;
using namespace cogwheel_tests;
namespace fs = std::filesystem;

namespace {

[[noreturn]] void journal_save_for_ever(const fs::path& file, int reports) {
    try {
        task_journal journal(file, {.compact_above = 3000});
        for (std::uint32_t n = 1;; ++n) {
            const std::string body = std::to_string(n);
            const task_record batch[] = {record_of("x", body), record_of("y", body), record_of("z", body)};
            journal.save(record_of("first", body));
            journal.save_all(batch);
            if (::write(reports, &n, sizeof n) != sizeof n) break;
        }
    } catch (const std::exception&) {
        // The reader misses a report.
    }
    ::_exit(1);
}

} // namespace

TEST_CASE("journal_of_a_killed_process_has_all_that_was_reported_and_whole_batches") {
    const scratch_directory directory;
    const fs::path file = directory / "tasks";
    for (std::size_t reports = 1; reports < 2000; reports = reports * 2 + 17) {
        fs::remove(file);
        int ends[2];
        REQUIRE(::pipe(ends) == 0);
        const pid_t child = ::fork();
        REQUIRE(child != -1);
        if (child == 0) journal_save_for_ever(file, ends[1]);
        ::close(ends[1]);
        std::uint32_t last = 0;
        for (std::size_t n = 0; n < reports; ++n) REQUIRE(::read(ends[0], &last, sizeof last) == sizeof last);
        ::kill(child, SIGKILL);
        while (::read(ends[0], &last, sizeof last) == sizeof last) {
        }
        ::close(ends[0]);
        ::waitpid(child, nullptr, 0);

        CAPTURE(last);
        auto found = bodies_of(task_journal(file).load());
        CHECK(found["x"] == found["y"]);
        CHECK(found["x"] == found["z"]);
        CHECK((found["x"] == std::to_string(last) || found["x"] == std::to_string(last + 1)));
        CHECK((found["first"] == found["x"] || found["first"] == std::to_string(std::stoul(found["x"]) + 1)));
    }
}
