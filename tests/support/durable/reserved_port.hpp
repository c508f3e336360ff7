// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// TCP ports for servers that must be told theirs: as tests/support/reserved_ports.py, with which it shares the names.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace cogwheel_tests {

/// A socket that is bound to nothing yet, and closed with its object. A child process does not get it.
class bound_socket {
public:
    bound_socket(int domain, int type) : descriptor_(::socket(domain, type | SOCK_CLOEXEC, 0)) {}
    bound_socket(bound_socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    bound_socket& operator=(bound_socket&&) = delete;
    ~bound_socket() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }

    template <class Address>
    bool bind(const Address& a, std::size_t size = sizeof(Address)) {
        return ::bind(descriptor_, reinterpret_cast<const sockaddr*>(&a), static_cast<socklen_t>(size)) == 0;
    }

private:
    int descriptor_;
};

/// Returns a port of 127.0.0.1 that nobody has. No other test gets it until this process ends: a name among the
/// abstract unix sockets says that it is taken. It is below the ports that Linux gives to connections (from 32,768 on),
/// one of which could take it before the server does.
inline std::uint16_t reserved_tcp_port() {
    static std::vector<bound_socket> reservations; // tests start servers on one thread
    static std::random_device random;
    for (;;) {
        const auto port = std::uniform_int_distribution<std::uint16_t>(10'000, 32'767)(random);
        sockaddr_un name{};
        name.sun_family = AF_UNIX;
        const std::string text = "cogwheel-test-port-" + std::to_string(port);
        text.copy(name.sun_path + 1, text.size());
        bound_socket reservation(AF_UNIX, SOCK_STREAM);
        if (!reservation.bind(name, offsetof(sockaddr_un, sun_path) + 1 + text.size())) continue;

        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(port);
        if (!bound_socket(AF_INET, SOCK_STREAM).bind(address)) continue;
        reservations.push_back(std::move(reservation));
        return port;
    }
}

} // namespace cogwheel_tests
