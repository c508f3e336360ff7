// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// chaos_proxy --to PORT: a bad network on the loopback, between a program and its server. Prints where it listens, and
// at the end (SIGINT, SIGTERM) what it did. The same seed does the same to the same connections.
#include "support/command_line.hpp"
#include "support/descriptor_limit.hpp"
#include "support/net/chaos_proxy.hpp"

#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>

#include <limits>
#include <optional>
#include <string>

using namespace cogwheel_tests;
using asio::ip::tcp;

namespace {

constexpr std::string_view usage = R"(usage: chaos_proxy --to PORT [options]
  --port PORT     of the loopback; 0, the default, takes a free one
  --to PORT       of the loopback: the server
  --seed N        1 by default
  --forward N, --delay N, --split N, --stall N, --swallow N, --truncate N, --reset N
                  how often each step is taken, relative to the others
  --steps N       in each direction, at most (6)
  --bytes N       that a step covers, at most (2000)
  --longest D     of the pauses (50ms)
  --buffer N      bytes, for each direction of each connection (4096)
  --show N        prints the plans of the first N connections, and ends
)";

struct settings {
    std::uint16_t port = 0;
    std::uint16_t to = 0;
    std::uint64_t seed = 1;
    std::uint64_t show = 0;
    chaos_profile profile;
    chaos_options options;
    bool help = false;
};

std::optional<std::size_t> step_named(std::string_view option) {
    for (std::size_t k = 0; k < chaos_kinds; ++k)
        if (option == std::string("--") + name_of(static_cast<chaos>(k))) return k;
    return std::nullopt;
}

settings parse(int argc, char** argv) {
    constexpr std::uint64_t many = 1'000'000'000;
    settings s;
    command_line::reader line{argc, argv};
    while (line.next()) {
        const auto name = line.name();
        if (name == "--port")
            s.port = static_cast<std::uint16_t>(line.count(0, 65535));
        else if (name == "--to")
            s.to = static_cast<std::uint16_t>(line.count(1, 65535));
        else if (name == "--seed")
            s.seed = line.count(0, std::numeric_limits<std::uint64_t>::max());
        else if (name == "--steps")
            s.profile.most_steps = static_cast<std::size_t>(line.count(0, many));
        else if (name == "--bytes")
            s.profile.most_bytes = static_cast<std::size_t>(line.count(1, many));
        else if (name == "--longest")
            s.profile.longest = std::chrono::ceil<std::chrono::milliseconds>(line.positive_duration());
        else if (name == "--buffer")
            s.options.buffer = static_cast<std::size_t>(line.count(1, many));
        else if (name == "--show")
            s.show = line.count(1, many);
        else if (const auto step = step_named(name))
            s.profile.weights[*step] = static_cast<unsigned>(line.count(0, 1'000'000));
        else if (name == "--help" || name == "-h")
            s.help = true;
        else
            line.unknown();
    }
    if (s.to == 0 && s.show == 0 && !s.help)
        throw command_line::usage_error{"--to is missing: which server? (see --help)"};
    return s;
}

void print(const chaos_counts& c) {
    fmt::print("accepted {}, finished {}, refused {}, accept failures {}\n", c.accepted, c.finished, c.refused,
               c.accept_failures);
    fmt::print("bytes up {}, down {}, swallowed {}\n", c.bytes_up, c.bytes_down, c.swallowed);
    for (std::size_t k = 0; k < chaos_kinds; ++k)
        fmt::print("{}{} {}", k == 0 ? "steps: " : ", ", name_of(static_cast<chaos>(k)), c.begun[k]);
    fmt::print("\n");
}

int run(const settings& s) {
    for (std::uint64_t i = 0; i < s.show; ++i) fmt::print("{}: {}\n", i, describe(make_chaos(s.seed, i, s.profile)));
    if (s.show != 0) return 0;

    raise_descriptor_limit(); // a connection takes two
    asio::io_context io(1);
    cogwheel::timer_wheel wheel(io, {.tick = std::chrono::milliseconds(1)});
    const auto loopback = [](std::uint16_t port) { return tcp::endpoint(asio::ip::address_v4::loopback(), port); };
    chaos_proxy proxy(
        io.get_executor(), wheel, loopback(s.port), loopback(s.to),
        [&s](std::uint64_t connection) { return make_chaos(s.seed, connection, s.profile); }, s.options);
    asio::signal_set signals(io, SIGINT, SIGTERM);
    signals.async_wait([&](std::error_code, int) { proxy.close(); });
    fmt::print("listening on 127.0.0.1:{}\n", proxy.endpoint().port());
    output::flush();
    io.run();
    print(proxy.counts());
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    return command_line::run("chaos_proxy", [&] {
        const settings s = parse(argc, argv);
        if (s.help) return fmt::print("{}", usage), 0;
        return run(s);
    });
}
