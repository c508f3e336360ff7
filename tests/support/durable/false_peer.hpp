// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A peer that is no Redis server: what it does is up to the test.
#pragma once

#include "support/threads.hpp"

#include <cogwheel/durable/redis_options.hpp>

#include <asio/ip/tcp.hpp>
#include <asio/write.hpp>

#include <atomic>
#include <functional>
#include <string>

namespace cogwheel_tests {

/// Accepts connections one after the other on a thread of its own, and hands each to `serve`, which blocks while it
/// talks. The end of the object closes the connection that is open.
class false_peer {
public:
    using socket_type = asio::ip::tcp::socket;

    explicit false_peer(std::function<void(socket_type&)> serve)
        : acceptor_(io_, {asio::ip::address_v4::loopback(), 0}), serve_(std::move(serve)), thread_([this] { run(); }) {}
    ~false_peer() {
        ended_ = true;
        const int fd = open_;
        if (fd >= 0) ::shutdown(fd, SHUT_RDWR);
        ::shutdown(acceptor_.native_handle(), SHUT_RDWR);
        thread_.join();
    }
    false_peer(const false_peer&) = delete;
    false_peer& operator=(const false_peer&) = delete;

    cogwheel::redis_address address() const { return {.host = "127.0.0.1", .port = acceptor_.local_endpoint().port()}; }
    int accepted() const { return accepted_; }

    /// Reads and drops bytes until the other side closes.
    static void drain(socket_type& s) {
        std::error_code ec;
        std::array<char, 4096> bytes; // NOLINT(cppcoreguidelines-pro-type-member-init)
        while (!ec) s.read_some(asio::buffer(bytes), ec);
    }
    static void say(socket_type& s, std::string_view text) {
        std::error_code ec;
        asio::write(s, asio::buffer(text), ec);
    }
    /// Reads until `words` has come.
    static void await(socket_type& s, std::string_view words) {
        std::string seen;
        std::error_code ec;
        while (!ec && seen.find(words) == std::string::npos) {
            std::array<char, 512> bytes; // NOLINT(cppcoreguidelines-pro-type-member-init)
            const std::size_t n = s.read_some(asio::buffer(bytes), ec);
            seen.append(bytes.data(), n);
        }
    }
    /// Reads the commands of a handshake (INFO, ROLE, PING), and answers as a master.
    static void shake_hands(socket_type& s) {
        await(s, "PING\r\n");
        say(s, "$21\r\nredis_version:7.2.4\r\n\r\n*1\r\n$6\r\nmaster\r\n+PONG\r\n");
    }

private:
    void run() {
        while (!ended_) {
            std::error_code ec;
            socket_type s(io_);
            acceptor_.accept(s, ec);
            if (ec) break;
            ++accepted_;
            open_ = s.native_handle();
            if (!ended_) serve_(s);
            open_ = -1;
        }
    }

    asio::io_context io_;
    asio::ip::tcp::acceptor acceptor_;
    std::function<void(socket_type&)> serve_;
    std::atomic<int> open_ = -1;
    std::atomic<int> accepted_ = 0;
    std::atomic<bool> ended_ = false;
    std::thread thread_; // after all that it uses
};

} // namespace cogwheel_tests
