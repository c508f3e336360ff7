// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// An idle_stream that is connected again: its new connection is not idle since the old one.
#include "support/net/idle_rig.hpp"
#include "support/net/socket_pair.hpp"

#include <cogwheel/net/idle_stream.hpp>

#include <doctest/doctest.h>

#include <array>
#include <optional>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

template <class Wheel>
struct client_rig {
    client_rig() { connect(); }

    void connect() {
        peer.emplace(io);
        if (stream) return connect_pair(stream->lowest_layer(), *peer);
        stream_socket mine(io);
        connect_pair(mine, *peer);
        stream.emplace(wheel, idle_timeouts{.reader = 10s}, std::move(mine));
    }
    void watch() {
        stream->close_when_idle([this](const idle_event&) { ++closed; });
    }
    void read() {
        stream->async_read_some(asio::buffer(buffer), [this](std::error_code ec, std::size_t) { ended = ec; });
    }
    void pass(std::chrono::nanoseconds by) { cogwheel_tests::pass(io, by); }

    asio::io_context io;
    Wheel wheel{io, {.tick = 1ms}};
    std::optional<stream_socket> peer;
    std::optional<idle_stream<stream_socket, Wheel>> stream;
    std::array<char, 64> buffer{};
    std::error_code ended;
    int closed = 0;
};

} // namespace

TEST_CASE_TEMPLATE("reopened_after_an_idle_close_it_has_its_whole_time", Wheel, BOTH_WHEELS) {
    client_rig<Wheel> r;
    for (int connection = 1; connection <= 3; ++connection) {
        CAPTURE(connection);
        r.watch();
        r.read();
        r.pass(9'999ms);
        CHECK(r.closed == connection - 1);
        r.pass(1ms);
        CHECK(r.closed == connection);
        CHECK(r.ended == asio::error::timed_out);
        r.pass(1h);
        r.connect();
    }
    // Whatever comes first: here, an operation.
    r.read();
    r.pass(5s);
    r.watch();
    r.pass(4'999ms);
    CHECK(r.closed == 3);
    r.pass(1ms);
    CHECK(r.closed == 4);
}

TEST_CASE_TEMPLATE("reopened_after_a_close_during_an_operation_it_has_its_whole_time", Wheel, BOTH_WHEELS) {
    client_rig<Wheel> r;
    r.watch();
    for (int connection = 1; connection <= 3; ++connection) {
        r.read();
        r.pass(5s);
        r.stream->lowest_layer().close();
        r.pass(4s);
        CHECK(r.ended == asio::error::operation_aborted);
        r.connect();
    }
    r.read();
    r.pass(9'999ms);
    CHECK(r.closed == 0);
    r.pass(1ms);
    CHECK(r.closed == 1);
}

TEST_CASE_TEMPLATE("cancelled_without_a_close_it_stays_as_idle_as_it_was", Wheel, BOTH_WHEELS) {
    client_rig<Wheel> r;
    r.watch();
    for (int i = 0; i < 9; ++i) {
        r.read();
        r.pass(1s);
        r.stream->lowest_layer().cancel();
    }
    r.pass(1s);
    CHECK(r.closed == 1);
}
