// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// An assertion that fails says where and what, and ends the program.
#include <cogwheel/detail/assertion.hpp>
#include <cogwheel/detail/platform.hpp>

#include <doctest/doctest.h>

#if !COGWHEEL_WINDOWS && !defined(NDEBUG)

#include <array>
#include <csignal>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

TEST_CASE("assertion_that_holds_is_silent_and_one_that_fails_names_its_place") {
    COGWHEEL_ASSERT(2 + 2 == 4);
    std::array<int, 2> ends{};
    REQUIRE(pipe(ends.data()) == 0);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    constexpr int line = __LINE__ + 4;
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        std::signal(SIGABRT, SIG_DFL); // doctest has one of its own
        COGWHEEL_ASSERT(2 + 2 == 5 && "a sum");
        _exit(0);
    }
    close(ends[1]);
    std::string text;
    std::array<char, 256> piece{};
    for (ssize_t n = 0; (n = read(ends[0], piece.data(), piece.size())) > 0;)
        text.append(piece.data(), static_cast<std::size_t>(n));
    close(ends[0]);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGABRT);
    CHECK(text.starts_with("cogwheel: assertion failed: "));
    CHECK(text.ends_with("assertion_test.cpp:" + std::to_string(line) + ": 2 + 2 == 5 && \"a sum\"\n"));
}

#endif
