// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// redis_subscription with a real server: messages, and what happens when the server is gone for a while.
#include "support/durable/false_peer.hpp"
#include "support/durable/redis_rig.hpp"

#include <cogwheel/durable/redis_subscription.hpp>

using namespace cogwheel_tests;
using cogwheel::redis_subscription;

namespace {

/// What a subscription has received.
struct channel_mailbox {
    std::mutex mutex;
    std::vector<std::string> all;

    auto take() {
        return [this](std::string_view channel, std::string_view payload) {
            const std::lock_guard lock(mutex);
            all.push_back(std::string(channel) + "=" + std::string(payload));
        };
    }
    std::vector<std::string> messages() {
        const std::lock_guard lock(mutex);
        return all;
    }
};

} // namespace

TEST_CASE("redis_subscription_receives_messages_and_survives_a_restart") {
    if (redis_missing()) return;
    redis_server server;
    redis_rig rig;
    channel_mailbox box;
    std::atomic<int> subscribed = 0;
    redis_subscription s(rig.wheel(), server.client(), {"a", "b"}, box.take());
    s.on_subscribed([&] { ++subscribed; });
    REQUIRE(eventually([&] { return subscribed >= 1; }));
    CHECK(s.subscribed());
    CHECK(server.call({"PUBLISH", "b", "one"}) == "1");
    CHECK(server.call({"PUBLISH", "c", "not for us"}) == "0");
    server.restart();
    REQUIRE(eventually([&] { return subscribed >= 2; }));
    CHECK(server.call({"PUBLISH", "a", "two"}) == "1");
    const std::vector<std::string> expected{"b=one", "a=two"};
    CHECK(eventually([&] { return box.messages() == expected; }));
}

TEST_CASE("redis_subscription_silent_server_is_noticed") {
    if (redis_missing()) return;
    redis_server server;
    redis_rig rig;
    channel_mailbox box;
    auto o = server.client();
    o.command_timeout = o.connect_timeout = std::chrono::milliseconds(200);
    o.log = rig.log();
    redis_subscription s(rig.wheel(), o, {"a"}, box.take());
    REQUIRE(eventually([&] { return s.subscribed(); }));
    server.stop();
    REQUIRE(eventually([&] { return !s.subscribed(); }));
    CHECK(eventually([&] { return rig.logged().find("no subscription: the server is silent") < 9'999; }));
    server.cont();
    CHECK(eventually([&] { return s.subscribed(); }));
}

TEST_CASE("redis_subscription_refused_channel_is_logged_with_the_servers_words") {
    if (redis_missing()) return;
    redis_server server(
        {.arguments = {"--requirepass", "pw", "--user", "u", "on", ">pw", "+@all", "~*", "&other"}, .password = "pw"});
    redis_rig rig;
    channel_mailbox box;
    auto o = server.client();
    o.user = "u";
    o.password = "pw";
    o.log = rig.log();
    const redis_subscription s(rig.wheel(), o, {"a"}, box.take());
    CHECK(eventually([&] { return rig.logged().find("no subscription: NOPERM") < 9'999; }));
    CHECK(!s.subscribed());
}

TEST_CASE("redis_subscription_function_that_throws_is_logged_and_the_next_message_comes") {
    if (redis_missing()) return;
    redis_server server;
    redis_rig rig;
    std::atomic<int> calls = 0;
    auto o = server.client();
    o.log = rig.log();
    redis_subscription s(rig.wheel(), o, {"a"}, [&](std::string_view, std::string_view) {
        ++calls;
        throw std::runtime_error("oops");
    });
    REQUIRE(eventually([&] { return s.subscribed(); }));
    server.call({"PUBLISH", "a", "1"});
    server.call({"PUBLISH", "a", "2"});
    CHECK(eventually([&] { return calls == 2; }));
    CHECK(rig.logged().find("oops") != std::string::npos);
}

TEST_CASE("redis_subscription_peer_that_sends_garbage_is_left") {
    const false_peer peer([](auto& s) {
        false_peer::shake_hands(s);
        false_peer::say(s, "+OK\r\n*0\r\n");
        false_peer::drain(s);
    });
    redis_rig rig;
    channel_mailbox box;
    cogwheel::redis_options o;
    o.addresses = {peer.address()};
    const redis_subscription s(rig.wheel(), o, {"a"}, box.take());
    CHECK(eventually([&] { return peer.accepted() >= 2; }));
    CHECK(box.messages().empty());
}

TEST_CASE("redis_subscription_closed_by_its_own_function_is_not_called_again") {
    if (redis_missing()) return;
    redis_server server;
    redis_rig rig;
    std::atomic<int> calls = 0;
    std::atomic<bool> closed = false;
    std::optional<redis_subscription> s;
    s.emplace(rig.wheel(), server.client(), std::vector<std::string>{"a"}, [&](std::string_view, std::string_view) {
        ++calls;
        s->close();
        closed = true;
    });
    REQUIRE(eventually([&] { return s->subscribed(); }));
    server.call({"EVAL", "for i = 1, 5 do redis.call('PUBLISH', 'a', i) end", "0"});
    REQUIRE(eventually([&] { return closed.load(); })); // the function does not use `s` any more
    CHECK(eventually([&] { return server.call({"PUBSUB", "NUMSUB", "a"}) == "a\n0\n"; }));
    CHECK(calls == 1);
}

TEST_CASE("redis_subscription_without_channels_is_refused") {
    asio::io_context io;
    const cogwheel::timer_wheel wheel(io);
    cogwheel::redis_options o;
    o.addresses = {{.host = "localhost"}};
    CHECK_THROWS_AS(redis_subscription(wheel, o, {}, {}), std::invalid_argument);
}

TEST_CASE("redis_subscription_peer_that_confirms_and_closes_is_asked_with_growing_pauses") {
    const false_peer peer([&](auto& s) {
        false_peer::shake_hands(s);
        false_peer::await(s, "SUBSCRIBE");
        false_peer::say(s, "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n");
    });
    redis_rig rig;
    cogwheel::redis_options o;
    o.addresses = {peer.address()};
    o.reconnect = cogwheel::backoff::exponential(std::chrono::milliseconds(1), 1e6);
    std::atomic<int> subscribed = 0;
    redis_subscription s(rig.wheel(), o, {"a"}, [](std::string_view, std::string_view) {});
    s.on_subscribed([&] { ++subscribed; });
    REQUIRE(eventually([&] { return peer.accepted() >= 2; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(100)); // the next pause has minutes
    CHECK(peer.accepted() == 2);
    CHECK(subscribed >= 1);
}

TEST_CASE("redis_subscription_close_on_another_thread_lets_one_last_call_end") {
    const false_peer peer([&](auto& s) {
        false_peer::shake_hands(s);
        false_peer::await(s, "SUBSCRIBE");
        std::string words = "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n";
        for (int i = 0; i < 10; ++i) words += "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nx\r\n";
        false_peer::say(s, words);
        false_peer::drain(s);
    });
    std::atomic<int> calls = 0;
    std::atomic<bool> closed = false;
    {
        redis_rig rig;
        cogwheel::redis_options o;
        o.addresses = {peer.address()};
        redis_subscription s(rig.wheel(), o, {"a"}, [&](std::string_view, std::string_view) {
            ++calls;
            while (!closed) std::this_thread::yield();
        });
        REQUIRE(eventually([&] { return calls == 1; }));
        s.close();
        closed = true;
    } // the rig has run all that was left
    CHECK(calls == 1);
}
