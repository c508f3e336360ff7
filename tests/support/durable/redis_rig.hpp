// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A context that runs on threads of its own, and calls of the Redis client that block: for smoke tests.
#pragma once

#include "support/durable/redis_server.hpp"
#include "support/threads.hpp"

#include <cogwheel/durable/redis_client.hpp>
#include <cogwheel/durable/redis_connection.hpp>

#include <doctest/doctest.h>

#include <future>
#include <mutex>

namespace cogwheel_tests {

/// Says that a test is skipped, if redis-server is not installed.
inline bool redis_missing() {
    if (redis_server::installed()) return false;
    MESSAGE("skipped: redis-server is not installed");
    return true;
}

/// Clients are made after the rig, and so end before it.
class redis_rig {
public:
    explicit redis_rig(int threads = 1) : threads_(io_, threads) {}
    ~redis_rig() = default;

    asio::io_context& io() { return io_; }
    const cogwheel::timer_wheel& wheel() const { return wheel_; }

    struct answer {
        std::error_code error;
        cogwheel::redis_reply reply;
    };
    struct answers {
        std::error_code error;
        std::vector<cogwheel::redis_reply> replies;
    };

    // A call without an answer after a minute has hung.
    template <class Client>
    answer command(Client& c, cogwheel::redis_command command) {
        return wait<answer>([&](auto done) {
            c.async_command(std::move(command), [done](std::error_code ec, cogwheel::redis_reply r) {
                done->set_value({ec, std::move(r)});
            });
        });
    }
    template <class Client>
    answers commands(Client& c, std::vector<cogwheel::redis_command> some) {
        return wait<answers>([&](auto done) {
            c.async_commands(std::move(some), [done](std::error_code ec, std::vector<cogwheel::redis_reply> r) {
                done->set_value({ec, std::move(r)});
            });
        });
    }
    template <class Client>
    answers on_all(Client& c, cogwheel::redis_command command) {
        return wait<answers>([&](auto done) {
            c.async_on_all(std::move(command), [done](std::error_code ec, std::vector<cogwheel::redis_reply> r) {
                done->set_value({ec, std::move(r)});
            });
        });
    }
    template <class Client>
    std::error_code connect(Client& c) {
        return wait<std::error_code>(
            [&](auto done) { c.async_wait_connected([done](std::error_code ec) { done->set_value(ec); }); });
    }

    /// For redis_options::log.
    auto log() {
        return [this](std::string_view line) {
            const std::lock_guard lock(mutex_);
            log_ += line;
            log_ += '\n';
        };
    }
    std::string logged() const {
        const std::lock_guard lock(mutex_);
        return log_;
    }

private:
    template <class T, class Start>
    static T wait(Start start) {
        const auto done = std::make_shared<std::promise<T>>();
        auto result = done->get_future();
        start(done);
        if (result.wait_for(std::chrono::minutes(1)) != std::future_status::ready)
            throw std::runtime_error("no answer after a minute");
        return result.get();
    }

    mutable std::mutex mutex_;
    std::string log_;
    asio::io_context io_;
    cogwheel::timer_wheel wheel_{io_};
    runners threads_;
};

} // namespace cogwheel_tests
