// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// See load.hpp.
#include "echo/load.hpp"

#include "numbers.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace bench::echo {

namespace {

std::int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

// What a system call returned.
int checked(int result, const char* what) {
    if (result < 0) throw std::system_error(errno, std::generic_category(), what);
    return result;
}

int connected(std::uint16_t port) {
    const int s = checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
    const int on = 1;
    const linger abort{1, 0}; // or the ports would stay taken for a minute after each leg
    ::setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(s, SOL_SOCKET, SO_LINGER, &abort, sizeof abort);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(port);
    if (::connect(s, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) return s;
    const int error = errno;
    ::close(s);
    throw std::system_error(error, std::generic_category(), "connect");
}

// The element that would be there if all were sorted.
std::int64_t quantile(std::vector<std::int64_t>& all, double share) {
    const auto at = all.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(all.size() - 1));
    std::nth_element(all.begin(), at, all.end());
    return *at;
}

} // namespace

load::load() : events_(checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")) {}

load::~load() {
    for (const client& c : clients_) ::close(c.socket);
    ::close(events_);
}

void load::connect(std::size_t connections, std::uint16_t port) {
    clients_.reserve(connections);
    while (clients_.size() < connections) {
        epoll_event e{};
        e.events = EPOLLIN | EPOLLET;
        e.data.u64 = clients_.size();
        clients_.emplace_back().socket = connected(port);
        checked(::epoll_ctl(events_, EPOLL_CTL_ADD, clients_.back().socket, &e), "epoll_ctl");
    }
}

void load::send(client& c, std::uint64_t key) {
    splitmix64 random(key);
    for (std::size_t i = 0; i < c.sent.size(); i += sizeof(std::uint64_t)) {
        const std::uint64_t word = random();
        std::memcpy(c.sent.data() + i, &word, sizeof word);
    }
    c.received = 0;
    c.intact = true;
    c.sent_at = now_ns();
    if (::send(c.socket, c.sent.data(), c.sent.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(c.sent.size()))
        throw std::system_error(errno, std::generic_category(), "send");
}

// True if the answer is complete. Answers come in one piece as a rule; a rest has an event of its own.
bool load::receive(client& c) {
    message answer;
    const ssize_t n = ::recv(c.socket, answer.data(), answer.size(), MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN) return false;
    if (n <= 0) throw std::runtime_error("the server has closed a connection");
    const auto size = static_cast<std::size_t>(n);
    if (c.sent_at == 0 || c.received + size > c.sent.size())
        throw std::runtime_error("the server has sent more than it was sent");
    c.intact = c.intact && std::memcmp(answer.data(), c.sent.data() + c.received, size) == 0;
    c.received += size;
    return c.received == c.sent.size();
}

report load::run(std::uint64_t requests, std::uint64_t seed) {
    splitmix64 random(seed);
    std::vector<std::int64_t> latencies;
    latencies.reserve(requests);
    std::uint64_t sent = 0;
    const auto send_next = [&] {
        std::uint32_t i = random.below(clients_.size());
        while (clients_[i].sent_at != 0) i = random.below(clients_.size());
        send(clients_[i], random());
        ++sent;
    };

    report seen;
    const std::int64_t begin = now_ns();
    const std::size_t in_flight = std::min(most_in_flight, (clients_.size() + 1) / 2); // one without is soon found
    while (sent < std::min<std::uint64_t>(in_flight, requests)) send_next();
    while (latencies.size() < requests) {
        std::array<epoll_event, most_in_flight> ready;
        const int n = ::epoll_wait(events_, ready.data(), static_cast<int>(ready.size()), -1);
        for (std::size_t i = 0; i < static_cast<std::size_t>(std::max(n, 0)); ++i) {
            client& c = clients_[ready[i].data.u64];
            if (!receive(c)) continue;
            latencies.push_back(now_ns() - c.sent_at);
            seen.intact += c.intact;
            c.sent_at = 0;
            if (sent < requests) send_next();
        }
    }
    seen.wall_ns = static_cast<double>(now_ns() - begin);
    seen.p50_ns = static_cast<double>(quantile(latencies, 0.5));
    seen.p99_ns = static_cast<double>(quantile(latencies, 0.99));
    seen.max_ns = static_cast<double>(quantile(latencies, 1));
    return seen;
}

} // namespace bench::echo
