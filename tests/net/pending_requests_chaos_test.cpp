// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Pipelined requests over real sockets through a bad network: each ends exactly once, answered, timed out or failed,
// and the counts add up to the number sent. Nothing is asserted about time: patient clients have an answer however slow
// the machine is.
#include "support/net/chaos_proxy.hpp"

#include <cogwheel/net/pending_requests.hpp>

#include <asio/io_context.hpp>
#include <asio/read.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;
using asio::ip::tcp;

namespace {

constexpr auto with_error = as_tuple(asio::use_awaitable);
using message = std::array<std::uint32_t, 50>; // its first word is the id

bool is_answered(std::uint32_t id) { return id % 16 != 5; }

tcp::endpoint loopback(asio::ip::port_type port) { return {asio::ip::address_v4::loopback(), port}; }

asio::awaitable<void> serve(tcp::socket socket) {
    for (message m{};;) {
        const auto [ec, read] = co_await asio::async_read(socket, asio::buffer(m), with_error);
        if (ec) co_return;
        if (!is_answered(m[0])) continue;
        const auto [failed, written] = co_await asio::async_write(socket, asio::buffer(m), with_error);
        if (failed) co_return;
    }
}
asio::awaitable<void> accept(tcp::acceptor& acceptor) {
    for (;;) {
        auto [ec, socket] = co_await acceptor.async_accept(with_error);
        if (!acceptor.is_open()) co_return;
        if (ec) continue; // on Windows, a connection that was reset before it was accepted
        asio::co_spawn(acceptor.get_executor(), serve(std::move(socket)), asio::detached);
    }
}

class chaotic_client : public std::enable_shared_from_this<chaotic_client> {
public:
    static constexpr std::uint32_t each = 30;

    /// A patient one waits until its connection ends, except for what is never answered.
    chaotic_client(asio::io_context& io, const timer_wheel& wheel, bool patient)
        : socket_(io), requests_(wheel), patient_(patient) {}

    asio::awaitable<void> run(tcp::endpoint server) {
        const auto self = shared_from_this();
        const auto [ec] = co_await socket_.async_connect(server, with_error);
        for (std::uint32_t id = 0; id < each; ++id) {
            const std::chrono::milliseconds limit = patient_ && is_answered(id) ? 1h : 250ms;
            requests_.async_wait(id, requests_.from_write(limit, deadline::after(patient_ ? 1h : 10s)),
                                 [self](std::error_code failed, const message& m) { self->ended(failed, m); });
        }
        if (ec) {
            requests_.fail_all(ec);
            co_return;
        }
        asio::co_spawn(socket_.get_executor(), read(self), asio::detached);
        for (std::uint32_t id = 0; id < each; ++id) {
            message m;
            m.fill(id);
            const auto [failed, n] = co_await asio::async_write(socket_, asio::buffer(m), with_error);
            if (failed) {
                requests_.fail_all(failed);
                co_return;
            }
            requests_.written(id);
        }
    }

    const request_stats& stats() const { return requests_.stats(); }
    bool done() const { return ended_ == each; }
    int wrong() const { return wrong_; }

private:
    asio::awaitable<void> read([[maybe_unused]] std::shared_ptr<chaotic_client> self) {
        for (message m{};;) {
            const auto [ec, n] = co_await asio::async_read(socket_, asio::buffer(m), with_error);
            if (ec) {
                requests_.fail_all(ec);
                co_return;
            }
            requests_.complete(m[0], m);
        }
    }
    void ended(std::error_code ec, const message& m) {
        if (!ec && m[0] != m[49]) ++wrong_;
        if (++ended_ == each) socket_.close();
    }

    tcp::socket socket_;
    pending_requests<std::uint32_t, message> requests_;
    bool patient_;
    std::uint32_t ended_ = 0;
    int wrong_ = 0;
};

} // namespace

TEST_CASE("requests_through_chaos_each_ends_once_and_the_counts_add_up") {
    asio::io_context io(1);
    timer_wheel wheel(io, {.tick = 1ms});
    tcp::acceptor acceptor(io, loopback(0));
    asio::co_spawn(io, accept(acceptor), asio::detached);
    chaos_profile profile;
    profile.longest = 30ms;
    profile.most_bytes = 4000;
    chaos_profile ending = profile; // each of its connections ends by itself
    ending.weights[static_cast<std::size_t>(chaos::swallow)] = 0;
    const auto by = [](const chaos_profile& p) {
        return [p](std::uint64_t number) { return make_chaos(4711, number, p); };
    };
    std::vector<std::shared_ptr<chaotic_client>> clients;
    {
        chaos_proxy proxy(io.get_executor(), wheel, loopback(0), acceptor.local_endpoint(), by(profile));
        chaos_proxy ending_proxy(io.get_executor(), wheel, loopback(0), acceptor.local_endpoint(), by(ending));
        for (int i = 0; i < 150; ++i) {
            const bool patient = i % 3 == 0;
            clients.push_back(std::make_shared<chaotic_client>(io, wheel, patient));
            asio::co_spawn(io, clients.back()->run(patient ? ending_proxy.endpoint() : proxy.endpoint()),
                           asio::detached);
        }
        const auto done = [](const auto& c) { return c->done(); };
        while (!std::all_of(clients.begin(), clients.end(), done) || proxy.counts().open() != 0 ||
               ending_proxy.counts().open() != 0)
            io.run_one();
    }
    acceptor.close();
    io.run();
    request_stats sum;
    for (const auto& c : clients) {
        const request_stats& s = c->stats();
        CHECK(s.started == chaotic_client::each);
        CHECK(s.answered + s.timed_out + s.failed == chaotic_client::each);
        CHECK(s.in_flight == 0);
        CHECK(c->wrong() == 0);
        sum.answered += s.answered;
        sum.timed_out += s.timed_out;
        sum.failed += s.failed;
    }
    CHECK(sum.answered > 0);
    CHECK(sum.timed_out > 0);
    CHECK(sum.failed > 0);
    CHECK(wheel.pending() == 0);
}
