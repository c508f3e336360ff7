// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// From the command line to the exit code.

#include "program.hpp"

#include "support/command_line.hpp"
#include "support/descriptor_limit.hpp"

#include <fmt/format.h>

#include <system_error>

namespace echo {
namespace {

int serve(int argc, char** argv) {
    const options options = parse_options(argc, argv);
    if (options.help) {
        fmt::print("{}", usage);
        return 0;
    }

    raise_descriptor_limit();
    server server{options};
    fmt::print("listening on {}\n", server.endpoint());
    if (const auto metrics = server.metrics_endpoint(); !metrics.empty()) fmt::print("metrics on {}\n", metrics);
    if (const auto page = server.monitor_endpoint(); !page.empty()) fmt::print("page on http://{}/\n", page);
    output::flush();

    try {
        server.run();
    } catch (const std::exception& error) {
        output::complain("echo_server: {}\n", error.what());
        return 1;
    }
    fmt::print("{}", server.summary());
    return 0;
}

} // namespace

int run(int argc, char** argv) {
    return command_line::run("echo_server", [&] { return serve(argc, argv); });
}

} // namespace echo
