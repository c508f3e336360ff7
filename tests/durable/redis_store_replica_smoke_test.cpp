// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// durability = replicas(1) with a replica that stops: the answer says that the task may be lost, and has its
// generation; to add it again with `keep` is safe. In real time: the server waits for the replica.
#include "support/plain_redis.hpp"
#include "support/store_rig.hpp"

#include <doctest/doctest.h>

#include <csignal>

#include <arpa/inet.h>
#include <sys/socket.h>

namespace {

using namespace cogwheel;
using namespace cogwheel::detail;
using cogwheel_tests::plain_redis;
using cogwheel_tests::redis_process;
using cogwheel_tests::redis_rig_of_stores;

// Replication does not work over unix sockets.
std::string free_port_of_loopback() {
    const int s = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof a;
    REQUIRE(bind(s, reinterpret_cast<sockaddr*>(&a), size) == 0);
    REQUIRE(getsockname(s, reinterpret_cast<sockaddr*>(&a), &size) == 0);
    close(s);
    return std::to_string(ntohs(a.sin_port));
}

} // namespace

TEST_CASE("redis_store_add_that_no_replica_confirms_is_unknown_and_may_be_repeated") {
    if (!redis_process::installed()) {
        MESSAGE("skipped: redis-server is not installed");
        return;
    }
    const std::string port = free_port_of_loopback();
    redis_rig_of_stores rig({"--port", port, "--bind", "127.0.0.1", "--repl-diskless-sync-delay", "0"}, false);
    const redis_process replica({"--replicaof", "127.0.0.1", port});
    plain_redis redis(rig.server.socket());
    for (int i = 0; i < 100; ++i)
        if (redis({"INFO", "replication"}).text().find("state=online") == std::string::npos)
            redis({"WAIT", "1", "100"});
    auto options = rig.options();
    options.durability = durable_durability::replicas(1);
    options.replica_timeout = std::chrono::milliseconds(500);
    REQUIRE(!rig(rig.make(options).open()));
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
