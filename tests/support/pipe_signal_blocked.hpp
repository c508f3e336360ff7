// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// For calls of hiredis, which writes without MSG_NOSIGNAL: a server that has closed the connection must be an error,
// not the end of the test program. Elsewhere SIGPIPE stays as it is: the library must not raise it.
#pragma once

#include <csignal>
#include <ctime>

#include <pthread.h>

namespace cogwheel_tests {

class pipe_signal_blocked {
public:
    pipe_signal_blocked() {
        ::sigemptyset(&pipe_);
        ::sigaddset(&pipe_, SIGPIPE);
        ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
    }
    pipe_signal_blocked(const pipe_signal_blocked&) = delete;
    pipe_signal_blocked& operator=(const pipe_signal_blocked&) = delete;
    ~pipe_signal_blocked() {
        constexpr timespec at_once{};
        while (::sigtimedwait(&pipe_, nullptr, &at_once) > 0);
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }

private:
    sigset_t pipe_{}, before_{};
};

} // namespace cogwheel_tests
