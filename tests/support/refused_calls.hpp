// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A process in which a filter refuses some system calls, as in a sandbox: seccomp(2).
#pragma once

#include "support/forked.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

namespace cogwheel_tests {

/// A system call, or only those with this second argument.
struct refused_call {
    long number;
    std::optional<std::uint32_t> second = {};
};

/// From now on, the kernel answers these calls of this thread with `error`. Returns false if it has no filters.
inline bool refuse(const std::vector<refused_call>& calls, int error) {
    const auto load = [](std::size_t offset) {
        return sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<std::uint32_t>(offset)};
    };
    const auto end = [](std::uint32_t what) { return sock_filter{BPF_RET | BPF_K, 0, 0, what}; };
    const auto skip_unless = [](std::uint32_t value, std::uint8_t count) {
        return sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 0, count, value};
    };
    std::vector<sock_filter> filter;
    for (const refused_call& c : calls) {
        filter.push_back(load(offsetof(seccomp_data, nr)));
        filter.push_back(skip_unless(static_cast<std::uint32_t>(c.number), c.second ? 3 : 1));
        if (c.second) {
            filter.push_back(load(offsetof(seccomp_data, args) + sizeof(std::uint64_t))); // little-endian: its low half
            filter.push_back(skip_unless(*c.second, 1));
        }
        filter.push_back(end(SECCOMP_RET_ERRNO | (static_cast<std::uint32_t>(error) & SECCOMP_RET_DATA)));
    }
    filter.push_back(end(SECCOMP_RET_ALLOW));
    sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// Returns whether this kernel has such filters; an emulator of a processor may have none.
inline bool can_refuse() {
    static const bool can = forked([] { return refuse({}, 0); }).result() == 0;
    return can;
}

} // namespace cogwheel_tests
