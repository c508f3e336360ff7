// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// redis_connection with a real server: order, limits of what is sent, reconnecting.
#include "support/durable/redis_rig.hpp"

#include <doctest/doctest.h>

using namespace cogwheel_tests;
using cogwheel::durable_errc;
using cogwheel::redis_command;
using cogwheel::redis_connection;
using cogwheel::redis_reply;
using namespace std::chrono_literals;

TEST_CASE("redis_connection_commands_of_one_caller_are_answered_in_order") {
    if (redis_missing()) return;
    const redis_server server;
    redis_rig rig;
    redis_connection c(rig.wheel(), server.client(), server.address());
    REQUIRE(!rig.connect(c));
    CHECK(c.connected());
    CHECK(c.role() == cogwheel::redis_role::master);
    CHECK(c.version() >= 60'000);

    std::promise<std::vector<std::int64_t>> all;
    std::vector<std::int64_t> seen;
    for (int i = 0; i < 5000; ++i) {
        c.async_command(redis_command("INCR").key("n"), [&](std::error_code ec, const redis_reply& r) {
            seen.push_back(ec ? -1 : r.integer());
            if (seen.size() == 5000) all.set_value(seen);
        });
    }
    const auto numbers = all.get_future().get();
    bool in_order = true;
    for (std::size_t i = 0; i < numbers.size(); ++i) in_order &= numbers[i] == static_cast<std::int64_t>(i) + 1;
    CHECK(in_order);
}

TEST_CASE("redis_connection_batch_is_sent_together_and_an_error_reply_is_a_reply") {
    if (redis_missing()) return;
    const redis_server server;
    redis_rig rig;
    redis_connection c(rig.wheel(), server.client(), server.address());
    REQUIRE(!rig.connect(c));
    std::vector<redis_command> some;
    some.push_back({"SET", "k", std::string_view("a\0b\r\n", 5)});
    some.push_back({"LPUSH", "k", "x"});
    some.push_back({"GET", "k"});
    const auto got = rig.commands(c, std::move(some));
    REQUIRE(!got.error);
    REQUIRE(got.replies.size() == 3);
    CHECK(got.replies[0].text() == "OK");
    CHECK(got.replies[1].error() == durable_errc::wrong_type);
    CHECK(got.replies[2].text() == std::string("a\0b\r\n", 5));
    const auto none = rig.commands(c, {});
    CHECK(!none.error);
    CHECK(none.replies.empty());
}

TEST_CASE("redis_connection_server_killed_fails_commands_and_connects_again") {
    if (redis_missing()) return;
    redis_server server;
    redis_rig rig;
    auto o = server.client();
    o.log = rig.log();
    redis_connection c(rig.wheel(), o, server.address());
    REQUIRE(!rig.connect(c));
    std::promise<std::error_code> blocked;
    c.async_command({"BLPOP", "none", "0"}, [&](std::error_code ec, redis_reply) { blocked.set_value(ec); });
    REQUIRE(
        eventually([&] { return server.call({"INFO", "clients"}).find("blocked_clients:1") != std::string::npos; }));
    server.kill();
    CHECK(blocked.get_future().get() == durable_errc::disconnected);
    REQUIRE(eventually([&] { return !c.connected(); }));
    CHECK(rig.command(c, {"PING"}).error == durable_errc::not_connected);
    CHECK(eventually([&] { return rig.logged().find(server.socket() + ": cannot connect: connect: ") < 10'000; }));
    server.start();
    REQUIRE(!rig.connect(c));
    CHECK(rig.command(c, {"PING"}).reply.text() == "PONG");
    CHECK(rig.logged().find(server.socket() + ": disconnected: ") != std::string::npos);
    CHECK(rig.logged().find(server.socket() + ": connected (") != std::string::npos);
}

TEST_CASE("redis_connection_server_stopped_ends_commands_by_their_limit") {
    if (redis_missing()) return;
    redis_server server;
    redis_rig rig;
    auto o = server.client();
    o.command_timeout = 100ms;
    o.connect_timeout = 200ms;
    o.log = rig.log();
    redis_connection c(rig.wheel(), o, server.address());
    REQUIRE(!rig.connect(c));
    server.stop();
    CHECK(rig.command(c, {"PING"}).error == durable_errc::disconnected);
    CHECK(rig.logged().find("no reply within command_timeout") != std::string::npos);
    REQUIRE(eventually([&] { return rig.logged().find("cannot connect: handshake: ") != std::string::npos; }));
    server.cont();
    REQUIRE(!rig.connect(c));
    CHECK(rig.command(c, {"PING"}).reply.text() == "PONG");
}

TEST_CASE("redis_connection_too_many_commands_are_refused_at_once") {
    if (redis_missing()) return;
    redis_server server;
    redis_rig rig;
    auto o = server.client();
    o.max_in_flight = 3;
    redis_connection c(rig.wheel(), o, server.address());
    REQUIRE(!rig.connect(c));
    std::promise<std::error_code> blocked;
    c.async_command({"BLPOP", "list", "0"}, [&](std::error_code ec, redis_reply) { blocked.set_value(ec); });
    std::vector<redis_command> three(3, redis_command{"PING"});
    CHECK(rig.commands(c, three).error == durable_errc::server_busy);
    server.call({"LPUSH", "list", "x"});
    CHECK(!blocked.get_future().get());
    CHECK(rig.commands(c, three).replies.size() == 3);
}

TEST_CASE("redis_connection_closed_ends_commands_in_flight") {
    if (redis_missing()) return;
    redis_server server;
    redis_rig rig;
    std::promise<std::error_code> blocked, waiting;
    {
        redis_connection c(rig.wheel(), server.client(), server.address());
        REQUIRE(!rig.connect(c));
        c.async_command({"BLPOP", "list", "0"}, [&](std::error_code ec, redis_reply) { blocked.set_value(ec); });
        auto elsewhere = server.client();
        redis_connection lost(rig.wheel(), elsewhere, {.host = {}, .path = server.folder() / "no.sock"});
        lost.async_wait_connected([&](std::error_code ec) { waiting.set_value(ec); });
        lost.close();
        CHECK(rig.command(lost, {"PING"}).error == asio::error::operation_aborted);
        CHECK(rig.connect(lost) == asio::error::operation_aborted);
    }
    CHECK(blocked.get_future().get() == asio::error::operation_aborted);
    CHECK(waiting.get_future().get() == asio::error::operation_aborted);
}

TEST_CASE("redis_connection_many_threads_share_one_connection") {
    if (redis_missing()) return;
    redis_server server;
    redis_rig rig(2);
    redis_connection c(rig.wheel(), server.client(), server.address());
    REQUIRE(!rig.connect(c));
    std::atomic<int> wrong = 0;
    on_threads(4, [&](int t) {
        const std::string key = "k" + std::to_string(t);
        for (int i = 1; i <= 200; ++i) {
            if (i % 10 == 0) {
                std::vector<redis_command> two(2, redis_command("INCRBY").key(key).add(0));
                const auto got = rig.commands(c, std::move(two));
                if (got.error || got.replies[1].integer() != i - 1) ++wrong;
            }
            const auto got = rig.command(c, redis_command("INCR").key(key));
            if (got.error || got.reply.integer() != i || !c.connected()) ++wrong;
        }
    });
    CHECK(wrong == 0);
}

TEST_CASE("redis_connection_handler_that_throws_stops_no_other_command") {
    if (redis_missing()) return;
    redis_server server;
    asio::io_context io;
    const cogwheel::timer_wheel wheel(io);
    redis_connection c(wheel, server.client(), server.address());
    int done = 0;
    c.async_wait_connected([&](std::error_code) {
        for (int i = 0; i < 10; ++i) {
            c.async_command({"PING"}, [&](std::error_code, redis_reply) {
                if (++done == 10) c.close();
                throw done;
            });
        }
    });
    int thrown = 0;
    for (bool again = true; again;) {
        again = false;
        try {
            io.run();
        } catch (int) {
            ++thrown;
            again = true;
        }
    }
    CHECK(done == 10);
    CHECK(thrown == 10);
}

TEST_CASE("redis_connection_context_destroyed_with_commands_in_flight_leaks_nothing") {
    if (redis_missing()) return;
    redis_server server;
    const auto held = std::make_shared<int>();
    {
        asio::io_context io;
        const cogwheel::timer_wheel wheel(io);
        redis_connection c(wheel, server.client(), server.address());
        c.async_wait_connected(
            [&](std::error_code) { c.async_command({"BLPOP", "list", "0"}, [held](std::error_code, redis_reply) {}); });
        REQUIRE(eventually([&] {
            io.poll();
            return server.call({"INFO", "clients"}).find("blocked_clients:1") != std::string::npos;
        }));
    }
    CHECK(held.use_count() == 1);
}

TEST_CASE("redis_connection_command_without_arguments_is_refused_and_replies_stay_in_step") {
    if (redis_missing()) return;
    redis_server server;
    redis_rig rig;
    redis_connection c(rig.wheel(), server.client(), server.address());
    REQUIRE(!rig.connect(c));
    CHECK(rig.command(c, redis_command()).error == asio::error::invalid_argument);
    CHECK(rig.commands(c, {redis_command{"PING"}, redis_command()}).error == asio::error::invalid_argument);
    CHECK(rig.command(c, {"ECHO", "x"}).reply.text() == "x");
}
