// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The options of rpc_server, read from the command line.

#include "options.hpp"

#include "support/command_line.hpp"

namespace rpc {

const std::string_view usage = R"(usage: rpc_server [options]
Answers each request with its own body. Ends at SIGINT or SIGTERM, when what it has begun is answered.

  --port P           port to listen on, on 127.0.0.1; 0 lets the system choose (default 0)
  --delay D          each answer takes a random part of D (default 0)
  --seed N           of the delays (default 1)

Limits on time:
  --idle D           drop a client that says nothing for D (default 30s)
  --frame D          drop a client whose frame is not complete D after its first byte (default: as --idle)
  --write-timeout D  drop a client that takes none of its answers for D (default 10s)
  --grace D          at the end, wait D for what is under way (default 5s)

Limits on what clients cost. At one of them the server reads no more, until it is below:
  --connections N    at once (default 10000)
  --in-flight N      requests of a client under way (default 1000)
  --backlog N        bytes of a client's requests under way and of its answers not sent yet (default 262144)
  --all-in-flight N  requests of all clients under way (default 100000)
  --bytes N          of all clients: frames arriving, requests, answers not sent yet (default 67108864)

A duration D is a number and a unit: 500ms, 1.5s, 2m, 1h.
Exit code: 0 served until the end; 1 something failed on the way; 2 it could not start as asked.
)";

options parse_options(int argc, char** argv) {
    constexpr std::uint64_t many = 1'000'000'000, two_frames = 2 << 20;
    options o;
    command_line::reader line{argc, argv};
    while (line.next()) {
        const auto name = line.name();
        if (name == "--port")
            o.port = static_cast<std::uint16_t>(line.count(0, 65535));
        else if (name == "--delay")
            o.delay = line.duration();
        else if (name == "--seed")
            o.seed = line.count(0, ~std::uint64_t{0} >> 1);
        else if (name == "--idle")
            o.idle = line.positive_duration();
        else if (name == "--frame")
            o.frame = line.positive_duration();
        else if (name == "--write-timeout")
            o.write_timeout = line.positive_duration();
        else if (name == "--grace")
            o.grace = line.duration();
        else if (name == "--connections")
            o.connections = line.count(1, many);
        else if (name == "--in-flight")
            o.in_flight = line.count(1, many);
        else if (name == "--backlog")
            o.backlog = line.count(1, many);
        else if (name == "--all-in-flight")
            o.all_in_flight = line.count(1, many);
        else if (name == "--bytes")
            o.bytes = line.count(two_frames, 1000 * many); // so that a single client can send the longest frame
        else if (name == "--help" || name == "-h")
            o.help = true;
        else
            line.unknown();
    }
    if (o.frame.count() == 0) o.frame = o.idle;
    return o;
}

} // namespace rpc
