// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#pragma once

#include <system_error>

#include <sys/resource.h>
#include <unistd.h>

namespace cogwheel_tests {

/// Calls f() while the process may open no file descriptor. Returns the std::system_error that it throws.
template <class F>
std::error_code error_without_descriptors(F f) {
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    rlimit none = before;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_NOFILE, &none);
    std::error_code ec;
    try {
        f();
    } catch (const std::system_error& e) {
        setrlimit(RLIMIT_NOFILE, &before); // first: a sanitizer that looks at `e` needs a descriptor
        ec = e.code();
    }
    setrlimit(RLIMIT_NOFILE, &before);
    return ec;
}

/// While it lives, the process may open two file descriptors more.
class two_descriptors_left {
public:
    two_descriptors_left() {
        getrlimit(RLIMIT_NOFILE, &before_);
        const int first = dup(STDERR_FILENO), second = dup(STDERR_FILENO);
        close(first);
        close(second);
        rlimit few = before_;
        few.rlim_cur = static_cast<rlim_t>(second) + 1;
        setrlimit(RLIMIT_NOFILE, &few);
    }
    two_descriptors_left(const two_descriptors_left&) = delete;
    two_descriptors_left& operator=(const two_descriptors_left&) = delete;
    ~two_descriptors_left() { setrlimit(RLIMIT_NOFILE, &before_); }

private:
    rlimit before_{};
};

} // namespace cogwheel_tests
