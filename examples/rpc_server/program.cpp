// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// From the command line to the exit code.

#include "server.hpp"
#include "support/command_line.hpp"
#include "support/descriptor_limit.hpp"

#include <fmt/format.h>

namespace rpc {

int run(int argc, char** argv) {
    return command_line::run("rpc_server", [&] {
        const options o = parse_options(argc, argv);
        if (o.help) return fmt::print("{}", usage), 0;
        raise_descriptor_limit();
        server server{o};
        fmt::print("listening on {}\n", server.endpoint());
        output::flush();
        try {
            server.run();
        } catch (const std::exception& error) {
            output::complain("rpc_server: {}\n", error.what());
            return 1;
        }
        fmt::print("{}", server.summary());
        return 0;
    });
}

} // namespace rpc
