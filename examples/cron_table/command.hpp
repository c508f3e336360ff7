// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Commands as processes: waited for without a thread, ended with all they have started, and never left behind.
#pragma once

#include <cogwheel/asio/timer_wheel.hpp>

#include <asio/awaitable.hpp>

#include <chrono>
#include <set>
#include <string>

#include <sys/types.h>

namespace cron {

/// A process that ends the commands under way when this one has ended, however that was: kill -9 calls no destructor.
/// Each command is a process group.
class guardian {
public:
    /// Errors: std::system_error.
    explicit guardian(std::chrono::nanoseconds grace);
    /// Waits until no command is left.
    ~guardian();
    guardian(const guardian&) = delete;
    guardian& operator=(const guardian&) = delete;

    void add(pid_t group);
    void remove(pid_t group);

private:
    void tell();

    std::set<pid_t> groups_;
    pid_t process_ = 0;
    int pipe_ = -1;
};

/// Runs it by a shell; what it prints goes where ours does. Cancelled, it tells the whole group to end, SIGTERM, and
/// after `grace` ends what is left of it, SIGKILL. Several may run at once: nothing here blocks. Errors:
/// std::system_error (no process), std::runtime_error that says how the command has ended, if not well.
asio::awaitable<void> run_command(cogwheel::timer_wheel& wheel, guardian& guard, const std::string& command,
                                  std::chrono::nanoseconds grace);

} // namespace cron
