// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A pool of examples/connection_pool on real sockets in virtual time.
#pragma once

#include "connection_pool/pool.hpp"
#include "support/asio/virtual_wheel.hpp"

#include <asio/co_spawn.hpp>
#include <doctest/doctest.h>

#include <chrono>
#include <memory>

namespace cogwheel_tests {

using wheel_type = cogwheel::testing::manual_timer_wheel;
using pool_type = connection_pool<wheel_type>;

struct request {
    pool_type::lease lease;
    std::error_code ec;
    int times = 0; // completed

    auto handler() {
        return [this](const std::exception_ptr& e, pool_type::lease l) {
            ++times;
            lease = std::move(l);
            try {
                if (e != nullptr) std::rethrow_exception(e);
            } catch (const std::system_error& error) {
                ec = error.code();
            }
        };
    }
    bool served() const { return times == 1 && !ec; }
    bool waits() const { return times == 0; }
    bool timed_out() const { return times == 1 && ec == asio::error::timed_out; }
    void drop() { lease = {}; }
};

/// A pool whose wheel may turn in a context of its own, and a server that is not in a hurry.
struct pool_rig {
    asio::io_context time;
    asio::io_context io;
    wheel_type wheel;
    asio::ip::tcp::acceptor acceptor{io, {asio::ip::address_v4::loopback(), 0}};
    std::shared_ptr<pool_type> pool;

    explicit pool_rig(const pool_options& options = {}, bool apart = false)
        : wheel{apart ? time : io, {.tick = std::chrono::milliseconds(1)}},
          pool{std::make_shared<pool_type>(io.get_executor(), wheel, acceptor.local_endpoint(), options)} {}
    ~pool_rig() { pool->close(); }

    std::unique_ptr<request> start(pool_type::deadline until = {}) {
        auto r = std::make_unique<request>();
        asio::co_spawn(io, pool->acquire(until), r->handler());
        run();
        return r;
    }
    std::unique_ptr<request> start(std::chrono::nanoseconds patience) {
        return start(pool_type::deadline::after(patience));
    }
    /// One that needs the network before it is done.
    std::unique_ptr<request> get() {
        auto r = start();
        eventually([&] { return r->times != 0; });
        CHECK(r->served());
        return r;
    }

    void run() { run_ready(io); }
    void pass(std::chrono::nanoseconds by) { cogwheel_tests::pass(io, by); }
    /// The network takes its own time; virtual time stands still meanwhile.
    template <class Condition>
    void eventually(Condition condition) {
        for (int i = 0; i < 10'000 && !condition(); ++i) {
            run_ready(time);
            io.restart();
            io.run_one_for(std::chrono::milliseconds(1));
        }
        CHECK(condition());
    }
};

} // namespace cogwheel_tests
