// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Where a filter refuses the system calls that not each system has, a journal does without (docs/platforms.md).
#include <cogwheel/detail/platform.hpp>

#if COGWHEEL_LINUX

#include "support/refused_calls.hpp"
#include "support/tasks/journal_rig.hpp"

#include <cogwheel/tasks/task_journal.hpp>

#include <doctest/doctest.h>

#include <cerrno>
#include <string>

using namespace cogwheel_tests;

#ifndef __SANITIZE_THREAD__ // it starts no threads in a child, and the journal has one
TEST_CASE("journal_without_the_calls_that_a_filter_refuses_keeps_its_tasks_and_is_rewritten") {
    if (!can_refuse()) return;
    const std::vector<refused_call> calls{
        {SYS_fallocate},        {SYS_flistxattr}, {SYS_fgetxattr}, {SYS_fsetxattr},
#ifdef SYS_sync_file_range
        {SYS_sync_file_range},
#endif
#ifdef SYS_sync_file_range2
        {SYS_sync_file_range2},
#endif
    };
    for (const int error : {EPERM, ENOSYS}) {
        CAPTURE(error);
        const scratch_directory at;
        forked child([&] {
            if (!refuse(calls, error)) return false;
            const std::string body(100, 'x');
            {
                cogwheel::task_journal journal(at / "tasks", {.compact_above = 1000});
                std::size_t saved = 0;
                do journal.save(record_of("task" + std::to_string(saved % 3), body));
                while (std::filesystem::file_size(at / "tasks") >= ++saved * body.size()); // until it is rewritten
            }
            cogwheel::task_journal again(at / "tasks");
            return again.load().tasks.size() == 3;
        });
        CHECK(child.result() == 0);
    }
}
#endif

#endif
