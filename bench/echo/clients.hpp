// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The clients, in a process of their own and on another processor than the server, if there is one: their CPU time is
// not the server's. Orders and reports go over a pair of sockets; at its end the process leaves.
#pragma once

#include "echo/load.hpp"

#include <sys/types.h>

namespace bench::echo {

class clients {
public:
    /// Forks: before there is a thread, or an io_context, which would be in both. Makes room for the descriptors of
    /// both. Errors: std::runtime_error, std::system_error.
    explicit clients(std::size_t connections);
    clients(const clients&) = delete;
    clients& operator=(const clients&) = delete;
    ~clients();

    /// Both are answered by a report, within a minute: then the process ends itself.
    void connect(std::uint16_t port);
    void ask(std::uint64_t requests, std::uint64_t seed);

    /// Readable when there is a report.
    int descriptor() const noexcept { return orders_; }

    /// Waits for it. Errors: std::runtime_error: the process has gone, or says what went wrong.
    report answer();

private:
    std::size_t connections_;
    int orders_ = -1;
    pid_t child_ = -1;
};

} // namespace bench::echo
