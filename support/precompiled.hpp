// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What most examples include, read once for all of them where tests are built. Each example includes what it needs all
// the same. Nothing calls these functions: with Clang, what they use is compiled with the header.
#pragma once

#include "support/accept_loop.hpp"
#include "support/address.hpp"
#include "support/command_line.hpp"
#include "support/descriptor_limit.hpp"
#include "support/listen.hpp"
#include "support/output.hpp"
#include "support/spawned.hpp"
#include "support/statistics_signal.hpp"
#include "support/steady_write.hpp"
#include "support/watch_endpoint.hpp"

#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/asio/timer_wheel.hpp>
#include <cogwheel/asio/wheel_timer.hpp>

#include <asio.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#ifdef __clang__ // GCC would compile them in each file that has this header, which doubles its time
namespace precompiled {

template <class Wheel>
asio::awaitable<void> coroutine(Wheel& wheel, asio::ip::tcp::socket& socket) {
    using namespace std::chrono_literals;
    std::error_code ec;
    const auto token = [&ec] { return asio::redirect_error(asio::use_awaitable, ec); };
    asio::steady_timer timer(co_await asio::this_coro::executor);
    co_await timer.async_wait(asio::use_awaitable);
    co_await wheel.async_wait(5s, asio::use_awaitable);
    co_await wheel.async_wait(5s, token());
    asio::ip::tcp::acceptor acceptor(socket.get_executor());
    socket = co_await acceptor.async_accept(token());
    char bytes[8];
    const std::size_t n = co_await socket.async_read_some(asio::buffer(bytes), asio::use_awaitable);
    co_await asio::async_write(socket, asio::buffer(bytes, n), asio::use_awaitable);
    co_await asio::async_write(socket, asio::buffer(bytes, n), token());
    co_await socket.async_read_some(asio::buffer(bytes), cogwheel::timeout(wheel, 5s, token()));
    co_await asio::async_write(socket, asio::buffer(bytes, n), cogwheel::timeout(wheel, 5s, token()));
}

inline void everything(asio::io_context& io) {
    using namespace std::chrono_literals;
    const asio::any_io_executor executor = asio::make_strand(io);
    asio::post(io, [] {});
    asio::post(executor, [] {});
    asio::ip::tcp::socket socket(io);
    asio::ip::tcp::acceptor(io, {asio::ip::address_v4::loopback(), 0}).async_accept(socket, [](std::error_code) {});
    cogwheel::timer_wheel wheel{io};
    cogwheel::local_timer_wheel local{io};
    asio::co_spawn(io, coroutine(wheel, socket), asio::detached);
    asio::co_spawn(executor, coroutine(local, socket), asio::detached);
    asio::signal_set(io, 2).async_wait([](std::error_code, int) {});
    cogwheel::timer_token token = wheel.schedule(5s, [] {});
    token.reschedule(5s);
    token.cancel();
    wheel.async_wait(5s, [](std::error_code) {});
    wheel.stop();
    watch_endpoint<cogwheel::timer_wheel> endpoint(executor, wheel, {}, {}, {});
    endpoint.start();
    endpoint.stop();
    asio::co_spawn(executor, coroutine(wheel, socket), rethrow);
    output::complain("{} {}", endpoint.endpoint(), wheel.stats().fired);
    std::string text;
    fmt::format_to(std::back_inserter(text), "{:>5} {:.3f}", wheel.stats().fired, 0.5);
    fmt::print("{} {}\n", wheel.stats().fired, text);
    io.run();
}

} // namespace precompiled
#endif
