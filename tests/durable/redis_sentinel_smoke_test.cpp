// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// redis_client and redis_subscription with sentinels: they follow a failover.
#include "support/durable/redis_rig.hpp"
#include "support/durable/redis_sentinels.hpp"

#include <cogwheel/durable/redis_subscription.hpp>

using namespace cogwheel_tests;
using cogwheel::durable_errc;
using cogwheel::redis_client;
using cogwheel::redis_command;

TEST_CASE("redis_sentinel_failover_is_followed") {
    if (redis_missing()) return;
    redis_sentinels group;
    redis_rig rig;
    auto o = group.client();
    o.log = rig.log();
    redis_client c(rig.wheel(), o);
    std::atomic<int> subscribed = 0, messages = 0;
    cogwheel::redis_subscription s(rig.wheel(), o, {"news"}, [&](std::string_view, std::string_view) { ++messages; });
    s.on_subscribed([&] { ++subscribed; });
    REQUIRE(!rig.connect(c));
    CHECK(rig.command(c, {"SET", "k", "v"}).reply.text() == "OK");
    CHECK(group.master.call({"WAIT", "1", "5000"}) == "1");
    CHECK(rig.on_all(c, {"PING"}).replies.size() == 1);
    REQUIRE(eventually([&] { return subscribed == 1; }));

    group.master.kill();
    REQUIRE(
        eventually([&] { return rig.command(c, {"SET", "k", "w"}).reply.text() == "OK"; }, std::chrono::seconds(90)));
    // The sentinels close all connections of a new master, also those that have just been made.
    CHECK(eventually([&] { return group.replica.call({"GET", "k"}) == "w"; }));
    REQUIRE(eventually([&] { return subscribed >= 2; }));
    CHECK(eventually([&] { return group.replica.call({"PUBLISH", "news", "x"}) == "1"; }));
    CHECK(eventually([&] { return messages == 1; }));
}

TEST_CASE("redis_sentinel_master_that_becomes_a_replica_is_left") {
    if (redis_missing()) return;
    redis_sentinels group;
    redis_rig rig;
    redis_client c(rig.wheel(), group.client());
    REQUIRE(!rig.connect(c));
    REQUIRE(group.sentinels[0]->call({"SENTINEL", "FAILOVER", "mymaster"}) == "OK");
    CHECK(eventually(
        [&] {
            rig.command(c, {"SET", "k", "new"});
            return group.replica.call({"GET", "k"}) == "new" && group.replica.call({"ROLE"}).starts_with("master");
        },
        std::chrono::seconds(40)));
}

TEST_CASE("redis_sentinel_unknown_master_name_is_reported") {
    if (redis_missing()) return;
    redis_server sentinel({.port = reserved_tcp_port(), .sentinel = "sentinel monitor other 127.0.0.1 1 1\n"});
    redis_rig rig;
    cogwheel::redis_options o;
    o.topology = cogwheel::redis_topology::sentinel;
    o.addresses = {sentinel.tcp_address()};
    o.log = rig.log();
    redis_client c(rig.wheel(), o);
    CHECK(eventually([&] { return rig.logged().find("the sentinel knows no master \"mymaster\"") < 9'999; }));
    CHECK(rig.command(c, {"PING"}).error == durable_errc::not_connected);
}
