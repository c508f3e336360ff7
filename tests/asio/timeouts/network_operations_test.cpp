// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Limits on real I/O over the loopback. The limit's time is virtual: it passes when the test says so.
#include "support/asio/scripted_operation.hpp"

#include <asio/bind_executor.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/read_until.hpp>
#include <asio/write.hpp>
#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;
using asio::ip::tcp;

namespace {

template <class Wheel>
struct connection {
    asio::io_context io;
    Wheel wheel{io};
    tcp::acceptor acceptor{io, tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
    tcp::socket near{io}, far{io};
    read_result result;

    connection() {
        near.connect(acceptor.local_endpoint());
        acceptor.accept(far);
    }
    void send(const std::string& data) { asio::write(far, asio::buffer(data)); }
    void run_until_done() {
        io.restart();
        while (result.times == 0) io.run_one();
    }
    /// Sends it and runs until it has been read. A proactor reads before available() could tell.
    void send_and_read(const std::string& data) {
        run_ready(io); // after this, only the data has something run
        send(data);
        while (near.available() == 0 && run_ready(io) == 0) {
        }
        run_ready(io);
    }
    void time_out() { pass(io, 20ms); }
};

} // namespace

TEST_CASE_TEMPLATE("async_read_some", Wheel, BOTH_WHEELS) {
    connection<Wheel> c;
    char data[16];
    c.near.async_read_some(asio::buffer(data), timeout(c.wheel, 10ms, c.result.handler()));
    SUBCASE("in time") {
        c.send("hello");
        c.run_until_done();
        CHECK_FALSE(c.result.ec);
        CHECK(std::string(data, c.result.bytes) == "hello");
    }
    SUBCASE("too late") {
        c.time_out();
        CHECK(c.result.ec == asio::error::timed_out);
        // The socket is as good as before, and what comes now is read by the next one.
        c.result = {};
        c.send("late");
        c.near.async_read_some(asio::buffer(data), timeout(c.wheel, 10ms, c.result.handler()));
        c.run_until_done();
        CHECK(std::string(data, c.result.bytes) == "late");
    }
    SUBCASE("closed by the peer") {
        c.far.close();
        c.run_until_done();
        CHECK(c.result.ec == asio::error::eof);
    }
    CHECK(c.result.times == 1);
    CHECK(c.wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("async_read_some_data_arrived_before_the_turn_of_the_limit_is_delivered", Wheel, BOTH_WHEELS) {
    connection<Wheel> c;
    char data[16];
    c.send("x");
    c.near.async_read_some(asio::buffer(data), timeout(c.wheel, 0ms, c.result.handler()));
    c.run_until_done();
    CHECK(c.result.times == 1);
    if (c.result.ec) { // the limit came first: then the data is still there
        CHECK(c.result.ec == asio::error::timed_out);
        c.result = {};
        c.near.async_read_some(asio::buffer(data), c.result.handler());
        c.run_until_done();
    }
    CHECK(c.result.bytes == 1);
}

TEST_CASE_TEMPLATE("async_read_part_of_the_data_is_told", Wheel, BOTH_WHEELS) {
    connection<Wheel> c;
    std::vector<char> data(8);
    asio::async_read(c.near, asio::buffer(data), timeout(c.wheel, 10ms, c.result.handler()));
    c.send_and_read("123");
    CHECK(c.result.times == 0);
    SUBCASE("too late") {
        c.time_out();
        CHECK(c.result.ec == asio::error::timed_out);
        CHECK(c.result.bytes == 3);
    }
    SUBCASE("in time") {
        c.send("45678");
        c.run_until_done();
        CHECK_FALSE(c.result.ec);
        CHECK(c.result.bytes == 8);
    }
    CHECK(c.result.times == 1);
    CHECK(c.wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("async_read_until", Wheel, BOTH_WHEELS) {
    connection<Wheel> c;
    std::string line;
    asio::async_read_until(c.near, asio::dynamic_buffer(line), '\n', timeout(c.wheel, 10ms, c.result.handler()));
    SUBCASE("too late") {
        c.send_and_read("half a ");
        c.time_out();
        CHECK(c.result.ec == asio::error::timed_out);
        CHECK(line == "half a ");
    }
    SUBCASE("in time") {
        c.send("half a ");
        c.send("line\n");
        c.run_until_done();
        CHECK_FALSE(c.result.ec);
        CHECK(line == "half a line\n");
    }
    CHECK(c.result.times == 1);
}

TEST_CASE_TEMPLATE("async_write", Wheel, BOTH_WHEELS) {
    connection<Wheel> c;
    SUBCASE("in time") {
        asio::async_write(c.near, asio::buffer("abc", 3), timeout(c.wheel, 10ms, c.result.handler()));
        c.run_until_done();
        CHECK_FALSE(c.result.ec);
        CHECK(c.result.bytes == 3);
    }
    SUBCASE("nobody reads") {
        const std::vector<char> much(64 << 20);
        asio::async_write(c.near, asio::buffer(much), timeout(c.wheel, 10ms, c.result.handler()));
        while (run_ready(c.io) != 0) {
        }
        CHECK(c.result.times == 0);
        c.time_out();
        CHECK(c.result.ec == asio::error::timed_out);
        CHECK(c.result.bytes > 0);
        CHECK(c.result.bytes < much.size());
    }
    CHECK(c.result.times == 1);
    CHECK(c.wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("async_accept_and_async_connect", Wheel, BOTH_WHEELS) {
    connection<Wheel> c;
    tcp::socket peer(c.io), client(c.io);
    std::error_code accepted, connected;
    int times = 0;
    c.acceptor.async_accept(peer, timeout(c.wheel, 10ms, [&](std::error_code ec) {
                                accepted = ec;
                                ++times;
                            }));
    SUBCASE("in time") {
        client.async_connect(c.acceptor.local_endpoint(), timeout(c.wheel, 10ms, [&](std::error_code ec) {
                                 connected = ec;
                                 ++times;
                             }));
        c.io.restart();
        while (times < 2) c.io.run_one();
        CHECK_FALSE(accepted);
        CHECK_FALSE(connected);
    }
    SUBCASE("too late") {
        c.time_out();
        CHECK(times == 1);
        CHECK(accepted == asio::error::timed_out);
    }
    CHECK(c.wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("async_accept_with_a_socket_that_has_no_default_constructor", Wheel, BOTH_WHEELS) {
    connection<Wheel> c;
    std::error_code accepted;
    int times = 0;
    const auto handler = [&](std::error_code ec, tcp::socket peer) {
        accepted = ec;
        ++times;
        CHECK(peer.is_open() == !ec);
    };
    SUBCASE("in time") {
        c.acceptor.async_accept(timeout(c.wheel, 10ms, handler));
        tcp::socket client(c.io);
        client.connect(c.acceptor.local_endpoint());
        while (times == 0) c.io.run_one();
        CHECK_FALSE(accepted);
    }
    SUBCASE("too late") {
        c.acceptor.async_accept(timeout(c.wheel, 10ms, handler));
        c.time_out();
        CHECK(accepted == asio::error::timed_out);
    }
    SUBCASE("wheel stopped: cancelled at once") {
        c.wheel.stop();
        c.acceptor.async_accept(timeout(c.wheel, 10ms, handler));
        run_ready(c.io);
        CHECK(accepted == asio::error::operation_aborted);
    }
    CHECK(times == 1);
}

TEST_CASE_TEMPLATE("async_resolve", Wheel, BOTH_WHEELS) {
    connection<Wheel> c;
    tcp::resolver resolver(c.io);
    int times = 0;
    resolver.async_resolve("127.0.0.1", "80",
                           timeout(c.wheel, 10ms, [&](std::error_code ec, tcp::resolver::results_type found) {
                               ++times;
                               CHECK_FALSE(ec);
                               CHECK(found.size() == 1);
                           }));
    while (times == 0) c.io.run_one();
    CHECK(c.wheel.pending() == 0);
}
