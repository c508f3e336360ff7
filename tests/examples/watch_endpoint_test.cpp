// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The endpoint outlives the failures of the metrics that it shows, its time limits hold (in virtual time), and viewers
// get updates.
// tests/examples/prometheus_scrape.py has the other rude clients.
#include "support/watch_endpoint.hpp"

#include <cogwheel/testing/manual_clock.hpp>

#include <asio/io_context.hpp>
#include <asio/read.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <vector>

namespace {

using namespace std::chrono_literals;
using asio::ip::tcp;
using cogwheel::testing::manual_clock;

struct endpoint_rig {
    asio::io_context io{1};
    cogwheel::testing::manual_timer_wheel wheel{io};
    cogwheel::metrics metrics;
    cogwheel::debug_page page;
    watch_endpoint<cogwheel::testing::manual_timer_wheel> endpoint{
        io.get_executor(), wheel, {&metrics, &page}, {asio::ip::address_v4::loopback(), 0}, "watch_endpoint_test"};

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

constexpr std::string_view events = "GET /events HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n";
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

TEST_CASE("watch_endpoint_function_that_throws_is_answered_with_500") {
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

TEST_CASE("watch_endpoint_half_a_head_is_refused_after_its_limit") {
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

TEST_CASE("watch_endpoint_client_that_stays_is_dropped_after_its_limit") {
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

TEST_CASE("watch_endpoint_stopped_lets_run_return") {
    endpoint_rig rig;
    endpoint_client client{rig, get.substr(0, 20)};
    run_until(rig, [&] { return rig.wheel.pending() == 1; });
    rig.endpoint.stop();
    rig.io.run();
    CHECK(rig.wheel.pending() == 0);
}

TEST_CASE("watch_endpoint_serves_the_page") {
    endpoint_rig rig;
    const std::string answer = answer_of(rig, "GET / HTTP/1.1\r\nHost: localhost:8080\r\n\r\n");
    CHECK(answer.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/html"));
    CHECK(answer.ends_with("</html>\n"));
}

TEST_CASE("watch_endpoint_shows_no_page_under_a_name_of_someone_else") {
    endpoint_rig rig;
    for (const char* host :
         {"evil.example", "evil.example:80", "localhost.evil.example", "", "127.0.0.1.evil.example", "[::1"}) {
        CAPTURE(host);
        CHECK(answer_of(rig, "GET /events HTTP/1.1\r\nHost: " + std::string{host} + "\r\n\r\n")
                  .starts_with("HTTP/1.1 421 "));
    }
    for (const char* host : {"[::1]:80", "[::1]", "10.0.0.1", "127.0.0.1:80 "}) {
        CAPTURE(host);
        CHECK(answer_of(rig, "GET / HTTP/1.1\r\nHost: " + std::string{host} + "\r\n\r\n").starts_with("HTTP/1.1 200 "));
    }
}

TEST_CASE("watch_endpoint_shows_nothing_to_the_pages_of_another_site") {
    endpoint_rig rig;
    const std::string head = "GET /events HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: ";
    CHECK(answer_of(rig, head + "cross-site\r\n\r\n").starts_with("HTTP/1.1 403 "));
    CHECK(answer_of(rig, "GET / HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: none\r\n\r\n")
              .starts_with("HTTP/1.1 200 "));
}

TEST_CASE("watch_endpoint_viewers_get_the_same_updates_until_they_leave") {
    endpoint_rig rig;
    rig.page.add("watched", rig.wheel);
    endpoint_client a{rig, events}, b{rig, events};
    a.read();
    b.read();
    // Whole events, in order.
    const auto events_of = [](const endpoint_client& c) {
        std::vector<std::string> all;
        for (auto at = c.answer.find("data: "); at != std::string::npos; at = c.answer.find("data: ", at + 1))
            if (const auto end = c.answer.find("\n\n", at); end != std::string::npos)
                all.push_back(c.answer.substr(at, end - at));
        return all;
    };
    run_until(rig, [&] { return events_of(a).size() >= 3 && events_of(b).size() >= 3; });
    CHECK(rig.endpoint.counts().viewers == 2);
    const auto first = events_of(a), second = events_of(b);
    CHECK(first[0].find("\"watched\"") != std::string::npos);
    CHECK(first[0] != first[1]); // each has its time
    // One of them may have come an update later, and may lack the last one.
    CHECK((std::find(first.begin(), first.end(), second[0]) != first.end() ||
           std::find(second.begin(), second.end(), first[0]) != second.end()));
    CHECK((std::find(first.begin(), first.end(), second[1]) != first.end() ||
           std::find(second.begin(), second.end(), first[1]) != second.end()));
    a.socket.close();
    run_until(rig, [&] { return rig.endpoint.counts().viewers == 1; });
    b.socket.close();
    run_until(rig, [&] { return rig.endpoint.counts().viewers == 0; });
    CHECK(rig.endpoint.counts().served == 2);
    CHECK(rig.endpoint.counts().dropped == 0);
}

TEST_CASE("watch_endpoint_viewer_that_stops_reading_is_dropped") {
    endpoint_rig rig;
    // Long updates, so that the system's buffers are full soon.
    std::vector<std::unique_ptr<cogwheel::testing::manual_timer_wheel>> wheels;
    for (int i = 0; i < 64; ++i) {
        wheels.push_back(std::make_unique<cogwheel::testing::manual_timer_wheel>(rig.io));
        rig.page.add(std::to_string(i), *wheels.back());
    }
    endpoint_client deaf{rig, events};
    endpoint_client other{rig, events};
    other.read();
    run_until(rig, [&] { return rig.endpoint.counts().viewers == 2; });
    // The other one gets update after update meanwhile. The time limit of a write is a timer on the wheel.
    run_until(rig, [&] {
        manual_clock::advance(10ms);
        return rig.endpoint.counts().viewers == 1;
    });
    CHECK(rig.endpoint.counts().dropped == 1);
    CHECK_FALSE(other.ended);
    other.socket.close();
    run_until(rig, [&] { return other.ended; });
    for (int i = 0; i < 64; ++i) rig.page.remove(std::to_string(i));
}

TEST_CASE("watch_endpoint_one_viewer_too_many_is_refused") {
    endpoint_rig rig;
    constexpr std::size_t most = watch_endpoint<cogwheel::testing::manual_timer_wheel>::max_viewers;
    std::vector<std::unique_ptr<endpoint_client>> viewers;
    for (std::size_t i = 0; i < most; ++i) viewers.push_back(std::make_unique<endpoint_client>(rig, events));
    run_until(rig, [&] { return rig.endpoint.counts().viewers == most; });
    CHECK(answer_of(rig, events).starts_with("HTTP/1.1 503 "));
    CHECK(answer_of(rig).starts_with("HTTP/1.1 200 ")); // Prometheus still gets its text
    for (auto& v : viewers) v->socket.close();
    run_until(rig, [&] { return rig.endpoint.counts().viewers == 0; });
}

TEST_CASE("watch_endpoint_stopped_ends_the_streams") {
    endpoint_rig rig;
    endpoint_client viewer{rig, events};
    viewer.read();
    run_until(rig, [&] { return rig.endpoint.counts().viewers == 1; });
    rig.endpoint.stop();
    run_until(rig, [&] { return viewer.ended && rig.endpoint.counts().viewers == 0; });
}
