// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A loop that accepts, and that only the acceptor's end ends.
#pragma once

#include "support/output.hpp"

#include <asio/awaitable.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

#include <chrono>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

/// Calls start(socket) for each connection, until that returns false or the acceptor is closed.
///
/// Out of descriptors or memory (EMFILE, ENFILE, ENOBUFS, ENOMEM), or a connection that died in the queue: the
/// listening socket stays readable. Trying again at once would spin, giving up would leave a dead server. What start()
/// throws is treated alike. Lifetime: all arguments outlive it. Spawn it with `rethrow` (spawned.hpp).
template <class Wheel, class Start>
asio::awaitable<void> accept_loop(asio::ip::tcp::acceptor& acceptor, Wheel& wheel, std::string_view program,
                                  Start start) {
    constexpr std::chrono::milliseconds pause{100};
    for (bool complained = false;;) {
        std::string why;
        try {
            std::error_code ec;
            auto socket = co_await acceptor.async_accept(asio::redirect_error(asio::use_awaitable, ec));
            if (!acceptor.is_open()) co_return;
            if (!ec) {
                if (!start(std::move(socket))) co_return;
                complained = false;
                continue;
            }
            why = ec.message();
        } catch (const std::exception& error) {
            why = error.what();
        }
        if (!std::exchange(complained, true))
            output::complain("{}: cannot accept: {}; trying again every {} ms\n", program, why, pause.count());
        std::error_code ignored;
        co_await wheel.async_wait(pause, asio::redirect_error(asio::use_awaitable, ignored));
    }
}
