// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// redis_connection and peers that break the protocol, or say nothing.
#include "support/durable/false_peer.hpp"
#include "support/durable/redis_rig.hpp"

using namespace cogwheel_tests;
using cogwheel::durable_errc;
using cogwheel::redis_command;
using cogwheel::redis_connection;
using namespace std::chrono_literals;

namespace {

cogwheel::redis_options logging_client(redis_rig& rig) {
    cogwheel::redis_options o;
    o.log = rig.log();
    return o;
}

/// For peers that let a limit pass; any other is given time, so that a busy machine does not end what the peer should.
cogwheel::redis_options impatient_client(redis_rig& rig) {
    cogwheel::redis_options o = logging_client(rig);
    o.connect_timeout = 100ms;
    o.command_timeout = 100ms;
    return o;
}

} // namespace

TEST_CASE("redis_bad_peer_that_never_answers_is_given_up_and_tried_again") {
    const false_peer peer(false_peer::drain);
    redis_rig rig;
    redis_connection c(rig.wheel(), impatient_client(rig), peer.address());
    CHECK(eventually([&] { return peer.accepted() >= 2; }));
    CHECK(rig.logged().find("handshake: ") != std::string::npos);
    CHECK(rig.command(c, {"PING"}).error == durable_errc::not_connected);
}

