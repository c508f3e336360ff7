// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The command line.

#include "server.hpp"
#include "support/command_line.hpp"
#include "support/descriptor_limit.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace rpc {
namespace {

const std::string_view usage = R"(usage: rpc_server [options]
  --port P    port to listen on, on 127.0.0.1; 0 lets the system choose (default 0)
  --delay D   each answer takes a random part of D (default 0)
  --idle D    drop a client that says nothing for D (default 30s)
  --seed N    of the delays (default 1)
)";

options parse(int argc, char** argv) {
    options o;
    command_line::reader line{argc, argv};
    while (line.next()) {
        if (line.name() == "--port")
            o.port = static_cast<std::uint16_t>(line.count(0, 65535));
        else if (line.name() == "--delay")
            o.delay = line.duration();
        else if (line.name() == "--idle")
            o.idle = line.positive_duration();
        else if (line.name() == "--seed")
            o.seed = line.count(0, ~std::uint64_t{0} >> 1);
        else if (line.name() == "--help" || line.name() == "-h")
            o.help = true;
        else
            line.unknown();
    }
    return o;
}

} // namespace

int run(int argc, char** argv) {
    return command_line::run("rpc_server", [&] {
        const options o = parse(argc, argv);
        if (o.help) return fmt::print("{}", usage), 0;
        raise_descriptor_limit();
        server{o}.run();
        return 0;
    });
}

} // namespace rpc
