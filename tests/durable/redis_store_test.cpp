// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Which servers a queue refuses, in which words; and what it does if the server is full, loses its scripts, or holds
// something else under a key of the queue.
#include "src/durable/server_check.hpp"
#include "support/durable/plain_redis.hpp"
#include "support/durable/store_rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace {

using namespace cogwheel;
using namespace cogwheel::detail;
using cogwheel_tests::plain_redis;
using cogwheel_tests::redis_rig_of_stores;
using cogwheel_tests::redis_server;

bool no_redis_server() {
    if (redis_server::installed()) return false;
    MESSAGE("skipped: redis-server is not installed");
    return true;
}

std::string task_key(std::uint32_t shard, const std::string& name) {
    return "{cw:" + cogwheel::durable_options().name + ':' + std::to_string(shard) + "}:" + name;
}

bool says(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

std::vector<new_task> one_due_task(std::string id) {
    new_task t{.id = std::move(id)};
    t.relative = true;
    t.envelope = "e";
    return {t};
}

/// The requests that begin and end a new task in each of the four shards.
struct task_in_each_shard {
    explicit task_in_each_shard(redis_rig_of_stores& rig, const std::string& prefix = "task-") {
        for (std::uint32_t shard = 0; shard < 4; ++shard) {
            const auto tasks = one_due_task(prefix + std::to_string(shard));
            const auto added = rig.value(rig.store().add(shard, tasks, on_duplicate::reject));
            begins.push_back({.id = tasks[0].id, .generation = added[0].generation, .shard = shard});
            acks.push_back({finish_kind::ack, tasks[0].id, added[0].generation, 1, 0, "", shard});
        }
    }
    std::vector<begin_request> begins;
    std::vector<finish_request> acks;
};

} // namespace

