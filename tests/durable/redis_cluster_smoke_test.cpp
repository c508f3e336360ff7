// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// redis_client with a cluster: it finds the node of each key, also while slots move and nodes are gone.
#include "src/durable/cluster_slots.hpp"
#include "support/durable/redis_cluster.hpp"
#include "support/durable/redis_rig.hpp"

#include <cogwheel/durable/redis_subscription.hpp>

using namespace cogwheel_tests;
using cogwheel::durable_errc;
using cogwheel::redis_client;
using cogwheel::redis_command;
using cogwheel::detail::slot_of;

TEST_CASE("redis_cluster_commands_reach_the_node_of_their_key") {
    if (redis_missing()) return;
    redis_cluster cluster;
    redis_rig rig;
    redis_client c(rig.wheel(), cluster.client());
    REQUIRE(!rig.connect(c));
    CHECK(c.connected());
    for (int i = 0; i < 50; ++i) {
        const auto key = "key" + std::to_string(i);
        CHECK(rig.command(c, redis_command("SET").key(key).add(i)).reply.text() == "OK");
        CHECK(cluster.node(cluster.owner(slot_of(key))).call({"GET", key}) == std::to_string(i));
    }
    std::vector<redis_command> some;
    for (int i = 0; i < 5; ++i) some.push_back(redis_command("RPUSH").key("{tag}list").add(i));
    const auto pushed = rig.commands(c, std::move(some));
    REQUIRE(!pushed.error);
    REQUIRE(pushed.replies.size() == 5);
    CHECK(pushed.replies[4].integer() == 5);
    CHECK(rig.command(c, {"PING"}).reply.text() == "PONG");
    const auto all = rig.on_all(c, {"DBSIZE"});
    REQUIRE(!all.error);
    REQUIRE(all.replies.size() == 3);
    CHECK(all.replies[0].integer() + all.replies[1].integer() + all.replies[2].integer() == 51);
    CHECK(rig.command(c, redis_command("MGET").key("a").add("b")).reply.text().starts_with("CROSSSLOT"));
}

TEST_CASE("redis_cluster_moving_slot_is_followed_and_keeps_order") {
    if (redis_missing()) return;
    redis_cluster cluster;
    redis_rig rig;
    redis_client c(rig.wheel(), cluster.client());
    REQUIRE(!rig.connect(c));
    const int slot = slot_of("{m}");
    const int from = cluster.owner(slot), to = (from + 1) % 3;
    CHECK(rig.command(c, redis_command("RPUSH").key("{m}here").add("0")).reply.integer() == 1);
    CHECK(rig.command(c, redis_command("RPUSH").key("{m}there").add("0")).reply.integer() == 1);
    cluster.begin_migration(slot, from, to);
    cluster.move_key("{m}there", from, to);

    std::vector<redis_command> some;
    for (const char* text : {"1", "2", "3"}) {
        some.push_back(redis_command("RPUSH").key("{m}there").add(text)); // ASK
        some.push_back(redis_command("RPUSH").key("{m}here").add(text));
    }
    const auto mixed = rig.commands(c, std::move(some));
    REQUIRE(!mixed.error);
    for (const auto& reply : mixed.replies) CHECK(!reply.is_error());
    CHECK(cluster.node(from).call({"LRANGE", "{m}here", "0", "-1"}) == "0\n1\n2\n3\n");
    CHECK(rig.command(c, redis_command("LRANGE").key("{m}there").add(0).add(-1)).reply.elements().size() == 4);

    // A command with two keys, one on each side, must wait for the end of the migration.
    std::promise<redis_rig::answer> both;
    c.async_command(redis_command("LMOVE").key("{m}here").add("{m}there").add("LEFT").add("RIGHT"),
                    [&](std::error_code ec, cogwheel::redis_reply r) { both.set_value({ec, std::move(r)}); });
    cluster.move_key("{m}here", from, to);
    cluster.end_migration(slot, from, to);
    const auto moved = both.get_future().get();
    CHECK(!moved.error);
    CHECK(moved.reply.text() == "0");

    some.clear();
    for (const char* text : {"4", "5"}) some.push_back(redis_command("RPUSH").key("{m}here").add(text)); // MOVED
    const auto after = rig.commands(c, std::move(some));
    REQUIRE(!after.error);
    CHECK(after.replies[1].integer() == 5);
    CHECK(cluster.node(to).call({"LRANGE", "{m}here", "0", "-1"}) == "1\n2\n3\n4\n5\n");
}

TEST_CASE("redis_cluster_redirected_command_takes_those_without_a_key_with_it") {
    if (redis_missing()) return;
    redis_cluster cluster;
    redis_rig rig;
    redis_client c(rig.wheel(), cluster.client());
    REQUIRE(!rig.connect(c));
    const auto who = [&](const std::string& key) {
        std::vector<redis_command> some;
        some.push_back(redis_command{"CLUSTER", "MYID"}.route(key)); // before and after, as SCRIPT LOAD and WAIT
        some.push_back(redis_command("SET").key(key).add(1));
        some.push_back(redis_command{"CLUSTER", "MYID"}.route(key));
        const auto got = rig.commands(c, std::move(some));
        REQUIRE(!got.error);
        CHECK(got.replies[1].text() == "OK");
        CHECK(got.replies[0].text() == got.replies[2].text());
        return got.replies[2].text();
    };
    const int slot = slot_of("{m}");
    const int from = cluster.owner(slot), to = (from + 1) % 3;
    CHECK(who("{m}") == cluster.id(from));
    cluster.begin_migration(slot, from, to);
    CHECK(who("{m}new") == cluster.id(to)); // ASK
    cluster.move_key("{m}", from, to);
    cluster.end_migration(slot, from, to);
    CHECK(who("{m}") == cluster.id(to)); // MOVED
}

