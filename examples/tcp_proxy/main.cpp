// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// tcp_proxy: passes each connection on to a target. It bounds the connections, the time to connect, the silence, the
// time in which a peer takes nothing, and the time that its own end takes. One wheel has all those timers.

#include "proxy.hpp"
#include "support/command_line.hpp"
#include "support/descriptor_limit.hpp"
#include "support/listen.hpp"
#include "support/output.hpp"
#include "support/spawned.hpp"
#include "support/statistics_signal.hpp"

#include <asio/co_spawn.hpp>
#include <asio/signal_set.hpp>
#include <asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <csignal>

namespace {

constexpr std::string_view usage = R"(usage: tcp_proxy [options]
Listens on 127.0.0.1, and passes each connection on to a target.

  --port P         port to listen on; 0 lets the system choose (default 8080)
  --target H:P     host and port of the target (default 127.0.0.1:80)
  --connections N  at most N at a time; further clients wait (default 1000)
  --connect T      to find the target and to connect (default 5s)
  --idle T         a connection without traffic in either direction is closed after T (default 5m)
  --write T        so is one whose peer takes no byte for T (default 30s)
  --drain T        on SIGINT or SIGTERM, open connections may go on for T, or until the next signal (default 30s)

T is a time such as 500ms, 1.5s or 2m. SIGUSR1 prints what it has done so far.
Exit code: 0 served until a signal, and all connections ended by themselves; 1 standard output failed; 2 bad command
line, or the port cannot be had; 3 connections were cut at the end; 141 nothing reads standard output any more.
)";

struct options {
    tcp_proxy::target target{"127.0.0.1", "80"};
    tcp_proxy::limits limits;
    std::uint16_t port = 8080;
    bool help = false;
};

tcp_proxy::target read_target(command_line::reader& line) {
    const std::string_view text = line.value();
    const std::size_t colon = text.rfind(':');
    std::string_view host = text.substr(0, colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
    if (colon == text.npos || host.empty() || colon + 1 == text.size())
        throw command_line::usage_error{
            fmt::format("bad value '{}' for {}: give HOST:PORT, such as localhost:80 or [::1]:80", text, line.name())};
    return {std::string{host}, std::string{text.substr(colon + 1)}};
}

options parse(int argc, char** argv) {
    options o;
    for (command_line::reader line{argc, argv}; line.next();) {
        const auto name = line.name();
        if (name == "--port")
            o.port = static_cast<std::uint16_t>(line.count(0, 65535));
        else if (name == "--target")
            o.target = read_target(line);
        else if (name == "--connections")
            o.limits.tunnels = static_cast<std::size_t>(line.count(1, 1'000'000));
        else if (name == "--connect")
            o.limits.connect = line.positive_duration();
        else if (name == "--idle")
            o.limits.idle = line.positive_duration();
        else if (name == "--write")
            o.limits.write = line.positive_duration();
        else if (name == "--drain")
            o.limits.drain = line.positive_duration();
        else if (name == "--help" || name == "-h")
            o.help = true;
        else
            line.unknown();
    }
    return o;
}

asio::awaitable<void> drain_at_signal(tcp_proxy::proxy& proxy, asio::signal_set& signals,
                                      statistics_signal& statistics) {
    co_await signals.async_wait(asio::use_awaitable);
    signals.async_wait([&proxy](std::error_code cancelled, int) { // a second one
        if (!cancelled) proxy.cut();
    });
    co_await proxy.drain();
    signals.cancel(); // nothing keeps run() from returning now
    statistics.stop();
}

int serve(const options& o) {
    raise_descriptor_limit();
    asio::io_context io{1};
    tcp_proxy::proxy proxy{io, o.port, o.target, o.limits};
    asio::signal_set signals{io, SIGINT, SIGTERM};
    statistics_signal statistics{io.get_executor(), [&proxy] { return proxy.summary(); }};
    fmt::print("listening on {}\n", to_text(proxy.endpoint()));
    output::flush();
    asio::co_spawn(io, drain_at_signal(proxy, signals, statistics), rethrow);
    io.run();
    fmt::print("{}", proxy.summary());
    return proxy.count(tcp_proxy::ending::cut) == 0 ? 0 : 3;
}

} // namespace

int main(int argc, char** argv) {
    return command_line::run("tcp_proxy", [&] {
        const options o = parse(argc, argv);
        if (!o.help) return serve(o);
        fmt::print("{}", usage);
        return 0;
    });
}
