// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The pool of examples/connection_pool: who gets a connection, who is told that there is none.
#include "pool_rig.hpp"

#include <asio/bind_cancellation_slot.hpp>

using namespace cogwheel_tests;
using namespace std::chrono_literals;
using asio::ip::tcp;

TEST_CASE("acquire_opens_up_to_the_limit_and_reuses_what_was_released_last") {
    pool_rig r({.max_connections = 2});
    auto a = r.get(), b = r.get();
    CHECK(r.pool->stats().opened == 2);
    const tcp::socket* last = &b->lease.socket();
    a->lease.release();
    b->lease.release();
    CHECK(r.pool->idle() == 2);
    CHECK(r.wheel.pending() == 2); // a timer for each idle one
    auto c = r.start();
    CHECK(c->served());
    CHECK(&c->lease.socket() == last);
    CHECK(r.pool->stats().opened == 2);
    CHECK(r.pool->stats().reused == 1);
    CHECK(r.wheel.pending() == 1);
}

TEST_CASE("waiter_at_its_deadline_is_timed_out_and_not_before") {
    pool_rig r({.max_connections = 1});
    auto a = r.get();
    auto b = r.start(100ms);
    CHECK(r.pool->waiting() == 1);
    r.pass(99ms);
    CHECK(b->waits());
    r.pass(2ms);
    CHECK(b->timed_out());
    CHECK(r.pool->waiting() == 0);
    CHECK(r.pool->stats().timed_out == 1);
    a->lease.release();
    CHECK(r.pool->idle() == 1);
}

TEST_CASE("waiters_are_served_in_their_order_and_those_who_left_are_skipped") {
    pool_rig r({.max_connections = 1});
    auto a = r.get();
    auto b = r.start(), c = r.start(50ms), d = r.start();
    r.pass(60ms);
    CHECK(c->timed_out());
    a->lease.release();
    r.run();
    CHECK(b->served());
    CHECK(d->waits());
    b->lease.release();
    r.run();
    CHECK(d->served());
    CHECK(r.pool->stats().opened == 1);
}

TEST_CASE("newcomer_does_not_overtake_who_was_given_a_connection") {
    pool_rig r({.max_connections = 1});
    auto a = r.get();
    auto b = r.start();
    a->lease.release(); // b's, though it has not run yet
    request c;
    asio::co_spawn(r.io, r.pool->acquire({}), c.handler());
    r.run();
    CHECK(b->served());
    CHECK(c.waits());
}

TEST_CASE("connection_given_while_the_expiry_is_on_its_way_counts_and_nothing_is_lost") {
    pool_rig r({.max_connections = 1}, true);
    auto a = r.get();
    auto b = r.start(100ms);
    pass(r.time, 101ms); // expired, and the pool's executor has not heard of it
    CHECK(b->waits());
    a->lease.release();
    r.run();
    CHECK(b->served());
    CHECK(r.pool->stats().timed_out == 0);
    CHECK(r.pool->size() == 1);
    CHECK(r.pool->idle() == 0);
    b->lease.release();
    CHECK(r.pool->idle() == 1);
}

TEST_CASE("connection_released_in_the_tick_of_the_deadline_goes_to_one_of_both") {
    for (const bool release_first : {true, false}) {
        CAPTURE(release_first);
        pool_rig r({.max_connections = 1});
        auto a = r.get();
        const auto release = [&] { a->lease.release(); };
        if (release_first) r.wheel.schedule(100ms, release);
        auto b = r.start(100ms);
        if (!release_first) r.wheel.schedule(100ms, release);
        r.pass(101ms);
        CHECK(b->times == 1);
        CHECK(b->served() + b->timed_out() == 1);
        CHECK(r.pool->idle() == (b->served() ? 0 : 1));
        CHECK(r.pool->size() == 1);
    }
}

TEST_CASE("lease_that_was_not_released_is_closed_and_its_place_is_the_next_ones") {
    pool_rig r({.max_connections = 1});
    auto a = r.get();
    auto b = r.start();
    a->drop();
    r.eventually([&] { return b->times != 0; });
    CHECK(b->served());
    CHECK(r.pool->stats().broken == 1);
    CHECK(r.pool->stats().opened == 2);
    b->drop();
    CHECK(r.pool->size() == 0);
    CHECK(r.pool->idle() == 0);
}

TEST_CASE("lease_assigned_over_is_closed_first") {
    pool_rig r({.max_connections = 2});
    auto a = r.get(), b = r.get();
    a->lease = std::move(b->lease);
    CHECK(r.pool->size() == 1);
    CHECK(r.pool->stats().broken == 1);
    a->lease.release();
    CHECK(r.pool->idle() == 1);
}

TEST_CASE("connection_refused_is_the_callers_error_and_frees_the_place") {
    pool_rig r({.max_connections = 1});
    r.acceptor.close();
    auto a = r.start(), b = r.start();
    r.eventually([&] { return a->times == 1 && b->times == 1; });
    CHECK(a->ec == asio::error::connection_refused);
    CHECK(b->ec == asio::error::connection_refused);
    CHECK(r.pool->size() == 0);
    CHECK(r.pool->stats().broken == 0);
}

TEST_CASE("place_given_too_late_is_passed_on") {
    pool_rig r({.max_connections = 1}, true);
    auto a = r.get();
    auto b = r.start(100ms), c = r.start();
    pass(r.time, 101ms);
    a->drop();
    r.eventually([&] { return b->times == 1; }); // served or timed out: whether it still connects is a race
    b->drop();
    r.eventually([&] { return c->times == 1; });
    CHECK(c->served());
    CHECK(r.pool->size() == 1);
}

TEST_CASE("waiter_that_is_cancelled_leaves_the_queue") {
    pool_rig r({.max_connections = 1});
    auto a = r.get();
    request b;
    asio::cancellation_signal give_up;
    asio::co_spawn(r.io, r.pool->acquire({}), asio::bind_cancellation_slot(give_up.slot(), b.handler()));
    r.run();
    CHECK(r.pool->waiting() == 1);
    give_up.emit(asio::cancellation_type::terminal);
    r.run();
    CHECK(b.ec == asio::error::operation_aborted);
    CHECK(r.pool->waiting() == 0);
    CHECK(r.wheel.pending() == 0);
    a->lease.release();
    CHECK(r.pool->idle() == 1);
}

TEST_CASE("connection_given_to_who_is_cancelled_at_once_is_not_lost") {
    pool_rig r({.max_connections = 1});
    auto a = r.get();
    request b;
    asio::cancellation_signal give_up;
    asio::co_spawn(r.io, r.pool->acquire({}), asio::bind_cancellation_slot(give_up.slot(), b.handler()));
    r.run();
    a->lease.release();
    give_up.emit(asio::cancellation_type::terminal);
    r.run();
    CHECK(b.times == 1);
    b.drop();
    auto c = r.get();
    CHECK(r.pool->size() == 1);
}