TEST_CASE("redis_store_on_a_full_server_refuses_new_tasks_and_runs_the_others") {
    if (no_redis_server()) return;
    redis_rig_of_stores rig;
    plain_redis redis(rig.server.socket());
    auto& store = rig.store();
    const auto added = rig.value(store.add(0, one_due_task("a"), on_duplicate::reject));
    redis({"CONFIG", "SET", "maxmemory", "1"});
    CHECK(rig(store.add(0, one_due_task("b"), on_duplicate::reject)).error == durable_errc::server_full);
    CHECK(says(store.trouble(), "OOM"));
    CHECK(rig.value(store.claim(0, 1'000, 10, 30'000, rig.limits)).tasks.size() == 1);
    const std::vector<begin_request> begin{{.id = "a", .generation = added[0].generation}};
    CHECK(rig.value(store.begin(30'000, 1, begin)).tasks.at(0)->attempt == 1);
    const std::vector<finish_request> ack{{finish_kind::ack, "a", added[0].generation, 1}};
    CHECK(rig.value(store.finish(rig.limits, ack)).at(0));
    CHECK(!rig(rig.make().open())); // a worker can join, to empty it
    redis({"CONFIG", "SET", "maxmemory", "0"});
    CHECK(rig.value(rig.store().add(0, one_due_task("b"), on_duplicate::reject)).at(0).generation > 0);
}

TEST_CASE("redis_store_whose_server_lost_its_scripts_loads_them_and_repeats_the_call") {
    if (no_redis_server()) return;
    redis_rig_of_stores rig;
    plain_redis redis(rig.server.socket());
    auto& store = rig.store();
    std::vector<new_task> tasks;
    for (int i = 0; i < 300; ++i) tasks.push_back(one_due_task("task-" + std::to_string(i)).front());
    redis({"SCRIPT", "FLUSH"});
    const auto added = rig.value(store.add(0, tasks, on_duplicate::reject)); // three calls in one pipeline
    REQUIRE(added.size() == 300);
    for (const auto& a : added) CHECK(!a.existed);
    redis({"SCRIPT", "FLUSH"});
    CHECK(rig.value(store.claim(0, 1'000, 10, 30'000, rig.limits)).tasks.size() == 10);
    redis({"SCRIPT", "FLUSH"});
    CHECK(rig.value(store.counts(0)).waiting == 290);
    redis({"SCRIPT", "FLUSH"});
    CHECK(rig.value(store.heartbeat("w", 1'000)).names.size() == 1);
}

TEST_CASE("redis_store_tasks_of_several_shards_begin_and_end_in_one_call_each") {
    if (no_redis_server()) return;
    redis_rig_of_stores rig;
    plain_redis redis(rig.server.socket());
    auto& store = rig.store();
    const task_in_each_shard all(rig);
    redis({"CONFIG", "RESETSTAT"});
    for (const auto& b : rig.value(store.begin(30'000, 1, all.begins)).tasks) CHECK(b->attempt == 1);
    for (const auto taken : rig.value(store.finish(rig.limits, all.acks))) CHECK(taken == true);
    // Each comes twice, because the server does not know the script at first.
    CHECK(says(redis({"INFO", "commandstats"}).text(), "cmdstat_evalsha:calls=4,"));
    for (std::uint32_t shard = 0; shard < 4; ++shard) CHECK(redis({"EXISTS", task_key(shard, "meta")}).integer() == 0);
}

TEST_CASE("redis_store_key_of_the_wrong_type_concerns_the_tasks_of_its_shard_only") {
    if (no_redis_server()) return;
    redis_rig_of_stores rig;
    plain_redis redis(rig.server.socket());
    auto& store = rig.store();
    const task_in_each_shard all(rig);
    std::string key;
    const auto spoil = [&](const char* name) {
        key = task_key(2, name);
        redis({"RENAME", key, "aside"});
        redis({"SET", key, "text"});
    };
    const auto mend = [&] { redis({"RENAME", "aside", key}); };
    for (const char* name : {"due", "meta"}) {
        CAPTURE(name);
        spoil(name);
        const auto begun = rig(store.begin(30'000, 1, all.begins));
        CHECK(begun.error == durable_errc::wrong_type);
        CHECK(says(store.trouble(), key));
        REQUIRE(begun.value.tasks.size() == 4);
        for (std::size_t i = 0; i < 4; ++i) CHECK(begun.value.tasks[i].has_value() == (i != 2));
        mend();
    }
    for (const auto& b : rig.value(store.begin(30'000, 1, all.begins)).tasks) CHECK(b->attempt == 1);
    spoil("meta");
    const auto taken = rig(store.finish(rig.limits, all.acks));
    CHECK(taken.error == durable_errc::wrong_type);
    REQUIRE(taken.value.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) CHECK(taken.value[i].has_value() == (i != 2));
    mend();
    const auto again = rig.value(store.finish(rig.limits, all.acks));
    for (std::size_t i = 0; i < 4; ++i) CHECK(again[i] == (i == 2));
}

TEST_CASE("redis_store_done_task_is_gone_although_another_key_has_the_wrong_type") {
    if (no_redis_server()) return;
    for (const std::string name : {"due", "body"}) {
        CAPTURE(name);
        redis_rig_of_stores rig;
        plain_redis redis(rig.server.socket());
        auto& store = rig.store();
        const auto added = rig.value(store.add(0, one_due_task("a"), on_duplicate::reject));
        const std::vector<begin_request> begin{{.id = "a", .generation = added[0].generation}};
        CHECK(rig.value(store.begin(0, 1, begin)).tasks.at(0)->attempt == 1); // a lease that has run out
        redis({"RENAME", task_key(0, name), "aside"});
        redis({"SET", task_key(0, name), "text"});
        const std::vector<finish_request> ack{{finish_kind::ack, "a", added[0].generation, 1}};
        CHECK(rig.value(store.finish(rig.limits, ack)).at(0) == true);
        redis({"RENAME", "aside", task_key(0, name)});
        CHECK(rig.value(store.claim(0, 1'000, 10, 30'000, rig.limits)).tasks.empty());
        CHECK(rig(store.find("a")).error == durable_errc::no_such_task);
        CHECK(redis({"EXISTS", task_key(0, "due")}).integer() == 0);
    }
}

TEST_CASE("redis_store_single_server_of_a_cluster_gets_a_call_for_each_shard") {
    if (no_redis_server()) return;
    redis_rig_of_stores rig(
        {"--cluster-enabled", "yes", "--cluster-port", std::to_string(cogwheel_tests::reserved_tcp_port())}, false);
    plain_redis redis(rig.server.socket());
    redis({"CLUSTER", "ADDSLOTSRANGE", "0", "16383"});
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!says(redis({"CLUSTER", "INFO"}).text(), "cluster_state:ok"))
        REQUIRE(std::chrono::steady_clock::now() < limit);
    auto& store = rig.make();
    REQUIRE(!rig(store.open()));
    for (const int round : {1, 2}) {
        const task_in_each_shard all(rig, std::to_string(round) + '-');
        redis({"CONFIG", "RESETSTAT"});
        for (const auto& b : rig.value(store.begin(30'000, 1, all.begins)).tasks) CHECK(b->attempt == 1);
        // The second time it knows.
        if (round == 2) CHECK(says(redis({"INFO", "commandstats"}).text(), "cmdstat_evalsha:calls=8,")); // 4 NOSCRIPT
    }
}

TEST_CASE("redis_store_begin_with_many_occurrences_holds_the_server_for_few_at_a_time") {
    if (no_redis_server()) return;
    redis_rig_of_stores rig;
    plain_redis redis(rig.server.socket());
    auto& store = rig.store();
    std::vector<new_task> tasks;
    for (int i = 0; i < 5; ++i) {
        tasks.push_back(one_due_task("r" + std::to_string(i)).front());
        tasks.back().recurring = true;
        tasks.back().runs_left = forever;
    }
    const auto added = rig.value(store.add(0, tasks, on_duplicate::reject));
    std::vector<begin_request> begins;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        begin_request r{.id = tasks[i].id, .generation = added[i].generation};
        const std::int64_t n = i == 0 ? 200 : 63; // 201, 64 + 64, 64 + 64
        for (std::int64_t k = 0; k < n; ++k) r.occurrences.push_back(added[i].due - n + k);
        r.next_due = added[i].due + 3'600'000;
        r.runs_left = forever;
        begins.push_back(std::move(r));
    }
    rig.value(store.begin(
        30'000, 1, std::vector<begin_request>{{.id = "none", .occurrences = {1}}})); // the server loads the script
    redis({"CONFIG", "RESETSTAT"});
    const auto begun = rig.value(store.begin(30'000, 1, begins)).tasks;
    CHECK(says(redis({"INFO", "commandstats"}).text(), "cmdstat_evalsha:calls=3,"));
    REQUIRE(begun.size() == 5);
    for (const auto& b : begun) CHECK(b->attempt == 1);
    const shard_counts counts = rig.value(store.counts(0));
    CHECK(counts.leased == 5);
    CHECK(counts.waiting == 5 + 200 + 4 * 63 - 5);
}

TEST_CASE("redis_store_lists_tasks_whose_bodies_are_longer_than_a_reply_may_be") {
    if (no_redis_server()) return;
    redis_rig_of_stores rig;
    durable_options o = rig.options();
    o.shards = 1;
    o.name = "long";
    o.redis.max_reply = std::size_t{6} << 20;
    auto& store = rig.make(o);
    REQUIRE(!rig(store.open()));
    constexpr std::size_t size = std::size_t{512} << 10;
    for (char c = 'a'; c < 'a' + 20; ++c) {
        std::vector<new_task> one = one_due_task(std::string(1, c));
        one[0].envelope.assign(size, c);
        rig.value(store.add(0, std::move(one), on_duplicate::reject));
    }
    std::string ids, cursor;
    do {
        const stored_page page = rig.value(store.list(cursor, 1'000));
        for (const stored_task& t : page.tasks) {
            ids += t.id;
            CHECK(t.envelope == std::string(size, t.id[0]));
        }
        cursor = page.cursor;
    } while (!cursor.empty());
    std::sort(ids.begin(), ids.end());
    CHECK(ids == "abcdefghijklmnopqrst");
}

TEST_CASE("redis_store_names_the_key_that_holds_another_type") {
    if (no_redis_server()) return;
    for (const std::string name : {"due", "meta", "body", "seq"}) {
        CAPTURE(name);
        redis_rig_of_stores rig;
        plain_redis redis(rig.server.socket());
        const std::string key = "{cw:default:2}:" + name;
        redis({"SET", key, "mine"});
        auto& store = rig.store();
        CHECK(rig(store.add(2, one_due_task("a"), on_duplicate::reject)).error == durable_errc::wrong_type);
        CHECK(says(store.trouble(), "the key " + key + " holds a string"));
        CHECK(redis({"HLEN", "{cw:default:2}:meta"}).integer() == 0); // no task
        CHECK(rig(rig.make().open()) == durable_errc::wrong_type);
        CHECK(says(rig.store().trouble(), "the key " + key + " holds a string"));
        CHECK(redis({"GET", key}).text() == "mine");
        redis({"DEL", key});
        CHECK(!rig(rig.make().open()));
        CHECK(rig.value(rig.store().add(2, one_due_task("b"), on_duplicate::reject)).at(0).generation > 0);
        const auto claimed = rig.value(rig.store().claim(2, 1'000, 10, 30'000, rig.limits));
        REQUIRE(claimed.tasks.size() == 1); // not a, whose place may be left
        CHECK(claimed.tasks[0].id == "b");
    }
}

TEST_CASE("redis_store_refuses_a_server_that_drops_keys_when_it_is_full") {
    if (no_redis_server()) return;
    redis_rig_of_stores rig({"--maxmemory-policy", "allkeys-lru"}, false);
    CHECK(rig(rig.make().open()) == durable_errc::wrong_server);
    CHECK(says(rig.store().trouble(), "maxmemory-policy of the Redis server is allkeys-lru"));
    CHECK(says(rig.store().trouble(), "set it to noeviction"));
}

TEST_CASE("redis_store_whose_user_may_not_read_the_policy_says_so_and_goes_on") {
    if (no_redis_server()) return;
    redis_rig_of_stores rig;
    plain_redis redis(rig.server.socket());
    redis({"ACL", "SETUSER", "worker", "on", ">pass", "~*", "&*", "+@all", "-config"});
    auto options = rig.options();
    options.redis.user = "worker";
    options.redis.password = "pass";
    std::string logged;
    options.redis.log = [&logged](std::string_view line) { (logged += line) += '\n'; };
    CHECK(!rig(rig.make(options).open()));
    CHECK(says(logged, "the user may not run CONFIG GET"));
    options.redis.password = "other";
    CHECK(rig(rig.make(options).open()) == durable_errc::access_denied);
    CHECK(says(rig.store().trouble(), "refuses the user or the password"));
    rig.made.reset();
}

TEST_CASE("redis_store_refuses_another_number_of_shards") {
    if (no_redis_server()) return;
    redis_rig_of_stores rig;
    auto options = rig.options();
    options.shards = 8;
    CHECK(rig(rig.make(options).open()) == durable_errc::wrong_server);
    CHECK(says(rig.store().trouble(), "has 4 shards, but the options ask for 8"));
    options.name = "other";
    CHECK(!rig(rig.make(options).open()));
}

TEST_CASE("redis_store_refuses_a_durability_that_the_server_cannot_give") {
    if (no_redis_server()) return;
    redis_rig_of_stores rig;
    auto options = rig.options();
    options.durability = durable_durability::aof();
    CHECK(rig(rig.make(options).open()) == durable_errc::durability_refused);
    CHECK(says(rig.store().trouble(), "the server has no append-only file; set appendonly yes"));
    options.durability = durable_durability::replicas(2);
    CHECK(rig(rig.make(options).open()) == durable_errc::durability_refused);
    CHECK(says(rig.store().trouble(), "durability is replicas(2), but the server has 0 replicas online"));
    redis_rig_of_stores with({"--appendonly", "yes"}, false);
    options = with.options();
    options.durability = durable_durability::aof();
    CHECK(!with(with.make(options).open()));
}

TEST_CASE("redis_store_refuses_a_replica") {
    if (no_redis_server()) return;
    redis_rig_of_stores rig({"--replicaof", "127.0.0.1", "1"}, false);
    CHECK(rig(rig.make().open()) == durable_errc::wrong_server);
    CHECK(says(rig.store().trouble(), "the server is a read-only replica of 127.0.0.1:1"));
}

TEST_CASE("redis_store_check_reads_what_the_server_says") {
    const auto memory = durable_durability::memory();
    const std::string good = "# Server\r\nredis_version:7.0.15\r\nrole:master\r\naof_enabled:1\r\n";
    CHECK(!check_server(good, durable_durability::aof()).error);
    const auto old = check_server("redis_version:6.2.7\r\nrole:master\r\n", memory);
    CHECK(old.error == durable_errc::wrong_server);
    CHECK(old.words == "the server is Redis 6.2.7, but durable tasks need 7.0 or later; upgrade it");
    CHECK(says(check_server("role:master\r\n", memory).words, "of an unknown version"));
    CHECK(!check_server("redis_version:10.1.0\r\nrole:master", memory).error);
    const std::string two = good + "slave0:ip=::1,state=online,x\r\nslave1:ip=::1,state=wait_bgsave\r\n";
    CHECK(!check_server(two, durable_durability::replicas(1)).error);
    CHECK(check_server(two, durable_durability::replicas(2)).error == durable_errc::durability_refused);
}

TEST_CASE("redis_server_that_is_killed_is_an_error_for_the_tests_own_client") {
    if (!redis_server::installed()) {
        MESSAGE("skipped: redis-server is not installed");
        return;
    }
    redis_server server;
    plain_redis redis(server.socket());
    CHECK(redis({"PING"}).text() == "PONG");
    server.kill();
    CHECK_THROWS_AS(redis({"PING"}), const std::runtime_error&);
    CHECK(server.call({"PING"}) == "(no connection)");
}

TEST_CASE("redis_store_after_a_restart_of_the_server_goes_on") {
    if (no_redis_server()) return;
    redis_rig_of_stores rig({"--appendonly", "yes", "--appendfsync", "always"});
    bool connected = false;
    const auto until_connected = [&] {
        while (!connected && rig.io.run_one() > 0) {
        }
        CHECK(std::exchange(connected, false));
    };
    rig.store().listen({.on_connected = [&] { connected = true; }});
    until_connected();
    rig.value(rig.store().add(1, one_due_task("a"), on_duplicate::reject));
    rig.server.kill();
    CHECK(rig(rig.store().counts(1)).error);
    CHECK(!rig.store().trouble().empty());
    rig.server.start();
    CHECK(!rig(rig.store().open()));
    CHECK(rig.value(rig.store().claim(1, 1'000, 10, 30'000, rig.limits)).tasks.size() == 1);
    until_connected();
}
