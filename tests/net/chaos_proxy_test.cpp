// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The proxy with real sockets on the loopback: what peers see of each kind of chaos, that the counts say so, and that
// no descriptor is left. Nothing is asserted about time.
#include "support/net/chaos_proxy.hpp"

#include <cogwheel/detail/platform.hpp>

#include <asio/connect.hpp>
#include <asio/io_context.hpp>
#include <asio/read.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>

using namespace cogwheel_tests;
using namespace std::chrono_literals;
using asio::ip::tcp;

namespace {

constexpr auto awaited = as_tuple(asio::use_awaitable);

std::size_t open_descriptors() {
    if (COGWHEEL_WINDOWS) return 0; // under wine, those of wine come and go
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

std::string text_of(std::size_t bytes) {
    std::string text(bytes, ' ');
    for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>('a' + i % 26);
    return text;
}

/// A server, and a proxy before it. The server answers each byte with the same, until its client is done.
struct proxy_rig {
    asio::io_context io{1};
    cogwheel::timer_wheel wheel{io, {.tick = 1ms}};
    tcp::acceptor server{io, loopback(0)};
    std::optional<chaos_proxy> proxy;
    std::string served; ///< what arrived there
    std::error_code served_until;
    int clients = 0;

    explicit proxy_rig(chaos_plan plan, const chaos_options& options = {})
        : proxy_rig([plan = std::move(plan)](std::uint64_t) { return plan; }, options) {}
    explicit proxy_rig(chaos_proxy::planner planner, const chaos_options& options = {}) {
        proxy.emplace(io.get_executor(), wheel, loopback(0), server.local_endpoint(), std::move(planner), options);
        asio::co_spawn(io, accept(), asio::detached);
    }

    static tcp::endpoint loopback(asio::ip::port_type port) { return {asio::ip::address_v4::loopback(), port}; }

    template <class F>
    void run(F client) {
        asio::co_spawn(
            io,
            [&, client]() -> asio::awaitable<void> {
                tcp::socket socket(io);
                const auto [ec] = co_await socket.async_connect(proxy->endpoint(), awaited);
                REQUIRE_FALSE(ec);
                co_await client(socket);
            },
            [&](std::exception_ptr e) {
                --clients;
                if (e) std::rethrow_exception(e);
            });
        ++clients;
    }
    /// Until clients are done, and nothing is open any more.
    void finish() {
        while (clients != 0 || proxy->counts().open() != 0) io.run_one();
    }

    asio::awaitable<void> accept() {
        for (;;) {
            auto [ec, socket] = co_await server.async_accept(awaited);
            if (ec) co_return;
            asio::co_spawn(io, serve(std::move(socket)), asio::detached);
        }
    }
    asio::awaitable<void> serve(tcp::socket socket) {
        std::array<char, 1000> buffer;
        for (;;) {
            const auto [ec, n] = co_await socket.async_read_some(asio::buffer(buffer), awaited);
            served.append(buffer.data(), n);
            served_until = ec;
            if (ec) co_return;
            const auto [failed, ignored] = co_await asio::async_write(socket, asio::buffer(buffer.data(), n), awaited);
            if (failed) {
                served_until = failed;
                co_return;
            }
        }
    }
};

struct heard {
    std::string text;
    std::error_code end;
};

/// Sends, says that it is done, and reads to the end.
asio::awaitable<void> exchange(tcp::socket& socket, std::string text, heard& h) {
    co_await asio::async_write(socket, asio::buffer(text), awaited);
    std::error_code ignored;
    socket.shutdown(tcp::socket::shutdown_send, ignored);
    h.text.resize(2 * text.size());
    const auto [ec, n] = co_await asio::async_read(socket, asio::buffer(h.text), awaited);
    h.text.resize(n);
    h.end = ec;
}
auto exchanging(std::string text, heard& h) {
    return [text = std::move(text), &h](tcp::socket& socket) { return exchange(socket, text, h); };
}

} // namespace

TEST_CASE("proxy_without_chaos_forwards_all_and_both_ends") {
    const std::size_t before = open_descriptors();
    {
        proxy_rig r(chaos_plan{}, {.buffer = 100});
        heard h;
        r.run(exchanging(text_of(20000), h));
        r.finish();
        CHECK((h.text == text_of(20000)));
        CHECK(h.end == asio::error::eof);
        CHECK(r.served_until == asio::error::eof);
        CHECK(r.proxy->counts().bytes_up == 20000);
        CHECK(r.proxy->counts().bytes_down == 20000);
    }
    CHECK(open_descriptors() == before);
}

TEST_CASE("proxy_delays_stalls_and_splits_lose_nothing") {
    for (const chaos_step& step : {chaos_step{chaos::delay, 5000, 1ms}, chaos_step{chaos::stall, 0, 5ms},
                                   chaos_step{chaos::split, 300, 1ms, 25}}) {
        CAPTURE(name_of(step.kind));
        proxy_rig r(chaos_plan{{{chaos::forward, 100}, step}, {step}});
        heard h;
        r.run(exchanging(text_of(3000), h));
        r.finish();
        CHECK((h.text == text_of(3000)));
        CHECK(h.end == asio::error::eof);
        CHECK(r.proxy->counts().of(step.kind) == 2);
        CHECK(r.proxy->counts().of(chaos::forward) == 1);
    }
}

TEST_CASE("proxy_truncates_after_exactly_so_many_bytes") {
    SUBCASE("of the answer") {
        proxy_rig r(chaos_plan{{}, {{chaos::forward, 123}, {chaos::truncate}}});
        heard h;
        r.run(exchanging(text_of(3000), h));
        r.finish();
        CHECK((h.text == text_of(123)));
        CHECK(h.end == asio::error::eof); // not a reset: an end like any other
        CHECK(r.proxy->counts().of(chaos::truncate) == 1);
    }
    SUBCASE("of the request") {
        proxy_rig r(chaos_plan{{{chaos::forward, 123}, {chaos::truncate}}, {}});
        heard h;
        r.run(exchanging(text_of(3000), h));
        r.finish();
        while (!r.served_until) r.io.run_one();
        CHECK(r.served == text_of(123));
        CHECK(r.served_until == asio::error::eof);
        CHECK(h.end == asio::error::eof);
    }
}

TEST_CASE("proxy_resets_both_peers") {
    proxy_rig r(chaos_plan{{{chaos::forward, 10}, {chaos::reset}}, {}});
    heard h;
    r.run(exchanging(text_of(1000), h));
    r.finish();
    while (!r.served_until) r.io.run_one();
    CHECK(h.end == asio::error::connection_reset);
    if (!COGWHEEL_WINDOWS) // wine has another error
        CHECK((r.served_until == asio::error::connection_reset || r.served_until == asio::error::broken_pipe));
    CHECK(r.served == text_of(10).substr(0, r.served.size())); // a reset may overtake them
    CHECK(r.proxy->counts().of(chaos::reset) == 1);
}

TEST_CASE("proxy_swallows_until_the_client_gives_up") {
    const std::size_t before = open_descriptors();
    {
        proxy_rig r(chaos_plan{{{chaos::forward, 10}, {chaos::swallow}}, {}});
        std::string heard;
        r.run([&](tcp::socket& socket) -> asio::awaitable<void> {
            const std::string text = text_of(1000);
            co_await asio::async_write(socket, asio::buffer(text), awaited);
            heard.resize(10);
            co_await asio::async_read(socket, asio::buffer(heard), awaited); // no more will come
        });
        r.finish();
        CHECK(heard == text_of(10));
        CHECK(r.proxy->counts().swallowed == 990);
        CHECK(r.proxy->counts().bytes_up == 10);
        while (!r.served_until) r.io.run_one();
    }
    CHECK(open_descriptors() == before);
}

TEST_CASE("proxy_without_a_server_refuses") {
    proxy_rig r(chaos_plan{});
    r.server.close();
    heard h;
    r.run(exchanging("anybody there?", h));
    r.finish();
    if (!COGWHEEL_WINDOWS) CHECK(h.end == asio::error::connection_reset); // wine says that it has ended
    CHECK(r.proxy->counts().refused == 1);
}

TEST_CASE("proxy_closed_or_destroyed_ends_all_connections_at_once") {
    const std::size_t before = open_descriptors();
    {
        proxy_rig r(chaos_plan{{{chaos::stall, 0, 1h}}, {}});
        std::vector<heard> heards(20);
        for (heard& h : heards) r.run(exchanging("stalled", h));
        while (r.proxy->counts().of(chaos::stall) != 20) r.io.run_one();
        SUBCASE("closed") {
            r.proxy->close();
            CHECK(r.proxy->counts().open() == 0);
            CHECK(r.proxy->counts().finished == 20);
        }
        SUBCASE("destroyed") { r.proxy.reset(); }
        const auto ended = [](const heard& h) { return static_cast<bool>(h.end); };
        while (!std::all_of(heards.begin(), heards.end(), ended)) r.io.run_one();
        CHECK(r.wheel.pending() == 0);
    }
    CHECK(open_descriptors() == before);
}

TEST_CASE("proxy_destroyed_with_the_context_leaves_nothing") {
    const std::size_t before = open_descriptors();
    {
        proxy_rig r(chaos_plan{{{chaos::stall, 0, 1h}}, {{chaos::swallow}}});
        heard h;
        r.run(exchanging("stalled", h));
        while (r.proxy->counts().of(chaos::stall) != 1) r.io.run_one();
    }
    CHECK(open_descriptors() == before);
}

TEST_CASE("proxy_numbers_connections_in_order") {
    std::vector<std::uint64_t> numbers;
    proxy_rig r([&](std::uint64_t number) {
        numbers.push_back(number);
        return chaos_plan{};
    });
    for (int i = 0; i < 5; ++i) {
        heard h;
        r.run(exchanging("hello", h));
        while (r.proxy->counts().finished != static_cast<std::uint64_t>(i) + 1) r.io.run_one();
    }
    CHECK(numbers == std::vector<std::uint64_t>{0, 1, 2, 3, 4});
}

TEST_CASE("proxy_of_random_chaos_each_client_gets_its_answer_or_an_error") {
    const std::size_t before = open_descriptors();
    {
        chaos_profile profile;
        profile.longest = 5ms;
        proxy_rig r([&](std::uint64_t number) { return make_chaos(2026, number, profile); });
        constexpr std::size_t clients = 200;
        std::vector<heard> heards(clients);
        std::size_t done = 0;
        for (heard& h : heards)
            r.run([&](tcp::socket& socket) -> asio::awaitable<void> {
                // Who is swallowed gives up when all others are through.
                cogwheel::wheel_timer patience(r.wheel);
                asio::co_spawn(
                    r.io,
                    [&]() -> asio::awaitable<void> {
                        patience.expires_after(1s);
                        const auto [ec] = co_await patience.async_wait(awaited);
                        if (!ec) socket.cancel();
                    },
                    asio::detached);
                co_await exchange(socket, text_of(2500), h);
                patience.cancel();
                ++done;
            });
        while (done != clients) r.io.run_one();
        r.finish();
        const chaos_counts& counts = r.proxy->counts();
        CHECK(counts.accepted == clients);
        CHECK(counts.finished == clients);
        CHECK(counts.refused == 0);
        std::size_t whole = 0;
        for (const heard& h : heards) {
            CHECK(h.end);
            CHECK((h.text == text_of(2500).substr(0, h.text.size()))); // never anything wrong
            if (h.text.size() == 2500) ++whole;
        }
        CHECK(whole > 0);
        CHECK(whole < clients);
        for (const std::uint64_t n : counts.begun) CHECK(n > 0);
        CHECK(r.wheel.pending() == 0);
    }
    CHECK(open_descriptors() == before);
}
