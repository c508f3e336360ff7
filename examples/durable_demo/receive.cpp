// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// As much of HTTP as the demo's own sender speaks. examples/webhook_receiver shows what a receiver has to do.
#include "roles.hpp"
#include "support/accept_loop.hpp"
#include "support/listen.hpp"
#include "support/spawned.hpp"

#include <cogwheel/asio/timer_wheel.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/read.hpp>
#include <asio/read_until.hpp>
#include <asio/signal_set.hpp>
#include <asio/write.hpp>

#include <charconv>
#include <csignal>

namespace durable_demo {
namespace {

/// The value of a field; empty: there is none. Names are in lower case, as our sender writes them.
std::string_view field(std::string_view head, std::string_view name) {
    const std::string line = fmt::format("\r\n{}: ", name);
    const auto at = head.find(line);
    if (at == head.npos) return {};
    head.remove_prefix(at + line.size());
    return head.substr(0, head.find("\r\n"));
}

/// Returns the status of the answer.
int judge(std::string_view head, std::string_view body, std::chrono::system_clock::time_point now) {
    const cogwheel::webhook_key ours = key();
    const std::string_view id = field(head, "webhook-id");
    const cogwheel::webhook_headers proof{
        .id = id, .timestamp = field(head, "webhook-timestamp"), .signature = field(head, "webhook-signature")};
    if (const auto ec = cogwheel::verify_webhook({&ours, 1}, proof, body, now)) {
        output::complain("durable_demo: refused: {}\n", ec.message());
        return 401;
    }
    const auto ms = std::chrono::duration<double, std::milli>(now.time_since_epoch()).count();
    fmt::print("arrived {} {} {:.3f}\n", id, field(head, "cogwheel-attempt"), ms);
    output::flush();
    return 204;
}

asio::awaitable<void> serve(asio::ip::tcp::socket socket, cogwheel::timer_wheel& wheel,
                            std::chrono::nanoseconds pause) {
    std::string received;
    for (;;) {
        const std::size_t head_size = co_await asio::async_read_until(socket, asio::dynamic_buffer(received, 1 << 16),
                                                                      "\r\n\r\n", asio::use_awaitable);
        const std::string head = received.substr(0, head_size);
        const std::string_view length =
            field(head, "content-length").empty() ? field(head, "Content-Length") : field(head, "content-length");
        std::size_t size = 0;
        std::from_chars(length.data(), length.data() + length.size(), size);
        if (size > 1 << 16) co_return;
        if (received.size() < head_size + size)
            co_await asio::async_read(socket, asio::dynamic_buffer(received),
                                      asio::transfer_at_least(head_size + size - received.size()), asio::use_awaitable);
        const int status =
            judge(head, std::string_view(received).substr(head_size, size), std::chrono::system_clock::now());
        received.erase(0, head_size + size);
        // What a receiver does takes time: a process that is killed meanwhile leaves the sender without an answer.
        co_await wheel.async_wait(pause, asio::use_awaitable);
        const std::string answer = fmt::format("HTTP/1.1 {} {}\r\ncontent-length: 0\r\n\r\n", status,
                                               status == 204 ? "No Content" : "Refused");
        co_await asio::async_write(socket, asio::buffer(answer), asio::use_awaitable);
    }
}

} // namespace

int receive(const options& wanted) {
    asio::io_context io(1);
    cogwheel::timer_wheel wheel(io, {.tick = std::chrono::milliseconds(1)});
    auto acceptor = listen_on(io.get_executor(), {asio::ip::address_v4::loopback(), 0});
    fmt::print("listening on {}\n", to_text(acceptor.local_endpoint()));
    output::flush();
    asio::co_spawn(io,
                   accept_loop(acceptor, wheel, "durable_demo",
                               [&](asio::ip::tcp::socket socket) {
                                   asio::co_spawn(io, serve(std::move(socket), wheel, wanted.pause),
                                                  rethrow_unless_network);
                                   return true;
                               }),
                   rethrow);
    asio::signal_set signals(io, SIGTERM, SIGINT);
    signals.async_wait([&](std::error_code, int) { io.stop(); });
    io.run();
    return 0;
}

} // namespace durable_demo
