// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A managed failover behind a single address: the server becomes a replica and keeps its connections, and the address
// leads to another one from then on. Here the address is a symbolic link to a socket. Also servers that refuse writes
// for a while.
#include "support/durable/durable_rig.hpp"

#include <cogwheel/durable/redis_client.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

struct failover_rig {
    failover_rig() {
        point_to(first);
        follow(second, first);
    }
    void point_to(const redis_server& s) const {
        std::error_code ignored;
        std::filesystem::remove(link(), ignored);
        std::filesystem::create_symlink(s.socket(), link());
    }
    static void follow(const redis_server& replica, const redis_server& master) {
        CHECK(replica.call({"REPLICAOF", "127.0.0.1", std::to_string(master.tcp_address().port)}) == "OK");
    }
    static void become_master(const redis_server& s) { CHECK(s.call({"REPLICAOF", "NO", "ONE"}) == "OK"); }
    static std::int64_t offset_of(const redis_server& s) {
        const std::string all = s.call({"INFO", "replication"}), name = "\nmaster_repl_offset:";
        const auto at = all.find(name);
        return at == all.npos ? -1 : std::stoll(all.substr(at + name.size()));
    }
    /// Whether a replica is connected, and has all that its master has written so far.
    static bool has_all(const redis_server& replica, const redis_server& master) {
        const std::int64_t wanted = offset_of(master);
        return replica.call({"INFO", "replication"}).find("master_link_status:up") != std::string::npos &&
               offset_of(replica) >= wanted;
    }
    static redis_server_options options() {
        return {.arguments = {"--repl-diskless-sync-delay", "0"}, .port = reserved_tcp_port()};
    }
    std::string link() const { return folder / "address"; }
    redis_options address() const {
        redis_options o;
        o.addresses = {{.host = {}, .path = link()}};
        return o;
    }

    temporary_folder folder;
    redis_server first{options()}, second{options()};
};

} // namespace

TEST_CASE("queue_behind_one_address_finds_the_new_master") {
    if (!redis_server::installed()) return;
    failover_rig servers;
    durable_rig rig(servers.address());
    worker_rig w(rig, quick_worker());
    w.run();
    rig.run_until([&] { return failover_rig::has_all(servers.second, servers.first); });
    rig.add(worker_task("before"));
    rig.add(worker_task("later", 2s));
    const auto has_run = [&](const std::string& id) {
        return std::any_of(w.deliveries.begin(), w.deliveries.end(), [&](const auto& d) { return d.id == id; });
    };
    for (int n = 0; n < 2; ++n) { // there and back
        const redis_server& old = n == 0 ? servers.first : servers.second;
        const redis_server& next = n == 0 ? servers.second : servers.first;
        rig.run_until([&] { return failover_rig::has_all(next, old); }); // else it loses what it does not have
        failover_rig::become_master(next);
        failover_rig::follow(old, next);
        servers.point_to(next);
        rig.run_until([&] {
            rig.add(worker_task("after" + std::to_string(n)), on_duplicate::keep);
            return !rig.error;
        });
        rig.run_until([&] { return has_run("before") && has_run("later") && has_run("after" + std::to_string(n)); });
    }
}

TEST_CASE("queue_whose_server_stays_a_replica_does_not_dial_without_a_pause") {
    if (!redis_server::installed()) return;
    failover_rig servers;
    durable_rig rig(servers.address());
    worker_rig w(rig, quick_worker());
    w.run();
    rig.run_until([&] { return failover_rig::has_all(servers.second, servers.first); });
    failover_rig::follow(servers.first, servers.second); // both are replicas now
    const auto dialled = [&] {
        const std::string stats = servers.first.call({"INFO", "stats"});
        return std::stoi(stats.substr(stats.find("total_connections_received:") + 27));
    };
    const int before = dialled();
    for (int n = 0; n < 200; ++n) rig.io.run_one_for(10ms); // two seconds at most
    CHECK(dialled() - before < 40);
    failover_rig::become_master(servers.first);
    rig.run_until([&] {
        rig.add(worker_task("x"), on_duplicate::keep);
        return !rig.error;
    });
    rig.run_until([&] { return w.deliveries.size() == 1; });
}

TEST_CASE("client_that_asks_for_a_replica_keeps_it") {
    if (!redis_server::installed()) return;
    failover_rig servers;
    asio::io_context io;
    timer_wheel wheel(io);
    redis_client client(wheel, servers.second.client());
    std::string answer;
    bool broken = false;
    client.async_wait_connected([&](std::error_code) {
        client.on_state([&](bool connected, std::error_code) { broken = broken || !connected; });
        client.async_command(redis_command{"SET", "a", "b"}, [&](std::error_code, const redis_reply& r) {
            answer = r.text();
            client.async_command(redis_command{"PING"}, [&](std::error_code ec, const redis_reply&) {
                CHECK(!ec);
                client.close();
            });
        });
    });
    io.run();
    CHECK(answer.starts_with("READONLY"));
    CHECK(!broken);
}

TEST_CASE("server_that_cannot_save_is_busy_and_reads_go_on") {
    if (!redis_server::installed()) return;
    const redis_server server({.arguments = {"--dbfilename", "taken"}});
    durable_rig rig(server.client());
    rig.add(worker_task("x", 1h));
    // Its dump has the name of a directory.
    std::filesystem::create_directory(server.folder() / "taken");
    CHECK(server.call({"CONFIG", "SET", "save", "3600 1"}) == "OK");
    server.call({"BGSAVE"});
    rig.run_until(
        [&] { return server.call({"INFO", "persistence"}).find("rdb_last_bgsave_status:err") != std::string::npos; });
    rig.add(worker_task("y"));
    CHECK(rig.error == durable_errc::server_busy);
    CHECK(rig.find("x")->state == durable_state::waiting);
    CHECK(!rig.error);
    CHECK(rig.counts().waiting == 1);
    CHECK(!rig.error);
    CHECK(server.call({"CONFIG", "SET", "stop-writes-on-bgsave-error", "no"}) == "OK");
    rig.add(worker_task("y", 1h));
    CHECK(!rig.error);
}
