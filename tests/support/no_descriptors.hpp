// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#pragma once

#include <cerrno>
#include <system_error>

#include <sys/resource.h>
#include <unistd.h>

namespace cogwheel_tests {

/// A sanitizer that looks at an object of the standard library for the first time needs a descriptor. Looks at what
/// errors of the system have.
inline void look_at_system_errors() {
    for (const std::error_category* category : {&std::generic_category(), &std::system_category()}) {
        try {
            throw std::system_error(EMFILE, *category);
        } catch (const std::system_error& e) {
            static_cast<void>(e.code().message());
        }
    }
}

/// Calls f() while the process may open no file descriptor. Returns the std::system_error that it throws.
template <class F>
std::error_code error_without_descriptors(F f) {
    look_at_system_errors();
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
        look_at_system_errors();
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
