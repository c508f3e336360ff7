// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Timeouts on the operations of a TLS stream: a real one, over the loopback, in virtual time.
// docs/recipes.md shows how to end such a stream.
#include "support/asio/scripted_operation.hpp"
#include "support/test_certificate.hpp"

#include <asio/co_spawn.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/redirect_error.hpp>
#include <asio/ssl.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <doctest/doctest.h>

#include <optional>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;
using asio::ip::tcp;

namespace {

using tls_stream = asio::ssl::stream<tcp::socket>;

/// As in docs/recipes.md, with a wheel.
template <class Wheel>
asio::awaitable<std::error_code> end_tls(tls_stream& stream, Wheel& wheel, std::chrono::nanoseconds limit) {
    std::error_code ec, ignored;
    co_await stream.async_shutdown(timeout(wheel, limit, asio::redirect_error(asio::use_awaitable, ec)));
    stream.lowest_layer().close(ignored);
    co_return ec;
}

struct tls_outcome {
    std::error_code ec;
    int times = 0;
    auto handler() {
        return [this](std::error_code e, std::size_t = 0) {
            ec = e;
            ++times;
        };
    }
};

template <class Wheel>
struct tls_pair {
    asio::io_context io;
    Wheel wheel{io};
    asio::ssl::context of_client{asio::ssl::context::tls_client}, of_server{asio::ssl::context::tls_server};
    std::optional<tls_stream> near, far;
    tls_outcome result;

    tls_pair() {
        const test_certificate certificate("DNS:localhost");
        of_server.use_certificate_chain_file(certificate.certificate_file());
        of_server.use_private_key_file(certificate.key_file(), asio::ssl::context::pem);
        near.emplace(io, of_client);
        far.emplace(io, of_server);
        tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
        near->lowest_layer().connect(acceptor.local_endpoint());
        acceptor.accept(far->lowest_layer());
    }

    void shake_hands() {
        tls_outcome ours, theirs;
        near->async_handshake(tls_stream::client, timeout(wheel, 10ms, ours.handler()));
        far->async_handshake(tls_stream::server, timeout(wheel, 10ms, theirs.handler()));
        run_until([&] { return ours.times + theirs.times == 2; });
        REQUIRE_FALSE(ours.ec);
        REQUIRE_FALSE(theirs.ec);
    }
    void shut_down() { near->async_shutdown(timeout(wheel, 10ms, result.handler())); }

    template <class F>
    void run_until(F done) {
        io.restart();
        while (!done()) io.run_one();
    }
    void run_until_done() {
        run_until([this] { return result.times != 0; });
    }
    void time_out() {
        while (run_ready(io) != 0) {
        }
        CHECK(result.times == 0);
        pass(io, 20ms);
    }
};

} // namespace

TEST_CASE_TEMPLATE("tls_handshake_of_a_silent_peer_times_out", Wheel, BOTH_WHEELS) {
    tls_pair<Wheel> p;
    p.near->async_handshake(tls_stream::client, timeout(p.wheel, 10ms, p.result.handler()));
    p.time_out();
    CHECK(p.result.ec == asio::error::timed_out);
    CHECK(p.result.times == 1);
}

TEST_CASE_TEMPLATE("tls_shutdown_without_an_answer_times_out_and_the_socket_is_closed", Wheel, BOTH_WHEELS) {
    tls_pair<Wheel> p;
    p.shake_hands();
    asio::co_spawn(p.io, end_tls(*p.near, p.wheel, 10ms),
                   [done = p.result.handler()](std::exception_ptr, std::error_code ec) mutable { done(ec); });
    p.time_out();
    CHECK(p.result.ec == asio::error::timed_out);
    CHECK(p.result.times == 1);
    CHECK_FALSE(p.near->lowest_layer().is_open());
    CHECK(p.wheel.pending() == 0);

    // The peer has had the goodbye before the end of the connection.
    std::error_code ec;
    char byte = 0;
    p.far->read_some(asio::buffer(&byte, 1), ec);
    CHECK(ec == asio::error::eof);
}

TEST_CASE_TEMPLATE("tls_shutdown_with_data_unread_fails", Wheel, BOTH_WHEELS) {
    tls_pair<Wheel> p;
    p.shake_hands();
    asio::write(*p.far, asio::buffer("x", 1));
    p.shut_down();
    p.run_until_done();
    CHECK(p.result.ec);
    CHECK(p.result.ec != asio::error::timed_out);
    CHECK(p.wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("tls_shutdown_that_the_peer_answers_succeeds", Wheel, BOTH_WHEELS) {
    tls_pair<Wheel> p;
    p.shake_hands();
    p.shut_down();
    tls_outcome theirs;
    p.far->async_shutdown(timeout(p.wheel, 10ms, theirs.handler()));
    p.run_until([&] { return p.result.times + theirs.times == 2; });
    CHECK_FALSE(p.result.ec);
    CHECK_FALSE(theirs.ec);
    CHECK(p.wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("tls_shutdown_of_a_peer_that_leaves_without_a_goodbye_is_truncated", Wheel, BOTH_WHEELS) {
    tls_pair<Wheel> p;
    p.shake_hands();
    p.shut_down();
    while (run_ready(p.io) != 0) {
    }
    CHECK(p.result.times == 0);
    p.far->lowest_layer().shutdown(tcp::socket::shutdown_send);
    p.run_until_done();
    CHECK(p.result.ec == asio::ssl::error::stream_truncated);
    CHECK(p.wheel.pending() == 0);
}
