// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#pragma once

#include <system_error>

#include <sys/resource.h>

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

} // namespace cogwheel_tests
