// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// fork(): after notify_fork() parent and child each have a wheel whose waits complete.
#include "support/asio/asio_backend.hpp"
#include "support/asio/every_wait.hpp"
#include "support/asio/handler_archetypes.hpp"

#if defined(__unix__)
#include <sys/wait.h>
#include <unistd.h>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE_TEMPLATE("fork_waits_complete_in_parent_and_child", W, EVERY_WAIT) {
    W w;
    int succeeded = 0, aborted = 0;
    const auto handler = [&](std::error_code ec) { ec ? ++aborted : ++succeeded; };
    w.wait(10ms, handler);
    w.wait(1h, handler);
    w.run();
    w.io.notify_fork(asio::execution_context::fork_prepare);
    const pid_t child = fork();
    if (child == 0) {
        w.io.notify_fork(asio::execution_context::fork_child);
        w.pass(10ms);
        w.wait(10ms, handler);
        w.pass(10ms);
        w.wheel.cancel_all();
        w.run();
        _exit(succeeded == 2 && aborted == 1 ? 0 : 1);
    }
    REQUIRE(child > 0);
    w.io.notify_fork(asio::execution_context::fork_parent);
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    CHECK(succeeded == 0);
    w.pass(10ms);
    CHECK(succeeded == 1);
    w.wheel.cancel_all();
    w.run();
    CHECK(aborted == 1);
}

// With io_uring, Asio (seen with 1.30.2) wakes no steady_timer after a fork, neither in the parent nor in the child.
TEST_CASE_TEMPLATE("fork_real_clock_the_driver_wakes_the_child", Locking, multi_threaded, single_threaded) {
    if (on_io_uring) return;
    asio::io_context io;
    basic_timer_wheel<std::chrono::steady_clock, Locking> wheel(io, {.tick = 1ms});
    basic_wheel_timer timer(wheel, 2ms);
    int done = 0;
    timer.async_wait([&](std::error_code ec) { done += !ec; });
    io.notify_fork(asio::execution_context::fork_prepare);
    const pid_t child = fork();
    if (child == 0) {
        io.notify_fork(asio::execution_context::fork_child);
        io.run();
        _exit(done == 1 ? 0 : 1);
    }
    REQUIRE(child > 0);
    io.notify_fork(asio::execution_context::fork_parent);
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    io.run();
    CHECK(done == 1);
}
#endif
