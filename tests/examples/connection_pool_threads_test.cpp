// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The pool of examples/connection_pool on a strand of a context with several threads: everybody gets a connection or is
// told that there is none, and nothing is lost, whoever comes first.
#include "connection_pool/pool.hpp"

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/read.hpp>
#include <asio/strand.hpp>
#include <asio/write.hpp>
#include <doctest/doctest.h>

#include <thread>
#include <vector>

using namespace std::chrono_literals;
using asio::use_awaitable;
using asio::ip::tcp;

namespace {

constexpr int users = 32, rounds = 30;

asio::awaitable<void> echo(tcp::socket client) {
    for (char byte = 0;;) {
        co_await client.async_read_some(asio::buffer(&byte, 1), use_awaitable);
        co_await asio::async_write(client, asio::buffer(&byte, 1), use_awaitable);
        if (byte == 7) co_return;
    }
}

asio::awaitable<void> serve(tcp::acceptor& acceptor) {
    for (;;) {
        tcp::socket client = co_await acceptor.async_accept(use_awaitable);
        const auto executor = client.get_executor();
        asio::co_spawn(executor, echo(std::move(client)), asio::detached);
    }
}

struct tally {
    int served = 0, timed_out = 0, other = 0, running = users;
    std::uint64_t broken = 0;
};

// Patience from none to plenty, answers of which some are the last on their connection.
asio::awaitable<void> use(std::shared_ptr<connection_pool<>> pool, tally& counts, int number) {
    for (int round = 0; round < rounds; ++round) {
        try {
            const auto patience = std::chrono::milliseconds{(number + round) % 7};
            auto connection = co_await pool->acquire(cogwheel::deadline::after(round % 3 == 0 ? patience : 1min));
            char byte = static_cast<char>((number + round) % 16), answer = 0;
            co_await asio::async_write(connection.socket(), asio::buffer(&byte, 1), use_awaitable);
            co_await asio::async_read(connection.socket(), asio::buffer(&answer, 1), use_awaitable);
            if (byte == answer) ++counts.served;
            if (byte == 7)
                ++counts.broken;
            else
                connection.release();
        } catch (const std::system_error& e) {
            ++(e.code() == asio::error::timed_out ? counts.timed_out : counts.other);
        }
    }
}

} // namespace

TEST_CASE("pool_on_a_strand_of_many_threads_answers_everybody_once") {
    asio::io_context io;
    cogwheel::timer_wheel wheel{io, {.tick = 1ms}};
    tcp::acceptor acceptor{asio::make_strand(io), {asio::ip::address_v4::loopback(), 0}};
    asio::co_spawn(acceptor.get_executor(), serve(acceptor), asio::detached);

    const asio::any_io_executor strand = asio::make_strand(io);
    const auto pool = std::make_shared<connection_pool<>>(strand, wheel, acceptor.local_endpoint(),
                                                          pool_options{.max_connections = 3, .idle_limit = 1ms});
    tally counts;
    for (int number = 0; number < users; ++number)
        asio::co_spawn(strand, use(pool, counts, number), [&](const std::exception_ptr&) {
            if (--counts.running != 0) return;
            pool->close();
            asio::post(acceptor.get_executor(), [&] { acceptor.close(); });
        });
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 3; ++i) threads.emplace_back([&] { io.run(); });
    }
    CHECK(counts.running == 0);
    CHECK(counts.served + counts.timed_out == users * rounds);
    CHECK(counts.other == 0);
    CHECK(counts.served > 0);
    CHECK(pool->size() == 0);
    CHECK(pool->waiting() == 0);
    CHECK(pool->stats().opened + pool->stats().reused >= static_cast<std::uint64_t>(counts.served));
    CHECK(pool->stats().broken >= counts.broken);
    CHECK(wheel.pending() == 0);
}
