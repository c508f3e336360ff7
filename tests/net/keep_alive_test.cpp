// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Heartbeats: peers that live stay, whatever they do; those that have gone are closed in time.
#include "support/net/idle_rig.hpp"
#include "support/net/many_descriptors.hpp"
#include "support/net/socket_pair.hpp"

#include <cogwheel/net/idle_stream.hpp>
#include <cogwheel/net/overload_factor.hpp>

#include <asio/bind_executor.hpp>
#include <asio/write.hpp>
#include <doctest/doctest.h>

#include <array>
#include <deque>
#include <optional>
#include <stdexcept>
#include <string>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

enum class habit {
    talks,    // sends something every 3 s, and knows no pings
    listens,  // is sent something every second, and answers pings
    is_quiet, // answers pings, and nothing else happens
    has_gone, // takes what it is sent, and says nothing
};

/// A connection of a server, and its peer.
template <class Wheel>
class watched_connection {
public:
    watched_connection(asio::io_context& io, const Wheel& wheel, const idle_timeouts& limits, habit h)
        : peer(io), does(h) {
        stream_socket mine(io);
        connect_pair(mine, peer);
        stream.emplace(wheel, limits, std::move(mine));
        read();
        hear();
    }

    void keep_alive() {
        stream->keep_alive([this] { ++pings, send('?'); }, [this](const idle_event& e) { closed_by = e; });
    }
    void send(char c) {
        out[0] = c;
        stream->async_write_some(asio::buffer(out), [](std::error_code, std::size_t) {});
    }
    void say(char c) { asio::write(peer, asio::buffer(&c, 1)); }
    /// What happens by itself in a second.
    void live(int second) {
        if (does == habit::listens && !closed_by) send('!');
        if (does == habit::talks && second % 3 == 0) say('t');
    }

    std::optional<idle_stream<stream_socket, Wheel>> stream;
    stream_socket peer;
    habit does;
    int pings = 0;
    std::optional<idle_event> closed_by;

private:
    void read() {
        stream->async_read_some(asio::buffer(in), [this](std::error_code ec, std::size_t) {
            if (!ec) read();
        });
    }
    void hear() {
        peer.async_read_some(asio::buffer(heard), [this](std::error_code ec, std::size_t n) {
            if (ec) return;
            for (std::size_t i = 0; i < n; ++i)
                if (heard[i] == '?' && (does == habit::listens || does == habit::is_quiet)) say('a');
            hear();
        });
    }

    std::array<char, 64> in{}, heard{};
    std::array<char, 1> out{};
};

constexpr idle_timeouts heartbeats{.reader = 30s, .ping = 10s};

template <class Wheel>
struct one_connection {
    asio::io_context io;
    Wheel wheel{io, {.tick = 1ms}};
    watched_connection<Wheel> c;

    explicit one_connection(habit h, const idle_timeouts& limits = heartbeats) : c(io, wheel, limits, h) {}
    void pass_seconds(int n) {
        for (int s = 1; s <= n; ++s) {
            pass(io, 1s);
            c.live(s);
            run_ready(io);
        }
    }
};

} // namespace

TEST_CASE("two_thousand_peers_those_that_live_stay_the_others_are_closed_in_time") {
    const std::size_t peers = allow_descriptors(4'100) / 2 - 50;
    CHECK(peers == 2'000);
    asio::io_context io;
    manual_timer_wheel wheel(io, {.tick = 10ms});
    std::deque<watched_connection<manual_timer_wheel>> all;
    for (std::size_t i = 0; i < peers; ++i)
        all.emplace_back(io, wheel, heartbeats, static_cast<habit>(i % 4)).keep_alive();
    for (int second = 1; second <= 100; ++second) {
        pass(io, 1s);
        for (auto& c : all) c.live(second);
        run_ready(io);
        std::size_t closed[4]{};
        for (const auto& c : all) closed[static_cast<std::size_t>(c.does)] += c.closed_by.has_value();
        REQUIRE(closed[0] + closed[1] + closed[2] == 0);
        REQUIRE(closed[3] == (second < 30 ? 0 : peers / 4));
    }
    for (const auto& c : all) REQUIRE(c.pings == (c.does == habit::has_gone ? 2 : 10)); // at 10 s, 20 s ...
}

TEST_CASE_TEMPLATE("keep_alive_pings_that_throw_go_on", Wheel, BOTH_WHEELS) {
    one_connection<Wheel> r(habit::is_quiet);
    int pings = 0;
    r.c.stream->keep_alive([&] {
        ++pings;
        r.c.send('?');
        throw std::runtime_error("ping");
    });
    for (int i = 1; i <= 3; ++i) {
        CHECK_THROWS_AS(pass(r.io, 10s), std::runtime_error);
        run_ready(r.io); // the answer
        CHECK(pings == i);
    }
    CHECK(r.c.stream->lowest_layer().is_open());
}

TEST_CASE_TEMPLATE("keep_alive_ping_may_close_or_destroy_the_stream_or_take_over", Wheel, BOTH_WHEELS) {
    one_connection<Wheel> r(habit::is_quiet);
    idle_log log;
    bool closed = false;
    int pings = 0;
    const auto start = [&](auto what) {
        r.c.stream->keep_alive([&, what] { ++pings, what(); }, [&](const idle_event&) { closed = true; });
    };
    SUBCASE("close") {
        start([&] { r.c.stream->close(); });
    }
    SUBCASE("close below") {
        start([&] { r.c.stream->lowest_layer().close(); });
    }
    SUBCASE("destroy") {
        start([&] { r.c.stream.reset(); });
    }
    SUBCASE("take over") {
        start([&] { r.c.stream->async_idle(log.handler()); });
    }
    r.pass_seconds(10);
    CHECK(pings == 1);
    if (log.size() == 0 && r.c.stream && r.c.stream->monitor().waiting()) pass(r.io, 10s); // its ping
    pass(r.io, 50s);
    CHECK(pings == 1);
    CHECK_FALSE(closed);
    CHECK(r.wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("keep_alive_under_overload_peers_that_live_stay", Wheel, BOTH_WHEELS) {
    one_connection<Wheel> r(habit::is_quiet);
    r.c.keep_alive();
    r.pass_seconds(5);
    overload_factor(r.wheel, 0.2);
    r.pass_seconds(60);
    CHECK_FALSE(r.c.closed_by);
    CHECK(r.c.pings >= 25);
    overload_factor(r.wheel, 1);
    r.pass_seconds(60);
    CHECK_FALSE(r.c.closed_by);
}

TEST_CASE_TEMPLATE("close_when_idle_does_not_close_at_a_ping", Wheel, BOTH_WHEELS) {
    one_connection<Wheel> r(habit::talks);
    std::optional<idle_event> closed;
    r.c.stream->close_when_idle([&](const idle_event& e) { closed = e; });
    r.pass_seconds(60);
    CHECK_FALSE(closed);
    r.c.does = habit::has_gone;
    r.pass_seconds(29);
    CHECK_FALSE(closed);
    r.pass_seconds(1);
    REQUIRE(closed);
    CHECK(closed->kind == idle_kind::reader);
}

TEST_CASE_TEMPLATE("async_idle_reports_pings_to_a_program_that_sends_them_itself", Wheel, BOTH_WHEELS) {
    one_connection<Wheel> r(habit::is_quiet);
    idle_log log;
    r.c.stream->async_idle(log.handler());
    pass(r.io, 10s);
    REQUIRE(log.size() == 1);
    CHECK(log.last().event.kind == idle_kind::ping);
    CHECK(log.last().event.idle_for == 10s);
    CHECK(r.c.stream->lowest_layer().is_open());
}
