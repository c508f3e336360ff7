// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Who closes a connection that has been idle for 30 s: nobody, a wheel, or a timer of the connection's own.
//
// A policy has one `shared` a server and one object a connection. Each completed read and each completed write is told
// to it, and it closes the socket itself. Nothing of it counts while requests are served: what is armed is asked
// afterwards.
#pragma once

#include <cogwheel/net/idle_monitor.hpp>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace bench::echo {

using asio::ip::tcp;

constexpr std::chrono::seconds idle_limit{30};

struct kicks {
    std::uint64_t count = 0;

    void kick(tcp::socket& socket) {
        std::error_code ignored;
        socket.close(ignored);
        ++count;
    }
};

class no_limit {
public:
    static constexpr std::string_view name = "no limit";

    struct shared : kicks {
        explicit shared(asio::io_context&) {}
        std::size_t pending(std::size_t armed) const { return armed; }
    };

    no_limit(shared&, tcp::socket&) {}
    void start() {}
    void read() {}
    void written() {}
    bool is_armed() { return true; }
};

/// The same once more: how far two equal servers are apart.
class no_limit_again : public no_limit {
public:
    static constexpr std::string_view name = "no limit, again";
    using no_limit::no_limit;
};

/// idle_monitor reads the clock for each of the two: a handler of Asio's has no reading at hand.
template <class Wheel>
class wheel_limit {
public:
    static constexpr std::string_view name =
        std::is_same_v<Wheel, cogwheel::local_timer_wheel> ? "cogwheel-local" : "cogwheel";

    struct shared : kicks {
        explicit shared(asio::io_context& io) : wheel(io) {}
        /// A sum that nothing agrees with, if the wheel's own count is another.
        std::size_t pending(std::size_t armed) const { return wheel.pending() == armed ? armed : ~std::size_t{0}; }
        Wheel wheel;
    };

    wheel_limit(shared& all, tcp::socket& socket)
        : all_(all), socket_(socket), idle_(all.wheel, socket.get_executor(), {.all = idle_limit}) {}

    void start() {
        idle_.async_idle([this](std::error_code ec, const cogwheel::idle_event&) {
            if (!ec) all_.kick(socket_);
        });
    }
    void read() { idle_.touch_read(); }
    void written() { idle_.touch_write(); }
    bool is_armed() const { return idle_.waiting(); }

private:
    shared& all_;
    tcp::socket& socket_;
    cogwheel::idle_monitor<Wheel> idle_;
};

/// As Asio's own examples do it: a new expiry aborts the wait, and another one follows.
class steady_timer_limit {
public:
    static constexpr std::string_view name = "asio::steady_timer";

    using shared = no_limit::shared;

    steady_timer_limit(shared& all, tcp::socket& socket) : all_(all), socket_(socket), timer_(socket.get_executor()) {}

    void start() { push_back(); }
    void read() { push_back(); }
    void written() { push_back(); }
    bool is_armed() { return push_back() == 1; }

private:
    /// How many waits it has aborted.
    std::size_t push_back() {
        const std::size_t aborted = timer_.expires_after(idle_limit);
        timer_.async_wait([this](std::error_code ec) {
            if (ec) return;
            // It may have been pushed back when it was on its way already.
            if (timer_.expiry() <= asio::steady_timer::clock_type::now()) all_.kick(socket_);
        });
        return aborted;
    }

    shared& all_;
    tcp::socket& socket_;
    asio::steady_timer timer_;
};

} // namespace bench::echo