TEST_CASE("redis_bad_peer_that_never_reads_ends_commands_by_their_limit") {
    std::promise<void> done;
    const false_peer peer([may_end = done.get_future().share()](auto& s) {
        false_peer::shake_hands(s);
        may_end.wait();
    });
    redis_rig rig;
    redis_connection c(rig.wheel(), impatient_client(rig), peer.address());
    REQUIRE(!rig.connect(c));
    CHECK(c.version() == 70'204);
    CHECK(rig.command(c, {"SET", "k", std::string(std::size_t{30} << 20, 'x')}).error == durable_errc::disconnected);
    done.set_value();
}

TEST_CASE("redis_bad_peer_that_sends_garbage_is_closed_with_bad_reply") {
    for (const std::string_view words :
         {"HTTP/1.1 400 Bad Request\r\n\r\n", "$-7\r\n", ":12x\r\n", "*9999999999999\r\n",
          "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n"}) {
        CAPTURE(words);
        const false_peer peer([&](auto& s) {
            false_peer::shake_hands(s);
            false_peer::await(s, "PING\r\n");
            false_peer::say(s, words);
            false_peer::drain(s);
        });
        redis_rig rig;
        redis_connection c(rig.wheel(), logging_client(rig), peer.address());
        REQUIRE(!rig.connect(c));
        CHECK(rig.command(c, {"PING"}).error == durable_errc::bad_reply);
    }
}

TEST_CASE("redis_bad_peer_whose_reply_is_too_long_is_closed_with_bad_reply") {
    const false_peer peer([&](auto& s) {
        false_peer::shake_hands(s);
        false_peer::await(s, "PING\r\n");
        false_peer::say(s, "$50000000\r\n" + std::string(200'000, 'x'));
        false_peer::drain(s);
    });
    redis_rig rig;
    auto o = logging_client(rig);
    o.max_reply = 100'000;
    redis_connection c(rig.wheel(), o, peer.address());
    REQUIRE(!rig.connect(c));
    CHECK(rig.command(c, {"PING"}).error == durable_errc::bad_reply);
    CHECK(eventually([&] { return rig.logged().find("more than 100000 bytes") < 9'999; }));
}

TEST_CASE("redis_bad_peer_that_answers_unasked_is_closed") {
    const false_peer peer([&](auto& s) {
        false_peer::shake_hands(s);
        false_peer::say(s, "+OK\r\n");
        false_peer::drain(s);
    });
    redis_rig rig;
    redis_connection c(rig.wheel(), logging_client(rig), peer.address());
    CHECK(eventually([&] { return peer.accepted() >= 2; }));
    CHECK(rig.logged().find("a reply without a command") != std::string::npos);
}

TEST_CASE("redis_bad_peer_that_closes_in_the_middle_of_a_reply_is_disconnected") {
    const false_peer peer([&](auto& s) {
        false_peer::shake_hands(s);
        false_peer::await(s, "B\r\n"); // both are under way, so neither is refused
        false_peer::say(s, "+ONE\r\n$100\r\nhalf of");
    });
    redis_rig rig;
    redis_connection c(rig.wheel(), logging_client(rig), peer.address());
    REQUIRE(!rig.connect(c));
    std::promise<std::error_code> first;
    std::promise<cogwheel::redis_reply> reply;
    c.async_command({"A"}, [&](std::error_code ec, cogwheel::redis_reply r) {
        first.set_value(ec);
        reply.set_value(std::move(r));
    });
    CHECK(rig.command(c, {"B"}).error == durable_errc::disconnected);
    CHECK(!first.get_future().get());
    CHECK(reply.get_future().get().text() == "ONE");
}

TEST_CASE("redis_bad_peer_that_turns_clients_away_is_quoted") {
    const false_peer peer([&](auto& s) { false_peer::say(s, "-ERR max number of clients reached\r\n"); });
    redis_rig rig;
    redis_connection c(rig.wheel(), logging_client(rig), peer.address());
    CHECK(eventually([&] { return peer.accepted() >= 2; }));
    CHECK(eventually([&] { return rig.logged().find("max number of clients") < 9'999; }));
}

TEST_CASE("redis_bad_peer_is_given_up_also_when_the_wheel_has_stopped") {
    const false_peer peer([&](auto& s) {
        false_peer::shake_hands(s);
        false_peer::drain(s);
    });
    redis_rig rig;
    cogwheel::timer_wheel wheel(rig.io());
    redis_connection c(wheel, impatient_client(rig), peer.address());
    REQUIRE(!rig.connect(c));
    std::promise<std::error_code> first;
    c.async_command({"A"}, [&](std::error_code ec, cogwheel::redis_reply) { first.set_value(ec); });
    wheel.cancel_all(); // perhaps with the limit of the command
    auto result = first.get_future();
    REQUIRE(result.wait_for(20s) == std::future_status::ready);
    CHECK(result.get() == durable_errc::disconnected);
    wheel.stop();
    REQUIRE(!rig.connect(c));
    CHECK(rig.command(c, {"A"}).error == durable_errc::disconnected);
}

TEST_CASE("redis_bad_peer_that_turns_clients_away_is_asked_with_pauses_when_the_wheel_has_stopped") {
    auto o = cogwheel::redis_options();
    o.reconnect = cogwheel::backoff::constant(1h);
    const false_peer peer([&](auto& s) { false_peer::say(s, "-ERR max number of clients reached\r\n"); });
    redis_rig rig;
    cogwheel::timer_wheel wheel(rig.io());
    wheel.stop();
    redis_connection c(wheel, o, peer.address());
    REQUIRE(eventually([&] { return peer.accepted() >= 1; }));
    std::this_thread::sleep_for(100ms); // no pause: hundreds of attempts
    CHECK(peer.accepted() == 1);
}

TEST_CASE("redis_bad_peer_that_fails_in_the_same_way_is_logged_once") {
    std::atomic<int> lines = 0;
    auto o = cogwheel::redis_options();
    o.log = [&](std::string_view) { ++lines; };
    o.reconnect = cogwheel::backoff::constant(1ms);
    const false_peer peer([&](auto& s) { false_peer::say(s, "-ERR max number of clients reached\r\n"); });
    redis_rig rig;
    redis_connection c(rig.wheel(), o, peer.address());
    CHECK(eventually([&] { return peer.accepted() >= 10; }));
    CHECK(lines >= 1);
    CHECK(lines <= 3); // the words may differ: a connection that is reset has none of the server's
}

TEST_CASE("redis_bad_peer_that_reads_nothing_gets_no_more_than_64_mib_to_wait") {
    std::promise<void> done;
    const false_peer peer([may_end = done.get_future().share()](auto& s) {
        false_peer::shake_hands(s);
        may_end.wait();
    });
    redis_rig rig;
    auto o = logging_client(rig);
    o.command_timeout = 5min;
    redis_connection c(rig.wheel(), o, peer.address());
    REQUIRE(!rig.connect(c));
    std::atomic<int> busy = 0, ended = 0;
    const std::string long_text(std::size_t{33} << 20, 'x');
    // The first may be under way: then the second may wait, and the third may not.
    for (int i = 0; i < 3; ++i) {
        c.async_command({"SET", "k", long_text}, [&](std::error_code ec, const cogwheel::redis_reply&) {
            if (ec == durable_errc::server_busy) ++busy;
            ++ended;
        });
    }
    CHECK(eventually([&] { return busy >= 1; }));
    done.set_value();
    CHECK(eventually([&] { return ended == 3; }));
    CHECK(busy < 3); // what finds nothing waits, of any length
}
