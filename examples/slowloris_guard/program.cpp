// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors

#include "program.hpp"

#include "support/command_line.hpp"
#include "support/descriptor_limit.hpp"
#include "support/statistics_signal.hpp"

#include <asio/signal_set.hpp>
#include <fmt/format.h>

#include <optional>

namespace guard {
namespace {

constexpr std::string_view usage =
    R"(usage: slowloris_guard --port P [options]
       slowloris_guard                   tries itself on clients of its own, good and bad
A server on 127.0.0.1 that wants the header of a request in time, and answers 408 to who is late.

  --port P     port to listen on; 0 lets the system choose
  --within D   the whole header has to come within D (default 10s)
  --grace D    and within D its first byte; later, no longer a pause (default 2s)
  --rate N     beyond the grace period, N bytes a second at least (default 100)

A duration D is a number and a unit: 500ms, 1.5s, 2m, 1h.
Exit code: 0 served until SIGINT or SIGTERM; 1 the trial went wrong; 2 bad command line, or the port cannot be had.
)";

struct options {
    std::optional<std::uint16_t> port;
    demands demanded;
    bool help = false;
};

options parse_options(int argc, char** argv) {
    options result;
    command_line::reader line{argc, argv};
    while (line.next()) {
        const auto name = line.name();
        if (name == "--port") {
            result.port = static_cast<std::uint16_t>(line.count(0, 65535));
        } else if (name == "--within") {
            result.demanded.within = line.positive_duration();
        } else if (name == "--grace") {
            result.demanded.grace = line.positive_duration();
        } else if (name == "--rate") {
            result.demanded.rate = static_cast<std::int64_t>(line.count(1, 1'000'000'000));
        } else if (name == "--help" || name == "-h") {
            result.help = true;
            return result;
        } else {
            line.unknown();
        }
    }
    if (argc > 1 && !result.port) throw command_line::usage_error{"--port is missing (see --help)"};
    return result;
}

int serve(const options& wanted) {
    raise_descriptor_limit();
    asio::io_context io{1};
    server server{io, *wanted.port, wanted.demanded};
    asio::signal_set signals{io, SIGINT, SIGTERM};
    statistics_signal statistics{io.get_executor(), [&] { return server.summary(); }};
    signals.async_wait([&](std::error_code, int) {
        server.stop();
        statistics.stop();
    });
    fmt::print("listening on 127.0.0.1:{}\n", server.endpoint().port());
    output::flush();
    io.run();
    fmt::print("{}", server.summary());
    return 0;
}

} // namespace

int run(int argc, char** argv) {
    return command_line::run("slowloris_guard", [&] {
        const options wanted = parse_options(argc, argv);
        if (wanted.help) {
            fmt::print("{}", usage);
            return 0;
        }
        return wanted.port ? serve(wanted) : self_test();
    });
}

} // namespace guard
