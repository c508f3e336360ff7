// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// beast_server: HTTP and WebSocket on one port, by Boost.Beast, with a limit of time on whatever a client may let us
// wait for. Beast's own tcp_stream and websocket timeouts cost a steady_timer for each connection; here all of them are
// on one wheel. Built if COGWHEEL_ASIO names boost.
#include "server.hpp"

#include <boost/asio/signal_set.hpp>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>

namespace {

constexpr const char* usage = R"(usage: beast_server [options]
Answers GET and POST with what it has received, and echoes the messages of a WebSocket.

  --port P        port to listen on, at 127.0.0.1; 0 lets the system choose (default 8080)
  --request MS    a request has to come within MS milliseconds of its first byte (default 10000)
  --keep-alive MS a connection without a request is closed after MS (default 30000)
  --write MS      a client has to take an answer or a message within MS (default 10000)
  --silence MS    a WebSocket that is silent for MS is asked by a ping, and after MS more it is closed (default 20000)
  --drain MS      on SIGINT or SIGTERM, what is under way may take MS (default 5000)

Exit code: 0 served until SIGINT or SIGTERM; 1 it has failed; 2 bad command line, or the port cannot be had.
)";

std::optional<long> number(std::string_view text, long least, long most) {
    long n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (error != std::errc() || end != text.data() + text.size() || n < least || n > most) return std::nullopt;
    return n;
}

/// Returns the exit code if the program ends here.
std::optional<int> parse(int argc, char** argv, beast_server::limits& limits, unsigned short& port) {
    for (int i = 1; i < argc; ++i) {
        const std::string_view name = argv[i];
        if (name == "--help" || name == "-h") {
            std::fputs(usage, stdout);
            return 0;
        }
        std::chrono::milliseconds* limit = name == "--request"      ? &limits.request
                                           : name == "--keep-alive" ? &limits.keep_alive
                                           : name == "--write"      ? &limits.write
                                           : name == "--silence"    ? &limits.silence
                                           : name == "--drain"      ? &limits.drain
                                                                    : nullptr;
        if (limit == nullptr && name != "--port") {
            std::fprintf(stderr, "beast_server: unknown option '%s' (see --help)\n", argv[i]);
            return 2;
        }
        const long least = limit != nullptr ? 1 : 0, most = limit != nullptr ? 86'400'000 : 65'535;
        const auto value = ++i < argc ? number(argv[i], least, most) : std::nullopt;
        if (!value) {
            std::fprintf(stderr, "beast_server: %s takes a number from %ld to %ld, not '%s'\n", argv[i - 1], least,
                         most, i < argc ? argv[i] : "");
            return 2;
        }
        if (limit != nullptr)
            *limit = std::chrono::milliseconds(*value);
        else
            port = static_cast<unsigned short>(*value);
    }
    return std::nullopt;
}

} // namespace

int main(int argc, char** argv) try {
    beast_server::limits limits;
    unsigned short port = 8080;
    if (const auto code = parse(argc, argv, limits, port)) return *code;

    asio::io_context io{1};
    boost::system::error_code ec;
    beast_server::server server(io, limits);
    server.listen({asio::ip::address_v4::loopback(), port}, ec);
    if (ec) {
        std::fprintf(stderr, "beast_server: cannot listen on 127.0.0.1:%hu: %s\n", port, ec.message().c_str());
        return 2;
    }
    asio::signal_set signals(io, SIGINT, SIGTERM);
    signals.async_wait([&](boost::system::error_code aborted, int) {
        if (!aborted) server.stop();
    });
    std::printf("listening on 127.0.0.1:%hu\n", server.port());
    std::fflush(stdout);
    io.run();
    std::printf("%s\n", server.summary().c_str());
    return std::fflush(stdout) == 0 ? 0 : 1;
} catch (const std::exception& error) {
    std::fprintf(stderr, "beast_server: %s\n", error.what());
    return 1;
}
