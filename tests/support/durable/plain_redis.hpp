// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A blocking connection to the redis-server of a test.
#pragma once

#include "src/durable/resp_reader.hpp"

#include <cogwheel/durable/redis_command.hpp>

#include <array>
#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

namespace cogwheel_tests {

/// Errors, of all functions: std::runtime_error, also if the server does not answer in time.
class plain_redis {
public:
    static constexpr std::chrono::seconds usual_limit{60};

    /// Connects to a unix socket.
    explicit plain_redis(const std::string& socket, std::chrono::seconds limit = usual_limit)
        : plain_redis(AF_UNIX, limit) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        socket.copy(address.sun_path, sizeof(address.sun_path) - 1);
        connect(address);
    }
    /// Connects to a port of 127.0.0.1.
    explicit plain_redis(std::uint16_t port, std::chrono::seconds limit = usual_limit) : plain_redis(AF_INET, limit) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(port);
        connect(address);
    }
    plain_redis(plain_redis&& other) noexcept
        : descriptor_(std::exchange(other.descriptor_, -1)), reader_(std::move(other.reader_)) {}
    plain_redis& operator=(plain_redis&&) = delete;
    ~plain_redis() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }

    cogwheel::redis_reply operator()(const cogwheel::redis_command& command) { return together({command}).front(); }
    /// Sends them in one write.
    std::vector<cogwheel::redis_reply> together(const std::vector<cogwheel::redis_command>& commands) {
        std::string bytes;
        for (const auto& c : commands) c.append_to(bytes);
        write(bytes);
        std::vector<cogwheel::redis_reply> replies;
        for (std::size_t i = 0; i < commands.size(); ++i) replies.push_back(next());
        return replies;
    }

    /// Waits for the next reply, or for what comes unasked: messages of a channel.
    cogwheel::redis_reply next() {
        using outcome = cogwheel::detail::resp_reader::outcome;
        std::array<char, 16 * 1024> piece; // NOLINT(cppcoreguidelines-pro-type-member-init)
        for (;;) {
            cogwheel::redis_reply reply;
            const auto got = reader_.next(reply);
            if (got == outcome::reply) return reply;
            if (got == outcome::bad) throw std::runtime_error(std::string(reader_.message()));
            const auto n = ::recv(descriptor_, piece.data(), piece.size(), 0);
            if (n < 0) fail("recv");
            if (n == 0) throw std::runtime_error("redis of a test: the server closed the connection");
            reader_.feed({piece.data(), static_cast<std::size_t>(n)});
        }
    }

private:
    plain_redis(int domain, std::chrono::seconds limit) : descriptor_(::socket(domain, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        const timeval time{.tv_sec = limit.count(), .tv_usec = 0};
        for (const int option : {SO_RCVTIMEO, SO_SNDTIMEO})
            ::setsockopt(descriptor_, SOL_SOCKET, option, &time, sizeof(time));
    }

    [[noreturn]] static void fail(const char* what) {
        throw std::system_error(errno, std::generic_category(), std::string("redis of a test: ") + what);
    }
    template <class Address>
    void connect(const Address& a) {
        if (::connect(descriptor_, reinterpret_cast<const sockaddr*>(&a), sizeof(a)) != 0) fail("connect");
    }
    void write(std::string_view bytes) {
        while (!bytes.empty()) {
            const auto n = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (n < 0) fail("send");
            bytes.remove_prefix(static_cast<std::size_t>(n));
        }
    }
    int descriptor_;
    cogwheel::detail::resp_reader reader_{std::size_t{1} << 30};
};

} // namespace cogwheel_tests
