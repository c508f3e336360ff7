// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Starts a thread that handles no signal: the user's threads handle the user's signals.
#pragma once

#include <cogwheel/detail/platform.hpp>
#include <cogwheel/detail/which_asio.hpp>

#include <thread>
#include <utility>

#if !COGWHEEL_WINDOWS
#include <csignal>
#endif

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

#if COGWHEEL_WINDOWS

template <class F>
std::thread quiet_thread(F f) {
    return std::thread(std::move(f));
}

#else

/// Blocks all signals of this thread for its lifetime. A new thread inherits that.
class signals_blocked {
public:
    signals_blocked() {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    signals_blocked(const signals_blocked&) = delete;
    signals_blocked& operator=(const signals_blocked&) = delete;
    ~signals_blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t before_{};
};

template <class F>
std::thread quiet_thread(F f) {
    const signals_blocked blocked;
    return std::thread(std::move(f));
}

#endif

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
