// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The floor of durable_bench: a timer of Asio and one round trip.
#include "roles.hpp"

#include <asio/local/stream_protocol.hpp>
#include <asio/read.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>

namespace cogwheel::bench {

asio::awaitable<void> hold_floor(durable_arguments a) {
    std::vector<planned_task> plan = read_plan(a.plan);
    std::sort(plan.begin(), plan.end(), [](const auto& x, const auto& y) { return x.due_ms < y.due_ms; });
    const auto executor = co_await asio::this_coro::executor;
    asio::local::stream_protocol::socket server(executor);
    const asio::local::stream_protocol::endpoint endpoint(a.socket);
    co_await server.async_connect(endpoint, asio::use_awaitable);
    say("ready");
    co_await wait_for_go();

    const std::int64_t zero = now_us() / 1'000 * 1'000;
    const auto steady_zero = std::chrono::steady_clock::now() - std::chrono::microseconds(now_us() - zero);
    asio::steady_timer timer(executor);
    static constexpr std::string_view ping = "PING\r\n";
    std::array<char, 7> pong{};
    std::vector<std::int64_t> late;
    late.reserve(plan.size());
    for (std::size_t i = 0; i < plan.size();) {
        timer.expires_at(steady_zero + std::chrono::milliseconds(plan[i].due_ms));
        co_await timer.async_wait(asio::use_awaitable);
        const std::int64_t fired = now_us() - zero;
        const std::size_t first = i;
        while (i < plan.size() && plan[i].due_ms * 1'000 <= fired) ++i;
        if (first == i) continue; // the two clocks disagree by less than their resolution
        co_await asio::async_write(server, asio::buffer(ping), asio::use_awaitable);
        co_await asio::async_read(server, asio::buffer(pong), asio::use_awaitable);
        const std::int64_t now = now_us() - zero;
        for (std::size_t k = first; k < i; ++k) late.push_back(now - plan[k].due_ms * 1'000);
    }
    const std::int64_t spent = spent_us();
    {
        std::ofstream out(a.out);
        for (const std::int64_t l : late) out << l << '\n';
    }
    say(fmt::format(R"(done {{"handled": {}, "cpu_us": {}}})", late.size(), spent));
}

} // namespace cogwheel::bench
