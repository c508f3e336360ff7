// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// echo_server: an echo server that closes idle connections and those whose peers do not read.
// Exit codes: 0 served until the end; 1 something failed on the way; 2 it could not start as asked.

#include "server.hpp"
#include "support/descriptor_limit.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <system_error>

namespace {

int run(int argc, char** argv) {
    const echo::options options = echo::parse_options(argc, argv);
    if (options.help) {
        fmt::print("{}", echo::usage);
        return 0;
    }

    raise_descriptor_limit();
    echo::server server{options};
    fmt::print("listening on {}\n", server.endpoint());
    std::fflush(stdout);

    try {
        server.run();
    } catch (const std::exception& error) {
        fmt::print(stderr, "echo_server: {}\n", error.what());
        return 1;
    }
    fmt::print("{}", server.summary());
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) { // options, tick and slots, the address
        fmt::print(stderr, "echo_server: {}\n", error.what());
        return 2;
    }
}
