// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// echo_load: many clients for echo_server, and a verdict on it.
// Exit codes: 0 every promise was kept; 1 one was not, and a line says which; 2 it could not start as asked.

#include "clients.hpp"
#include "support/command_line.hpp"
#include "support/descriptor_limit.hpp"

#include <fmt/format.h>

namespace {

int run(int argc, char** argv) {
    const load::options options = load::parse_options(argc, argv);
    if (options.help) {
        fmt::print("{}", load::usage);
        return 0;
    }

    raise_descriptor_limit();
    const auto started = std::chrono::steady_clock::now();
    const auto cpu_before = load::cpu_time_of(options.server_pid);
    load::clients clients{options};
    const load::results& seen = clients.run();
    const auto cpu_after = load::cpu_time_of(options.server_pid);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - started;
    const bool known = cpu_before.count() >= 0 && cpu_after.count() >= 0;
    const auto cpu = known ? cpu_after - cpu_before : std::chrono::duration<double>{-1};

    const auto broken = load::broken_promises(options, seen);
    fmt::print("{}{}", load::table(options, seen, cpu, elapsed), broken);
    return broken.empty() ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    return command_line::run("echo_load", [&] { return run(argc, argv); });
}
