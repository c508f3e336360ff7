// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Standard output is what a program is for: that it cannot be written is an error. Standard error is for people who
// look: that it cannot be written stops nothing.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace output {

/// Call it first. SIGPIPE would end the program in the midst of whatever it does, without a word.
inline void prepare() {
    std::signal(SIGPIPE, SIG_IGN);
    // One that is closed would be given to the next socket, and what is printed would go to a peer.
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(standard, F_GETFD) < 0 && errno == EBADF) ::open("/dev/null", O_RDONLY);
}

/// Errors: std::runtime_error if standard output does not take what was printed.
inline void flush() {
    constexpr const char* trouble = "cannot write to standard output";
    if (std::fflush(stdout) != 0) throw std::system_error(errno, std::generic_category(), trouble);
    if (std::ferror(stdout) != 0) throw std::runtime_error(trouble); // some time ago
}

inline bool reader_has_gone() {
    pollfd out{STDOUT_FILENO, 0, 0};
    return ::poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

/// Counts them, so that a live_view knows whether it is still the last thing on the terminal.
inline std::atomic<unsigned> complaints{0};

/// To standard error, if that can be written.
template <class... Arguments>
void complain(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    std::fputs(fmt::format(text, std::forward<Arguments>(arguments)...).c_str(), stderr);
    complaints.fetch_add(1, std::memory_order_relaxed);
}

} // namespace output
