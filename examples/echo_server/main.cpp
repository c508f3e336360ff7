// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// echo_server: an echo server that closes idle connections and those whose peers do not read, with one timer for each.

#include "server.hpp"
#include "support/address.hpp"
#include "support/command_line.hpp"
#include "support/descriptor_limit.hpp"

#include <fmt/format.h>

namespace echo {
namespace {

constexpr std::string_view usage =
    R"(usage: echo_server [options]
An echo server that closes idle connections, with one wheel timer for each of them.

  --port P             port to listen on; 0 lets the system choose (default 0)
  --address A          address to listen on (default 127.0.0.1)
  --idle D             close a connection over which nothing has gone for D (default 30s)
  --write-timeout D    close a connection whose peer has taken none of its bytes for D (default 10s)
  --max-connections N  at N connections, accept the next one when one leaves (default: no limit)
  --tick D             tick of the wheel (default 10ms)
  --slots N            slots of the wheel (default 512)
  --threads N          threads that run the context (default 1)
  --metrics-port P     answer GET /metrics on 127.0.0.1 at this port; 0 lets the system choose (default: not at all)
  --monitor A:P        show what the wheel does as a page at http://A:P/, A a loopback address such as 127.0.0.1
                       (default: not at all)
  --stats D            show on stderr every D how it goes: on a terminal a few lines that are drawn again in place,
                       elsewhere a line each time; 0: never (default 0)
  --seconds N          end after N seconds; 0: at SIGINT or SIGTERM (default 0)

A duration D is a number and a unit: 500ms, 1.5s, 2m, 1h.
)";

// Tick and slots are judged by the wheel itself.
options parse_options(int argc, char** argv) {
    options result;
    command_line::reader line{argc, argv};
    while (line.next()) {
        const auto name = line.name();
        if (name == "--port") {
            result.port = static_cast<std::uint16_t>(line.count(0, 65535));
        } else if (name == "--address") {
            result.address = command_line::read_address(line);
        } else if (name == "--idle") {
            result.idle = line.positive_duration();
        } else if (name == "--write-timeout") {
            result.write_timeout = line.positive_duration();
        } else if (name == "--max-connections") {
            result.max_connections = line.count(1, 1'000'000'000);
        } else if (name == "--tick") {
            result.tick = line.duration();
        } else if (name == "--slots") {
            result.slots = line.count(0, 1'000'000'000);
        } else if (name == "--threads") {
            result.threads = static_cast<unsigned>(line.count(1, 256));
        } else if (name == "--metrics-port") {
            result.metrics_port = static_cast<std::uint16_t>(line.count(0, 65535));
        } else if (name == "--monitor") {
            result.monitor = command_line::read_loopback_endpoint(line);
        } else if (name == "--stats") {
            result.stats = line.duration();
        } else if (name == "--seconds") {
            result.seconds = line.duration("s");
        } else if (name == "--help" || name == "-h") {
            result.help = true;
            return result;
        } else {
            line.unknown();
        }
    }
    return result;
}

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
} // namespace echo

int main(int argc, char** argv) {
    return command_line::run("echo_server", [&] { return echo::serve(argc, argv); });
}
