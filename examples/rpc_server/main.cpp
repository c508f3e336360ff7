// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// rpc_server: answers each request with its own body, after a while, in whatever order they become ready. A client that says
// nothing, not even a ping, for --idle is dropped.
// Exit codes: 0 served until the end; 2 it could not start as asked.

#include "support/command_line.hpp"
#include "support/descriptor_limit.hpp"
#include "support/rpc_channel.hpp"

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/redirect_error.hpp>
#include <asio/signal_set.hpp>

#include <cstdio>
#include <random>

namespace {

using namespace std::chrono_literals;
using rpc::tcp;

const std::string_view usage = R"(usage: rpc_server [options]
  --port P    port to listen on, on 127.0.0.1; 0 lets the system choose (default 0)
  --delay D   each answer takes a random part of D (default 0)
  --idle D    drop a client that says nothing for D (default 30s)
  --seed N    of the delays (default 1)
)";

struct options {
    std::uint16_t port = 0;
    std::chrono::nanoseconds delay{0};
    std::chrono::nanoseconds idle = 30s;
    std::uint64_t seed = 1;
    bool help = false;
};

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

class server {
public:
    explicit server(const options& o) : options_{o}, random_{o.seed} {
        signals_.async_wait([this](std::error_code, int) { stop(); });
        asio::co_spawn(io_, accept(), asio::detached);
    }

    void run() {
        fmt::print("listening on 127.0.0.1:{}\n", acceptor_.local_endpoint().port());
        std::fflush(stdout);
        io_.run();
        fmt::print("served {} connections, {} requests, {} answered, {} dropped for idleness\n", connections_,
                   requests_, answered_, idle_);
    }

private:
    asio::awaitable<void> accept() {
        while (acceptor_.is_open()) {
            std::error_code ec;
            auto socket = co_await acceptor_.async_accept(asio::redirect_error(asio::use_awaitable, ec));
            if (!ec) {
                ++connections_;
                asio::co_spawn(io_, serve(std::move(socket)), asio::detached);
            } else if (acceptor_.is_open()) { // out of descriptors, say
                co_await wheel_.async_wait(100ms, asio::redirect_error(asio::use_awaitable, ec));
            }
        }
    }

    asio::awaitable<void> serve(tcp::socket socket) {
        const auto channel =
            std::make_shared<rpc::channel>(wheel_, cogwheel::idle_limits{.reader = options_.idle}, std::move(socket));
        channel->stream().close_when_idle([this](const cogwheel::idle_event&) { ++idle_; });
        try {
            for (;;) handle(channel, co_await channel->receive());
        } catch (const std::system_error&) {
            channel->close();
        }
    }

    void handle(const std::shared_ptr<rpc::channel>& channel, rpc::frame frame) {
        if (frame.what == rpc::kind::ping) return channel->send(rpc::kind::ping, 0, {});
        ++requests_;
        // An answer whose client has gone is not sent.
        wheel_.schedule(delay(), [this, weak = std::weak_ptr(channel), f = std::move(frame)] {
            const auto alive = weak.lock();
            if (alive == nullptr || !alive->stream().lowest_layer().is_open()) return;
            alive->send(rpc::kind::response, f.id, f.body);
            ++answered_;
        });
    }

    std::chrono::nanoseconds delay() {
        return std::chrono::nanoseconds{
            std::uniform_int_distribution<std::int64_t>{0, options_.delay.count()}(random_)};
    }

    void stop() {
        std::error_code ignored;
        acceptor_.close(ignored);
        io_.stop();
    }

    const options options_;
    asio::io_context io_{1};
    cogwheel::timer_wheel wheel_{io_, {.tick = 1ms}};
    tcp::acceptor acceptor_{io_, {asio::ip::address_v4::loopback(), options_.port}};
    asio::signal_set signals_{io_, SIGINT, SIGTERM};
    std::mt19937_64 random_;
    std::uint64_t connections_ = 0, requests_ = 0, answered_ = 0, idle_ = 0;
};

} // namespace

int main(int argc, char** argv) {
    try {
        const options o = parse(argc, argv);
        if (o.help) return fmt::print("{}", usage), 0;
        raise_descriptor_limit();
        server{o}.run();
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "rpc_server: {}\n", error.what());
        return 2;
    }
}
