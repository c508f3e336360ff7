// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A child process of the test, made by fork(2).
#pragma once

#include <csignal>
#include <utility>

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cogwheel_tests {

/// Lets parent and child wait for each other. Made before the child.
class meeting {
public:
    meeting() { ok_ = ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_) == 0; }
    meeting(const meeting&) = delete;
    meeting& operator=(const meeting&) = delete;
    ~meeting() {
        ::close(ends_[0]);
        ::close(ends_[1]);
    }

    /// Returns false if the other one has ended.
    bool tell() { return ok_ && ::send(ends_[side_], "x", 1, MSG_NOSIGNAL) == 1; }
    bool hear() {
        char c = 0;
        return ok_ && ::read(ends_[side_], &c, 1) == 1;
    }

    /// Each process says once which one it is.
    void take_side(int side) {
        side_ = side;
        ::close(std::exchange(ends_[1 - side], -1));
    }

private:
    int ends_[2] = {-1, -1};
    int side_ = 0;
    bool ok_ = false;
};

/// Calls f() in a child, which ends with 0 if that returns true. A child that hangs is killed by a signal.
class forked {
public:
    template <class F>
    explicit forked(F f) : pid_(::fork()) {
        if (pid_ != 0) return;
        ::signal(SIGALRM, SIG_DFL);
        ::signal(SIGSEGV, SIG_DFL); // doctest would report a crash
        ::alarm(60);
        int code = 2;
        try {
            code = f() ? 0 : 1;
        } catch (...) {
        }
        ::_exit(code);
    }
    forked(const forked&) = delete;
    forked& operator=(const forked&) = delete;
    ~forked() { result(); }

    /// Waits for its end. Returns 0 if f() has returned true; a signal is 256 and more.
    int result() {
        if (pid_ <= 0) return result_;
        int status = -1;
        while (::waitpid(pid_, &status, 0) == -1) {
        }
        pid_ = 0;
        return result_ = WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
    }

private:
    pid_t pid_;
    int result_ = -1;
};

} // namespace cogwheel_tests
