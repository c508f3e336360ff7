// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "report.hpp"

#include <doctest/doctest.h>

#include <filesystem>

#include <unistd.h>

using both::report;

namespace {

void check(const report& seen) {
    CHECK(seen.fired == 1);
    CHECK(seen.cancelled == 1);
    CHECK(seen.timed_out == 1);
    CHECK(seen.signalled == 1);
    CHECK(seen.counts_hold);
    CHECK(seen.category == "cogwheel");
    CHECK(seen.message == "the wheel or scheduler has stopped");
}

} // namespace

TEST_CASE("both_asios_in_one_program_share_the_core_and_a_journal") {
    const auto journal =
        (std::filesystem::temp_directory_path() / ("cogwheel-both-" + std::to_string(::getpid()))).string();
    const report first = both::live_standalone("a", journal);
    const report second = both::live_boost("b", journal);
    const report third = both::live_standalone("c", journal);
    std::filesystem::remove(journal);
    std::filesystem::remove(journal + ".lock");

    check(first);
    check(second);
    CHECK(first.wheel != second.wheel); // two types, so nothing of one half can be taken for the other's
    CHECK(first.core == second.core);
    CHECK(first.tasks.empty());
    CHECK(second.tasks == std::set<std::string>{"a"});
    CHECK(third.tasks == std::set<std::string>{"a", "b"});
}
