// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Reads the command line of threaded_echo.

#include "options.hpp"

#include "support/address.hpp"

namespace threaded {

const std::string_view usage =
    R"(usage: threaded_echo [options]
An echo server in which each thread has its own event loop, timer wheel and listening socket. The threads share nothing.

  --port P             port to listen on; 0 lets the system choose (default 0)
  --address A          address to listen on (default 127.0.0.1)
  --threads N          threads, each with a loop (default 2)
  --idle D             close a connection over which nothing has gone for D (default 30s)
  --write-timeout D    close a connection whose peer has taken none of its bytes for D (default 10s)
  --max-connections N  a thread with N connections closes further ones at once (default: no limit)
  --drain D            at the end, wait at most D for connections that still have bytes to send (default 5s)

A duration D is a number and a unit: 500ms, 1.5s, 2m, 1h.

SIGTERM or SIGINT ends the server. It closes the listening sockets, sends back what has arrived, and closes each
connection that has nothing to send. A second signal ends the process at once.
Exit code: 0; 1 if connections were cut at the end of --drain, or a thread failed; 2 if the server could not start.
)";

options parse_options(int argc, char** argv) {
    options result;
    command_line::reader line{argc, argv};
    while (line.next()) {
        const auto name = line.name();
        if (name == "--port") {
            result.port = static_cast<std::uint16_t>(line.count(0, 65535));
        } else if (name == "--address") {
            result.address = command_line::read_address(line);
        } else if (name == "--threads") {
            result.threads = static_cast<unsigned>(line.count(1, 256));
        } else if (name == "--idle") {
            result.idle = line.positive_duration();
        } else if (name == "--write-timeout") {
            result.write_timeout = line.positive_duration();
        } else if (name == "--max-connections") {
            result.max_connections = line.count(1, 1'000'000'000);
        } else if (name == "--drain") {
            result.drain = line.positive_duration();
        } else if (name == "--help" || name == "-h") {
            result.help = true;
            return result;
        } else {
            line.unknown();
        }
    }
    return result;
}

} // namespace threaded
