// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// rpc: a pipelined protocol, its server and its client. The server answers each request with its own body, after a
// while, in whatever order they become ready. It drops a client that says nothing, not even a ping; one that asks
// faster than it takes its answers has to wait. The client (client.hpp) has deadlines, retries with a budget, and
// heartbeats.

#include "client.hpp"
#include "server.hpp"
#include "support/command_line.hpp"
#include "support/descriptor_limit.hpp"

#include <fmt/format.h>

namespace rpc {
namespace {

constexpr std::string_view usage = R"(usage: rpc [options] | rpc call --port P [options]
Answers each request with its own body; `rpc call` is a client (rpc call --help). Ends at SIGINT or SIGTERM, when what it has begun is answered.

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

server_options parse_options(int argc, char** argv) {
    constexpr std::uint64_t many = 1'000'000'000, two_frames = 2 << 20;
    server_options o;
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

int serve(int argc, char** argv) {
    const server_options o = parse_options(argc, argv);
    if (o.help) return fmt::print("{}", usage), 0;
    raise_descriptor_limit();
    server server{o};
    fmt::print("listening on {}\n", server.endpoint());
    output::flush();
    try {
        server.run();
    } catch (const std::exception& error) {
        output::complain("rpc: {}\n", error.what());
        return 1;
    }
    fmt::print("{}", server.summary());
    return 0;
}

} // namespace
} // namespace rpc

int main(int argc, char** argv) {
    return command_line::run("rpc", [&] {
        const bool calls = argc > 1 && std::string_view(argv[1]) == "call";
        return calls ? rpc::call(argc - 1, argv + 1) : rpc::serve(argc, argv);
    });
}
