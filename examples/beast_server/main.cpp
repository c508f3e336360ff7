// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// beast_server: HTTP and WebSocket on one port, by Boost.Beast, with a limit of time on whatever a client may let us
// wait for. Beast's own tcp_stream and websocket timeouts cost a steady_timer for each connection; here all of them are
// on one wheel. Built if COGWHEEL_ASIO names boost.
#include "server.hpp"
#include "support/command_line.hpp"
#include "support/output.hpp"

#include <boost/asio/signal_set.hpp>
#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <stdexcept>

namespace {

constexpr const char* usage = R"(usage: beast_server [options]
Answers GET and POST with what it has received, and echoes the messages of a WebSocket.

  --port P        port to listen on, at 127.0.0.1; 0 lets the system choose (default 8080)
  --request T     a request has to come within T of its first byte (default 10s)
  --keep-alive T  a connection without a request is closed after T (default 30s)
  --write T       a client has to take an answer or a message within T (default 10s)
  --silence T     a WebSocket that is silent for T is asked by a ping, and after T more it is closed (default 20s)
  --drain T       on SIGINT or SIGTERM, what is under way may take T (default 5s)

T is a time such as 500ms, 1.5s or 2m.
Exit code: 0 served until SIGINT or SIGTERM; 1 standard output failed; 2 bad command line, or the port cannot be had; 141 nothing
reads standard output any more.
)";

struct options {
    beast_server::limits limits;
    unsigned short port = 8080;
    bool help = false;
};

options parse(int argc, char** argv) {
    options o;
    for (command_line::reader line(argc, argv); line.next();) {
        const auto limit = [&] { return std::chrono::ceil<std::chrono::milliseconds>(line.positive_duration()); };
        if (line.name() == "--port")
            o.port = static_cast<unsigned short>(line.count(0, 65'535));
        else if (line.name() == "--request")
            o.limits.request = limit();
        else if (line.name() == "--keep-alive")
            o.limits.keep_alive = limit();
        else if (line.name() == "--write")
            o.limits.write = limit();
        else if (line.name() == "--silence")
            o.limits.silence = limit();
        else if (line.name() == "--drain")
            o.limits.drain = limit();
        else if (line.name() == "--help" || line.name() == "-h")
            o.help = true;
        else
            line.unknown();
    }
    return o;
}

int serve(const options& o) {
    asio::io_context io{1};
    boost::system::error_code ec;
    beast_server::server server(io, o.limits);
    server.listen({asio::ip::address_v4::loopback(), o.port}, ec);
    if (ec) throw std::runtime_error(fmt::format("cannot listen on 127.0.0.1:{}: {}", o.port, ec.message()));
    asio::signal_set signals(io, SIGINT, SIGTERM);
    signals.async_wait([&](boost::system::error_code aborted, int) {
        if (!aborted) server.stop();
    });
    fmt::print("listening on 127.0.0.1:{}\n", server.port());
    output::flush();
    io.run();
    fmt::print("{}\n", server.summary());
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    return command_line::run("beast_server", [&] {
        const options o = parse(argc, argv);
        if (!o.help) return serve(o);
        fmt::print("{}", usage);
        return 0;
    });
}
