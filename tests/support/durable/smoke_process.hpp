// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A process that a test has started: killed with its object.
#pragma once

#include <chrono>
#include <csignal>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cogwheel_tests {

/// Waits until `f` returns true, for at most `limit`. Returns the last result of f. For files with `smoke` in the name.
template <class F>
bool eventually(F f, std::chrono::nanoseconds limit = std::chrono::seconds(20)) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!f()) {
        if (std::chrono::steady_clock::now() > end) return f();
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
}

/// The system kills the process when the thread that has started it ends. So start it on a thread that lives on.
class child_process {
public:
    child_process() = default;
    explicit child_process(const std::vector<std::string>& arguments) {
        std::vector<char*> argv;
        for (const auto& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
        argv.push_back(nullptr);
        pid_ = ::fork();
        if (pid_ < 0) throw std::runtime_error("fork");
        if (pid_ == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            const int null = ::open("/dev/null", O_RDWR);
            for (int fd = 0; fd < 3; ++fd) ::dup2(null, fd);
            ::execvp(argv[0], argv.data());
            ::_exit(127);
        }
    }
    child_process(child_process&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
    child_process& operator=(child_process&& other) noexcept {
        if (this != &other) {
            kill();
            pid_ = std::exchange(other.pid_, -1);
        }
        return *this;
    }
    ~child_process() { kill(); }

    pid_t pid() const { return pid_; }
    void signal(int number) const {
        if (pid_ > 0) ::kill(pid_, number);
    }
    void kill() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        pid_ = -1;
    }
    bool running() {
        if (pid_ <= 0) return false;
        if (::waitpid(pid_, nullptr, WNOHANG) == 0) return true;
        pid_ = -1;
        return false;
    }

private:
    pid_t pid_ = -1;
};

} // namespace cogwheel_tests
