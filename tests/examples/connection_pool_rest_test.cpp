// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The pool of examples/connection_pool: what becomes of connections that nobody uses, and of all that is left in the
// end.
#include "pool_rig.hpp"

#include <asio/detached.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>

using namespace cogwheel_tests;
using namespace std::chrono_literals;
using asio::ip::tcp;

TEST_CASE("idle_connection_is_closed_at_its_limit_and_not_before") {
    pool_rig r({.idle_limit = 10s});
    auto a = r.get();
    tcp::socket peer = r.acceptor.accept();
    a->lease.release();
    r.pass(9999ms);
    CHECK(r.pool->idle() == 1);
    r.pass(2ms);
    CHECK(r.pool->size() == 0);
    CHECK(r.pool->stats().expired == 1);
    char byte = 0;
    std::error_code ec;
    asio::read(peer, asio::buffer(&byte, 1), ec);
    CHECK(ec == asio::error::eof);
}

TEST_CASE("connection_taken_from_its_rest_has_no_idle_limit_and_a_new_one_later") {
    pool_rig r({.idle_limit = 10s});
    auto a = r.get();
    a->lease.release();
    r.pass(9s);
    auto b = r.start();
    CHECK(b->served());
    CHECK(r.wheel.pending() == 0);
    r.pass(1h);
    CHECK(b->lease.socket().is_open());
    b->lease.release();
    r.pass(9s);
    CHECK(r.pool->idle() == 1);
    r.pass(2s);
    CHECK(r.pool->idle() == 0);
    CHECK(r.pool->stats().expired == 1);
}

TEST_CASE("idle_connection_that_expires_as_it_is_taken_stays_open") {
    pool_rig r({.idle_limit = 10s}, true);
    auto a = r.get();
    a->lease.release();
    pass(r.time, 11s); // the expiry is on its way
    request b;
    asio::co_spawn(r.io, r.pool->acquire({}), b.handler());
    r.eventually([&] { return b.times != 0; });
    CHECK(b.served());
    CHECK(b.lease.socket().is_open());
    CHECK(r.pool->size() == 1);
}

TEST_CASE("idle_connection_that_its_peer_closes_is_dropped") {
    pool_rig r;
    auto a = r.get();
    tcp::socket peer = r.acceptor.accept();
    a->lease.release();
    peer.close();
    r.eventually([&] { return r.pool->size() == 0; });
    CHECK(r.pool->stats().closed_by_peer == 1);
    CHECK(r.wheel.pending() == 0);
}

TEST_CASE("idle_connection_that_its_peer_closed_is_not_handed_out_even_if_nobody_has_noticed") {
    pool_rig r;
    auto a = r.get();
    tcp::socket peer = r.acceptor.accept();
    a->lease.release();
    peer.close();
    auto b = r.get(); // nothing ran in between
    CHECK(r.pool->stats().opened == 2);
    CHECK(r.pool->stats().reused == 0);
    CHECK(r.pool->stats().closed_by_peer == 1);
}

TEST_CASE("connection_with_bytes_left_to_read_is_not_kept") {
    pool_rig r;
    auto a = r.get();
    tcp::socket peer = r.acceptor.accept();
    asio::write(peer, asio::buffer("too much", 8));
    a->lease.release();
    CHECK(r.pool->size() == 0);
    CHECK(r.pool->stats().broken == 1);
}

TEST_CASE("close_tells_who_waits_and_closes_what_comes_back") {
    pool_rig r({.max_connections = 2});
    auto a = r.get(), b = r.get();
    auto c = r.start(1h), d = r.start(1h);
    r.pool->close();
    r.run();
    CHECK(c->ec == asio::error::operation_aborted);
    CHECK(d->ec == asio::error::operation_aborted);
    CHECK(r.pool->size() == 2);
    CHECK(a->lease.socket().is_open());
    a->lease.release();
    b->drop();
    CHECK(r.pool->size() == 0);
    CHECK(r.wheel.pending() == 0);
    CHECK(r.start()->ec == asio::error::operation_aborted);
}

TEST_CASE("connection_that_comes_back_before_who_waits_has_heard_of_the_close_opens_nothing") {
    pool_rig r({.max_connections = 1});
    auto a = r.get();
    auto b = r.start(1h), c = r.start(1h);
    r.pool->close();
    a->lease.release();
    r.run();
    CHECK(b->ec == asio::error::operation_aborted);
    CHECK(c->ec == asio::error::operation_aborted);
    CHECK(r.pool->size() == 0);
    CHECK(r.pool->stats().opened == 1);
}

TEST_CASE("close_ends_idle_connections_and_their_timers") {
    pool_rig r;
    r.get()->lease.release();
    CHECK(r.wheel.pending() == 1);
    r.pool->close();
    r.run();
    CHECK(r.pool->size() == 0);
    CHECK(r.wheel.pending() == 0);
    CHECK(r.pool->stats().expired + r.pool->stats().closed_by_peer == 0);
}

TEST_CASE("idle_limit_that_comes_between_the_close_and_its_news_finds_the_socket") {
    pool_rig r({.idle_limit = 10s}, true);
    r.get()->lease.release();
    pass(r.time, 11s); // on its way to the pool's executor, where it will cancel the wait
    r.pool->close();
    CHECK(r.pool->size() == 0);
    r.run();
    CHECK(r.wheel.pending() == 0);
    CHECK(r.pool->stats().expired == 0);
}

TEST_CASE("lease_keeps_its_pool_alive_idle_connections_do_not") {
    pool_rig r;
    auto a = r.get(), b = r.get();
    std::weak_ptr<pool_type> gone = r.pool;
    r.pool = std::make_shared<pool_type>(r.io.get_executor(), r.wheel, r.acceptor.local_endpoint(), pool_options{});
    b->lease.release();
    b->drop();
    CHECK_FALSE(gone.expired());
    a->lease.release();
    a->drop();
    CHECK(gone.expired());
    r.run();
    CHECK(r.wheel.pending() == 0);
}

TEST_CASE("context_that_ends_takes_leases_waiters_and_idle_connections_along") {
    auto r = std::make_unique<pool_rig>(pool_options{.max_connections = 2});
    const auto keep = [](std::shared_ptr<pool_type> pool, wheel_type& wheel) -> asio::awaitable<void> {
        const auto lease = co_await pool->acquire({});
        co_await wheel.async_wait(1h, asio::use_awaitable);
    };
    asio::co_spawn(r->io, keep(r->pool, r->wheel), asio::detached);
    auto a = r->get();
    r->eventually([&] { return r->pool->stats().opened == 2; });
    const auto b = r->start(1h), c = r->start(1h), d = r->start(1h);
    CHECK(r->pool->waiting() == 3);
    a->lease.release(); // b's, which never runs
    r.reset();
    CHECK(b->times + c->times + d->times == 0);
}