TEST_CASE("redis_cluster_batch_done_in_part_is_disconnected") {
    if (redis_missing()) return;
    redis_cluster cluster;
    redis_rig rig;
    auto o = cluster.client();
    o.command_timeout = std::chrono::milliseconds(500);
    redis_client c(rig.wheel(), o);
    REQUIRE(!rig.connect(c));
    const int slot = slot_of("{m}");
    const int from = cluster.owner(slot), to = (from + 1) % 3;
    REQUIRE(eventually([&] { return rig.on_all(c, {"PING"}).replies.size() == 3; }));
    CHECK(rig.command(c, redis_command("RPUSH").key("{m}here").add("0")).reply.integer() == 1);
    cluster.begin_migration(slot, from, to);
    cluster.node(to).kill();
    // Until the client has seen it.
    REQUIRE(eventually([&] { return rig.on_all(c, {"PING"}).replies.size() < 3; }));

    std::vector<redis_command> some;
    some.push_back(redis_command("RPUSH").key("{m}here").add("1"));
    some.push_back(redis_command("RPUSH").key("{m}there").add("1")); // ASK, but the other node is gone
    CHECK(rig.commands(c, std::move(some)).error == durable_errc::disconnected);
    CHECK(cluster.node(from).call({"LLEN", "{m}here"}) == "2");
    some.clear();
    some.push_back(redis_command("RPUSH").key("{m}there").add("1"));
    CHECK(rig.commands(c, std::move(some)).error == durable_errc::not_connected); // nothing was done
    CHECK(rig.on_all(c, {"PING"}).error == durable_errc::disconnected);
}

TEST_CASE("redis_cluster_lost_node_ends_its_commands_only_and_its_return_is_noticed") {
    if (redis_missing()) return;
    redis_cluster cluster;
    redis_rig rig;
    auto o = cluster.client();
    o.command_timeout = std::chrono::milliseconds(500);
    redis_client c(rig.wheel(), o);
    std::atomic<int> subscribed = 0, messages = 0;
    cogwheel::redis_subscription s(rig.wheel(), o, {"news"}, [&](std::string_view, std::string_view) { ++messages; });
    s.on_subscribed([&] { ++subscribed; });
    REQUIRE(!rig.connect(c));
    REQUIRE(eventually([&] { return subscribed == 1 && rig.on_all(c, {"PING"}).replies.size() == 3; }));
    const int lost = cluster.owner(slot_of("a")), other = (lost + 1) % 3;
    std::string key = "b";
    while (cluster.owner(slot_of(key)) != other) key += 'b';
    cluster.node(lost).kill();
    std::error_code ec;
    REQUIRE(eventually([&] {
        const auto got = rig.command(c, redis_command("SET").key("a").add(1));
        ec = got.error;
        return ec == durable_errc::server_busy || ec == durable_errc::not_connected;
    }));
    CHECK(rig.command(c, redis_command("SET").key(key).add(1)).reply.text() == "OK");
    cluster.node(lost).start();
    CHECK(eventually([&] { return rig.command(c, redis_command("SET").key("a").add(1)).reply.text() == "OK"; }));
    REQUIRE(eventually([&] { return s.subscribed(); }));
    CHECK(eventually([&] {
        cluster.node(other).call({"PUBLISH", "news", "x"}); // the bus brings it to every node
        return messages > 0;
    }));
}

TEST_CASE("redis_cluster_closed_while_commands_wait_ends_them") {
    if (redis_missing()) return;
    redis_rig rig;
    std::promise<std::error_code> waiting, all;
    {
        cogwheel::redis_options o;
        o.topology = cogwheel::redis_topology::cluster;
        o.addresses = {{.host = "127.0.0.1", .port = 1}};
        redis_client c(rig.wheel(), o);
        c.async_command(redis_command("GET").key("k"),
                        [&](std::error_code ec, cogwheel::redis_reply) { waiting.set_value(ec); });
        c.async_on_all({"PING"}, [&](std::error_code ec, auto) { all.set_value(ec); });
    }
    CHECK(waiting.get_future().get() == asio::error::operation_aborted);
    CHECK(all.get_future().get());
}

TEST_CASE("redis_cluster_single_server_is_named_as_none") {
    if (redis_missing()) return;
    redis_server server;
    redis_rig rig;
    auto o = server.client();
    o.topology = cogwheel::redis_topology::cluster;
    o.log = rig.log();
    redis_client c(rig.wheel(), o);
    CHECK(eventually([&] { return rig.logged().find("cluster support disabled") < 9'999; }));
}

TEST_CASE("redis_cluster_many_threads_share_one_client") {
    if (redis_missing()) return;
    redis_cluster cluster;
    redis_rig rig(2);
    redis_client c(rig.wheel(), cluster.client());
    REQUIRE(!rig.connect(c));
    std::atomic<int> wrong = 0;
    on_threads(4, [&](int t) {
        for (int i = 1; i <= 100; ++i) {
            const auto got = rig.command(c, redis_command("INCR").key("k" + std::to_string(t)));
            if (got.error || got.reply.integer() != i || !c.connected()) ++wrong;
        }
    });
    CHECK(wrong == 0);
}
