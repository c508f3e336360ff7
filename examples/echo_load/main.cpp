// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// echo_load: many clients for echo_server, and a verdict on it.
// Exit codes: 0 every promise was kept; 1 one was not, and a line says which; 2 it could not start as asked.

#include "clients.hpp"
#include "support/address.hpp"
#include "support/command_line.hpp"
#include "support/descriptor_limit.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace load {
namespace {

constexpr std::string_view usage =
    R"(usage: echo_load --port P [options]
Clients for echo_server: half of them chat to the end, half fall silent and wait to be closed. Exit code 1, and a line
for each broken promise, if the server does not keep to its idle limit or loses a byte.

  --port P         port of the server
  --address A      address of the server (default 127.0.0.1)
  --connections N  connections to open (default 2000)
  --idle D         the idle limit that the server was given (default 2s)
  --chat D         pause between two messages of a connection (default 500ms)
  --spread D       time within which the silent ones fall silent, one after the other (default 3s)
  --seconds N      length of the run (default: the spread, the idle limit, and 1.5 s)
  --server-pid PID report the CPU time of this process

A duration D is a number and a unit: 500ms, 1.5s, 2m, 1h.
)";

/// The last connection falls silent at silence_spread, is due `idle` later, and the end leaves a second to notice.
void plan(options& wanted) {
    using namespace std::chrono_literals;
    constexpr std::chrono::nanoseconds reserve = 1500ms;
    if (wanted.seconds.count() == 0) wanted.seconds = wanted.silence_spread + wanted.idle + reserve;
    wanted.silence_spread = std::min(wanted.silence_spread, wanted.seconds - wanted.idle - reserve);
    if (wanted.silence_spread.count() <= 0)
        throw command_line::usage_error{"--seconds is too short to see a kick: give more than --idle and 1.5 s"};
    if (wanted.chat >= wanted.idle)
        throw command_line::usage_error{"--chat must be below --idle, or the chatting ones are idle too"};
}

options parse_options(int argc, char** argv) {
    options result;
    command_line::reader line{argc, argv};
    while (line.next()) {
        const auto name = line.name();
        if (name == "--port") {
            result.port = static_cast<std::uint16_t>(line.count(1, 65535));
        } else if (name == "--address") {
            result.address = command_line::read_address(line);
        } else if (name == "--connections") {
            result.connections = line.count(2, 1'000'000);
        } else if (name == "--idle") {
            result.idle = line.positive_duration();
        } else if (name == "--chat") {
            result.chat = line.positive_duration();
        } else if (name == "--spread") {
            result.silence_spread = line.positive_duration();
        } else if (name == "--seconds") {
            result.seconds = line.duration("s");
        } else if (name == "--server-pid") {
            result.server_pid = static_cast<int>(line.count(1, 1u << 30));
        } else if (name == "--help" || name == "-h") {
            result.help = true;
            return result;
        } else {
            line.unknown();
        }
    }
    if (result.port == 0) throw command_line::usage_error{"--port is missing (see --help)"};
    plan(result);
    return result;
}

int run(int argc, char** argv) {
    const options options = parse_options(argc, argv);
    if (options.help) {
        fmt::print("{}", usage);
        return 0;
    }

    raise_descriptor_limit();
    const auto started = std::chrono::steady_clock::now();
    const auto cpu_before = cpu_time_of(options.server_pid);
    clients clients{options};
    const results& seen = clients.run();
    const auto cpu_after = cpu_time_of(options.server_pid);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - started;
    const bool known = cpu_before.count() >= 0 && cpu_after.count() >= 0;
    const auto cpu = known ? cpu_after - cpu_before : std::chrono::duration<double>{-1};

    const auto broken = broken_promises(options, seen);
    fmt::print("{}{}", table(options, seen, cpu, elapsed), broken);
    return broken.empty() ? 0 : 1;
}

} // namespace
} // namespace load

int main(int argc, char** argv) {
    return command_line::run("echo_load", [&] { return load::run(argc, argv); });
}
