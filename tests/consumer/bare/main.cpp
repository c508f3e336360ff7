// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A little of everything but coroutines, whose co_spawn needs exceptions itself. What catches in a template is compiled
// only where it is used.
#include <cogwheel/asio/hierarchical_timer_wheel.hpp>
#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/asio/wheel_timer.hpp>
#include <cogwheel/net/idle_stream.hpp>
#include <cogwheel/net/pending_requests.hpp>
#include <cogwheel/resilience/circuit_breaker.hpp>
#include <cogwheel/resilience/hedge.hpp>
#include <cogwheel/resilience/retry.hpp>
#include <cogwheel/schedule/interval.hpp>
#include <cogwheel/schedule/keyed_timers.hpp>
#include <cogwheel/testing/manual_clock.hpp>

#include <asio/bind_executor.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/strand.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>

#ifdef ASIO_NO_EXCEPTIONS
#ifndef ASIO_SOURCE_LOCATION_PARAM
#define ASIO_SOURCE_LOCATION_PARAM
#endif
namespace asio::detail {
template <class Exception>
void throw_exception(const Exception& e ASIO_SOURCE_LOCATION_PARAM) {
    std::fputs(e.what(), stderr);
    std::abort();
}
} // namespace asio::detail
#endif

namespace {

using namespace std::chrono_literals;

int failures = 0;
void expect(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "failed: %s\n", what);
    ++failures;
}

void waits() {
    asio::io_context io;
    cogwheel::timer_wheel wheel{io, {.tick = 1ms}};
    cogwheel::hierarchical_timer_wheel levels{io};
    auto strand = asio::make_strand(io);
    int done = 0;
    const auto count = [&](std::error_code ec) { done += !ec; };
    wheel.async_wait(1ms, asio::bind_executor(strand, count));
    wheel.async_wait(1ms, asio::bind_executor(io.get_executor(), count));
    wheel.async_wait(1ms, asio::bind_executor(wheel.get_executor(), count));
    levels.async_wait(1ms, count);
    wheel.schedule(30s, [] {}, cogwheel::on_cancel([&] { ++done; })).cancel();
    cogwheel::wheel_timer timer{wheel, 1ms};
    timer.async_wait(cogwheel::timeout(wheel, 10s, count));
    cogwheel::wheel_timer late{wheel, 1h};
    late.async_wait(cogwheel::timeout(wheel, 1ms, [&](std::error_code ec) { done += ec == asio::error::timed_out; }));
    io.run();
    expect(done == 7, "waits");
}

void network() {
    asio::io_context io;
    cogwheel::timer_wheel wheel{io, {.tick = 1ms}};
    int done = 0;

    cogwheel::retry_budget budget;
    cogwheel::circuit_breaker breaker{wheel};
    auto call = breaker.allow();
    expect(static_cast<bool>(call), "circuit_breaker");
    call.succeeded();
    int attempts = 0;
    const auto connect = [&](auto token) { return ++attempts, wheel.async_wait(1ms, token); };
    cogwheel::async_retry(wheel, {.attempts = 2, .budget = &budget}, connect,
                          [&](std::error_code ec, const cogwheel::retry_result&) { done += !ec; });
    cogwheel::async_hedge(wheel, 30s, connect, [&](std::error_code ec, const cogwheel::hedge_result&) { done += !ec; });

    cogwheel::pending_requests<int, std::string> requests{wheel, io.get_executor()};
    requests.async_wait(1, 10s, [&](std::error_code ec, const std::string& answer) { done += !ec && answer == "yes"; });
    requests.async_wait(2, 1ms, [&](std::error_code ec, const std::string&) { done += ec == asio::error::timed_out; });
    requests.complete(1, "yes");

    asio::ip::tcp::acceptor acceptor{io, {asio::ip::address_v4::loopback(), 0}};
    asio::ip::tcp::socket client{io};
    client.connect(acceptor.local_endpoint());
    cogwheel::idle_stream stream{wheel, {.reader = 1ms}, acceptor.accept()};
    stream.close_when_idle();
    char word[4];
    stream.async_read_some(asio::buffer(word),
                           [&](std::error_code ec, std::size_t) { done += ec == asio::error::timed_out; });
    io.run();
    expect(done == 5 && attempts == 2, "network");
}

void schedules() {
    using cogwheel::testing::manual_clock;
    asio::io_context io;
    cogwheel::testing::manual_timer_wheel wheel{io};
    int done = 0;
    cogwheel::interval every{wheel, {.period = 1min}};
    every.async_tick([&](std::error_code ec, auto&&...) { done += !ec; });
    cogwheel::keyed_timers<std::string, cogwheel::testing::manual_timer_wheel> sessions{wheel};
    sessions.add("ann", 1min, [&](const std::string&) { ++done; });
    manual_clock::advance(1min);
    io.poll();
    expect(done == 2, "schedules");
}

} // namespace

int main() {
    waits();
    network();
    schedules();
    return failures;
}
