// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The endpoint outlives the failures of the metrics that it shows, and its time limits hold: in virtual time.
// tests/examples/prometheus_scrape.py has the other rude clients.
#include "support/metrics_endpoint.hpp"

#include <cogwheel/testing/manual_clock.hpp>

#include <asio/io_context.hpp>
#include <asio/read.hpp>
#include <doctest/doctest.h>

#include <stdexcept>

namespace {

using namespace std::chrono_literals;
using asio::ip::tcp;
using cogwheel::testing::manual_clock;

struct endpoint_rig {
    asio::io_context io{1};
    cogwheel::testing::manual_timer_wheel wheel{io};
    cogwheel::metrics metrics;
    metrics_endpoint<cogwheel::testing::manual_timer_wheel> endpoint{
        io.get_executor(), wheel, metrics, {asio::ip::address_v4::loopback(), 0}, "metrics_endpoint_test"};

    endpoint_rig() { endpoint.start(); }
    ~endpoint_rig() {
        endpoint.stop();
        wheel.stop();
        io.run();
    }

    tcp::endpoint address() const {
        const auto text = endpoint.endpoint();
        return {asio::ip::address_v4::loopback(),
                static_cast<std::uint16_t>(std::stoi(text.substr(text.find(':') + 1)))};
    }
};

// A client that sends all at once and reads to the end.
struct endpoint_client {
    tcp::socket socket;
    std::string answer;
    bool ended = false;

    endpoint_client(endpoint_rig& rig, std::string_view request) : socket{rig.io} {
        socket.connect(rig.address());
        asio::write(socket, asio::buffer(request));
    }
    void read() {
        asio::async_read(socket, asio::dynamic_buffer(answer), [this](std::error_code, std::size_t) {
            ended = true;
            std::error_code ignored;
            socket.close(ignored);
        });
    }
};

constexpr std::string_view get = "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n";

template <class Condition>
void run_until(endpoint_rig& rig, Condition holds) {
    while (!holds()) rig.io.run_one();
}

std::string answer_of(endpoint_rig& rig, std::string_view request = get) {
    endpoint_client client{rig, request};
    client.read();
    run_until(rig, [&] { return client.ended; });
    return client.answer;
}

} // namespace

TEST_CASE("metrics_endpoint_function_that_throws_is_answered_with_500") {
    endpoint_rig rig;
    bool broken = true;
    rig.metrics.gauge("fragile", "Throws at first.", [&] {
        if (broken) throw std::runtime_error("no value yet");
        return 7.0;
    });
    CHECK(answer_of(rig) == "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    broken = false;
    CHECK(answer_of(rig).ends_with("fragile 7\n"));
    run_until(rig, [&] { return rig.endpoint.counts().served == 1; });
    CHECK(rig.endpoint.counts().refused == 1);
}

TEST_CASE("metrics_endpoint_half_a_head_is_refused_after_its_limit") {
    endpoint_rig rig;
    endpoint_client client{rig, get.substr(0, 20)};
    client.read();
    rig.io.poll();
    run_until(rig, [&] { return rig.wheel.pending() == 1; });
    manual_clock::advance(4990ms);
    rig.io.poll();
    CHECK_FALSE(client.ended);
    manual_clock::advance(20ms);
    run_until(rig, [&] { return client.ended; });
    CHECK(client.answer.starts_with("HTTP/1.1 408 "));
}

TEST_CASE("metrics_endpoint_client_that_stays_is_dropped_after_its_limit") {
    endpoint_rig rig;
    rig.metrics.gauge("value", "A value.", [] { return 1.0; });
    endpoint_client client{rig, get}; // never reads
    run_until(rig, [&] { return client.socket.available() != 0; });
    run_until(rig, [&] { return rig.wheel.pending() == 1; });
    manual_clock::advance(9990ms);
    rig.io.poll();
    CHECK(rig.endpoint.counts().dropped == 0);
    manual_clock::advance(20ms);
    run_until(rig, [&] { return rig.endpoint.counts().dropped == 1; });
    CHECK(rig.endpoint.counts().served == 0);
}

TEST_CASE("metrics_endpoint_stopped_lets_run_return") {
    endpoint_rig rig;
    endpoint_client client{rig, get.substr(0, 20)};
    run_until(rig, [&] { return rig.wheel.pending() == 1; });
    rig.endpoint.stop();
    rig.io.run();
    CHECK(rig.wheel.pending() == 0);
}
