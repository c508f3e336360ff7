// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// durability = replicas(1) with a replica that stops: the answer says that the task may be lost, and has its
// generation; to add it again with `keep` is safe. In real time: the server waits for the replica.
#include "support/durable/plain_redis.hpp"
#include "support/durable/store_rig.hpp"

#include <doctest/doctest.h>

#include <csignal>

namespace {

using namespace cogwheel;
using namespace cogwheel::detail;
using cogwheel_tests::plain_redis;
using cogwheel_tests::redis_rig_of_stores;
using cogwheel_tests::redis_server;

/// A master, a replica that is in step, and an open store that wants replicas(1).
struct replica_rig {
    replica_rig() {
        plain_redis redis(rig.server.socket());
        for (int i = 0; i < 100; ++i)
            if (redis({"INFO", "replication"}).text().find("state=online") == std::string::npos)
                redis({"WAIT", "1", "100"});
        options = rig.options();
        options.durability = durable_durability::replicas(1);
        options.replica_timeout = std::chrono::milliseconds(500);
        REQUIRE(!rig(rig.make(options).open()));
    }

    // Replication does not work over unix sockets.
    const std::string port = std::to_string(cogwheel_tests::reserved_tcp_port());
    redis_rig_of_stores rig{{"--port", port, "--bind", "127.0.0.1", "--repl-diskless-sync-delay", "0"}, false};
    const redis_server replica{{.arguments = {"--replicaof", "127.0.0.1", port}}};
    durable_options options;
};

} // namespace

TEST_CASE("redis_store_add_that_no_replica_confirms_is_unknown_and_may_be_repeated") {
    if (!redis_server::installed()) {
        MESSAGE("skipped: redis-server is not installed");
        return;
    }
    replica_rig both;
    auto& [port, rig, replica, options] = both;
    auto& store = rig.store();

    const std::vector<new_task> task{{.id = "a"}};
    kill(replica.pid(), SIGSTOP);
    const auto unknown = rig(store.add(0, task, on_duplicate::keep));
    CHECK(unknown.error == durable_errc::durability_unknown);
    REQUIRE(unknown.value.size() == 1);
    CHECK(unknown.value[0].generation > 0);
    CHECK(store.trouble().find("0 of 1 replicas confirmed a change within 500 ms") != std::string::npos);

    // On a new connection, which has written nothing yet.
    REQUIRE(!rig(rig.make(options).open()));
    CHECK(rig(rig.store().add(0, task, on_duplicate::keep)).error == durable_errc::durability_unknown);
    CHECK(rig(rig.store().cancel("none")).error == durable_errc::durability_unknown);
    kill(replica.pid(), SIGCONT);
    answer<std::vector<added_task>> again;
    for (int i = 0; i < 20; ++i) {
        again = rig(rig.store().add(0, task, on_duplicate::keep));
        if (!again.error) break;
    }
    CHECK(!again.error);
    REQUIRE(again.value.size() == 1);
    CHECK(again.value[0].existed);
    CHECK(again.value[0].generation == unknown.value[0].generation);
}

TEST_CASE("redis_store_many_changes_that_no_replica_confirms_hold_up_no_other_call") {
    if (!redis_server::installed()) {
        MESSAGE("skipped: redis-server is not installed");
        return;
    }
    replica_rig both;
    auto& [port, rig, replica, options] = both;
    options.replica_timeout = std::chrono::seconds(1);
    options.redis.command_timeout = std::chrono::milliseconds(1'500); // fewer than two waits
    REQUIRE(!rig(rig.make(options).open()));
    auto& store = rig.store();
    REQUIRE(!rig(store.add(0, {{.id = "first", .due = 1}}, on_duplicate::keep)).error);

    kill(replica.pid(), SIGSTOP);
    int answered = 0;
    std::vector<std::error_code> errors;
    for (int i = 0; i < 50; ++i) {
        std::vector<new_task> task{{.id = "t" + std::to_string(i)}};
        asio::co_spawn(rig.io, store.add(static_cast<std::uint32_t>(i % 4), std::move(task), on_duplicate::keep),
                       [&](const std::exception_ptr&, const answer<std::vector<added_task>>& a) {
                           ++answered;
                           if (a.error != durable_errc::durability_unknown || a.value.size() != 1)
                               errors.push_back(a.error);
                       });
    }
    const auto claimed = rig(store.claim(0, 0, 10, 30'000, rig.limits));
    REQUIRE(!claimed.error);
    REQUIRE(!claimed.value.tasks.empty());
    const auto& task = claimed.value.tasks[0];
    const std::vector<begin_request> begin{{.id = task.id, .generation = task.generation}};
    const auto begun = rig(store.begin(30'000, 1, begin));
    CHECK(!begun.error);
    CHECK(rig.value(store.counts(0)).leased >= 1);
    CHECK(answered == 0); // the server waits for the replica meanwhile
    while (answered < 50 && rig.io.run_one() > 0) {
    }
    CHECK(answered == 50);
    CHECK(errors.empty());
    kill(replica.pid(), SIGCONT);
}
