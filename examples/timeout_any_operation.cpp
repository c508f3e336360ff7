// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A limit on operations of every kind: a read, a whole coroutine, and several steps that share one deadline. The error
// timed_out tells it apart from a user's cancellation.

#include <cogwheel/asio/timeout.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/use_awaitable.hpp>

#include <array>
#include <cstdio>
#include <exception>

namespace {

using namespace std::chrono_literals;
using asio::ip::tcp;

// A peer that accepts, and never says a word.
asio::awaitable<void> silent_peer(tcp::acceptor& acceptor, tcp::socket& kept) {
    kept = co_await acceptor.async_accept(asio::use_awaitable);
}

asio::awaitable<std::size_t> read_greeting(tcp::socket& socket) {
    std::array<char, 16> greeting{};
    co_return co_await asio::async_read(socket, asio::buffer(greeting), asio::use_awaitable);
}

void report(const char* what, const std::system_error& e) {
    std::printf("%s: %s\n", what, e.code() == asio::error::timed_out ? "timed out" : e.what());
}

asio::awaitable<void> client(cogwheel::local_timer_wheel& wheel, tcp::endpoint server) {
    tcp::socket socket(co_await asio::this_coro::executor);

    // One deadline for all the steps of a beginning; each gets what is left of it.
    const cogwheel::timeout_scope start(wheel, 2s);
    co_await socket.async_connect(server, start(asio::use_awaitable));
    std::puts("connected in time");

    std::array<char, 16> buffer{};
    try {
        co_await socket.async_read_some(asio::buffer(buffer), cogwheel::timeout(wheel, 50ms, asio::use_awaitable));
    } catch (const std::system_error& e) {
        report("a read", e);
    }

    try {
        co_await cogwheel::timeout(wheel, 50ms, read_greeting(socket));
    } catch (const std::system_error& e) {
        report("a coroutine", e);
    }

    // The same with a callback: the socket is as good as before, so the next read may wait anew.
    socket.async_read_some(asio::buffer(buffer), cogwheel::timeout(wheel, 50ms, [](std::error_code ec, std::size_t) {
                               std::printf("a callback: %s\n", ec == asio::error::timed_out ? "timed out" : "??");
                           }));
    co_await wheel.async_wait(100ms, asio::use_awaitable);
}

// Out of run(), and so the end of the program: asio::detached would drop it.
void rethrow(const std::exception_ptr& failure) {
    if (failure) std::rethrow_exception(failure);
}

} // namespace

int main() {
    asio::io_context io(1);
    cogwheel::local_timer_wheel wheel(io);
    tcp::acceptor acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    tcp::socket kept(io);

    asio::co_spawn(io, silent_peer(acceptor, kept), rethrow);
    asio::co_spawn(io, client(wheel, acceptor.local_endpoint()), rethrow);
    io.run();
}
