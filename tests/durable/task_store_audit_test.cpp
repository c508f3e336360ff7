// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Damage by a hand or a crash: claim and audit repair it, in both directions, and change nothing else.
#include "src/durable/script_texts.hpp"
#include "src/durable/shard_calls.hpp"
#include "support/durable/plain_redis.hpp"
#include "support/durable/redis_server.hpp"

#include <doctest/doctest.h>

#include <map>

namespace {

using namespace cogwheel;
using namespace cogwheel::detail;
using cogwheel_tests::plain_redis;
using cogwheel_tests::redis_server;

/// A shard with a task in each state: waiting, running, done and dead.
struct audited_shard {
    audited_shard() : redis(server.socket()), ears(server.socket()) {
        ears({"SUBSCRIBE", queue_names::channel("audit")});
        for (const script_text& s : script_texts()) redis({"SCRIPT", "LOAD", s.text});
        std::vector<new_task> tasks;
        for (const char* id : {"waiting", "running", "done", "dead"}) {
            new_task t{.id = id};
            t.relative = true;
            t.envelope = "e";
            tasks.push_back(t);
        }
        const auto added = read_added(redis(calls.add(tasks, on_duplicate::reject).command));
        std::vector<begin_request> begins;
        for (std::size_t i = 1; i < 4; ++i) begins.push_back({.id = tasks[i].id, .generation = (*added)[i].generation});
        redis(calls.begin(60'000, 1, begins).command);
        const std::vector<finish_request> ends{{finish_kind::ack, "done", (*added)[2].generation, 1},
                                               {finish_kind::fail, "dead", (*added)[3].generation, 1, 0, "why"}};
        redis(calls.finish({.done_ms = 60'000}, ends).command);
        hints();
        seen_at_first = audit().seen;
    }

    audit_step audit() {
        audit_step sum;
        std::string cursor;
        do {
            const auto step = read_audit(redis(calls.audit(cursor, 3).command));
            REQUIRE(step);
            sum.seen += step->seen;
            sum.repaired += step->repaired;
            cursor = step->cursor;
        } while (!cursor.empty());
        return sum;
    }
    /// How many there were since the last call.
    int hints() {
        int n = 0;
        for (redis_reply r = ears({"PING"}); r.elements().at(0).text() == "message"; r = ears.next()) ++n;
        return n;
    }
    const std::string& key(std::size_t i) { return calls.keys()[i]; }
    stored_task find(const std::string& id) {
        auto task = read_found(id, redis(calls.find(id).command));
        return task ? *task : stored_task{.message = "none"};
    }
    bool placed(std::size_t k, const std::string& id) { return !redis({"ZSCORE", key(k), id}).is_nil(); }

    redis_server server;
    plain_redis redis, ears;
    script_library library;
    shard_calls calls{library, "audit", 0};
    std::uint64_t seen_at_first = 0;
};

bool cannot_audit() {
    if (redis_server::installed()) return false;
    MESSAGE("skipped: redis-server is not installed");
    return true;
}

} // namespace

TEST_CASE("audit_of_a_sound_shard_sees_all_and_repairs_nothing") {
    if (cannot_audit()) return;
    audited_shard s;
    CHECK(s.audit().repaired == 0);
    CHECK(s.seen_at_first == 4 + 2 + 1 + 1 + 4 + 1);
    CHECK(s.hints() == 0);
}

TEST_CASE("audit_gives_records_without_a_place_one") {
    if (cannot_audit()) return;
    audited_shard s;
    for (const std::size_t k : {0u, 4u, 5u}) s.redis({"DEL", s.key(k)});
    CHECK(s.audit().repaired == 4);
    CHECK(s.hints() > 0); // what is due must not wait for the next claim
    CHECK(s.audit().repaired == 0);
    CHECK(s.placed(4, "done"));
    CHECK(s.placed(5, "dead"));
    // The lease of the running task ends now. Its only attempt is used up.
    const auto claimed = read_claimed(s.redis(s.calls.claim(1'000, 10, 60'000, {.done_ms = 60'000}).command));
    REQUIRE(claimed);
    REQUIRE(claimed->tasks.size() == 1);
    CHECK(claimed->tasks[0].id == "waiting");
    CHECK(s.find("running").state == durable_state::dead);
}

TEST_CASE("audit_removes_places_bodies_and_messages_without_a_record") {
    if (cannot_audit()) return;
    audited_shard s;
    s.redis({"DEL", s.key(1)});
    CHECK(s.audit().repaired == 2 + 1 + 1 + 4 + 1);
    CHECK(s.redis({"KEYS", "*"}).elements().size() == 1); // the counter of generations
}

TEST_CASE("audit_moves_tasks_that_lie_in_a_wrong_place") {
    if (cannot_audit()) return;
    audited_shard s;
    s.redis({"ZADD", s.key(0), "5", "dead"});
    s.redis({"ZADD", s.key(4), "5", "waiting"});
    s.redis({"ZADD", s.key(0), "7", "running"}); // as if it waited
    CHECK(s.audit().repaired == 3);
    CHECK(!s.placed(0, "dead"));
    CHECK(!s.placed(4, "waiting"));
    CHECK(s.redis({"ZSCORE", s.key(0), "running"}).text().starts_with("-"));
    CHECK(s.audit().repaired == 0);
}

TEST_CASE("audit_gives_paused_tasks_their_place_and_takes_it_from_others") {
    if (cannot_audit()) return;
    audited_shard s;
    s.redis({"ZADD", s.key(0), "9000000000000000", "waiting"}); // as if it were paused
    CHECK(s.audit().repaired == 1);
    CHECK(s.redis(s.calls.hold("waiting", true).command).integer() == 1);
    CHECK(s.audit().repaired == 0);
    for (const char* wrong : {"5", "-5"}) {
        s.redis({"ZADD", s.key(0), wrong, "waiting"});
        CHECK(s.audit().repaired == 1);
        CHECK(s.redis({"ZSCORE", s.key(0), "waiting"}).text() == "9000000000000000");
    }
    s.redis({"ZREM", s.key(0), "waiting"});
    CHECK(s.audit().repaired == 1);
    CHECK(s.audit().repaired == 0);
}

TEST_CASE("audit_makes_a_dead_task_of_a_damaged_record") {
    if (cannot_audit()) return;
    audited_shard s;
    s.redis({"HSET", s.key(1), "waiting", "short"});
    // Until then it stops no other task, and can be replaced.
    CHECK(s.find("waiting").message == "the record was damaged");
    CHECK(s.audit().repaired == 1);
    CHECK(s.audit().repaired == 0);
    const stored_task t = s.find("waiting");
    CHECK(t.state == durable_state::dead);
    CHECK(t.message == "the record was damaged");
    CHECK(t.envelope == "e");
    CHECK(t.generation > 0);
    CHECK(s.redis(s.calls.redrive("waiting").command).integer() == 1);
}

TEST_CASE("claim_passes_over_damage_and_goes_on") {
    if (cannot_audit()) return;
    audited_shard s;
    s.redis({"ZADD", s.key(0), "1", "nobody"});
    s.redis({"ZADD", s.key(0), "2", "done"});
    s.redis({"ZADD", s.key(0), "-1", "nobody-leased"});
    const auto claimed = read_claimed(s.redis(s.calls.claim(1'000, 10, 60'000, {.done_ms = 60'000}).command));
    REQUIRE(claimed);
    REQUIRE(claimed->tasks.size() == 1);
    CHECK(claimed->tasks[0].id == "waiting");
    for (const char* id : {"nobody", "done", "nobody-leased"}) CHECK(!s.placed(0, id));
    CHECK(s.find("done").state == durable_state::done);
}
