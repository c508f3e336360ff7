// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What both backends promise, through the interface that queues and workers use. A lease of 0 ms has run out at once,
// so no test waits.
#include "support/durable/store_rig.hpp"

#include <algorithm>
#include <set>

namespace {

using namespace cogwheel;
using namespace cogwheel::detail;
using cogwheel_tests::on_both_stores;
using cogwheel_tests::store_rig;

constexpr std::int64_t long_lease = 30'000;

new_task due_now(std::string id, std::uint32_t attempts = 3) {
    new_task t{.id = std::move(id)};
    t.relative = true;
    t.max_attempts = attempts;
    t.envelope = "envelope of " + t.id;
    return t;
}

added_task store_add(store_rig& rig, new_task t, on_duplicate policy = on_duplicate::reject) {
    const auto shard = rig.store().shard_of(t.id);
    std::vector<new_task> one{std::move(t)};
    return rig.value(rig.store().add(shard, std::move(one), policy)).at(0);
}

claimed_tasks store_claim(store_rig& rig, const std::string& id, std::int64_t lease = long_lease) {
    return rig.value(rig.store().claim(rig.store().shard_of(id), 1'000, 100, lease, rig.limits));
}

begun_task store_begin(store_rig& rig, begin_request r, std::int64_t lease = long_lease, std::uint32_t nonce = 1) {
    r.shard = rig.store().shard_of(r.id);
    return rig.value(rig.store().begin(lease, nonce, std::vector{std::move(r)})).tasks.at(0).value();
}

bool store_finish(store_rig& rig, finish_request r) {
    r.shard = rig.store().shard_of(r.id);
    return rig.value(rig.store().finish(rig.limits, std::vector{std::move(r)})).at(0).value();
}

std::error_code store_find_error(store_rig& rig, const std::string& id) { return rig(rig.store().find(id)).error; }

stored_task found_task(store_rig& rig, const std::string& id) { return rig.value(rig.store().find(id)); }

} // namespace

TEST_CASE("store_task_that_is_due_runs_once_and_is_gone_after_its_ack") {
    on_both_stores([](store_rig& rig) {
        const added_task added = store_add(rig, due_now("a"));
        CHECK(added.generation > 0);
        CHECK(!added.existed);
        const claimed_tasks claimed = store_claim(rig, "a");
        REQUIRE(claimed.tasks.size() == 1);
        CHECK(claimed.tasks[0].id == "a");
        CHECK(claimed.tasks[0].generation == added.generation);
        CHECK(claimed.tasks[0].envelope == "envelope of a");
        CHECK(claimed.tasks[0].due == added.due);
        CHECK(claimed.now_us / 1000 >= added.due);
        CHECK(!claimed.more);
        CHECK(store_claim(rig, "a").tasks.empty());
        CHECK(store_begin(rig, {.id = "a", .generation = added.generation + 1}).attempt == 0);
        const begun_task begun = store_begin(rig, {.id = "a", .generation = added.generation});
        CHECK(begun.attempt == 1);
        CHECK(begun.generation == added.generation);
        // Another worker does not get it; the same one may repeat the call, because its answer may be lost.
        CHECK(store_begin(rig, {.id = "a", .generation = added.generation}, long_lease, 2).attempt == 0);
        CHECK(store_begin(rig, {.id = "a", .generation = added.generation}).attempt == 1);
        CHECK(store_begin(rig, {.id = "a", .generation = added.generation, .attempt = 1}).attempt == 0);
        CHECK(found_task(rig, "a").state == durable_state::running);
        CHECK(!store_finish(rig, {finish_kind::ack, "a", added.generation, 2}));
        CHECK(store_finish(rig, {finish_kind::ack, "a", added.generation, 1}));
        CHECK(!store_finish(rig, {finish_kind::ack, "a", added.generation, 1}));
        CHECK(store_find_error(rig, "a") == durable_errc::no_such_task);
    });
}

TEST_CASE("store_many_tasks_in_one_call_are_answered_in_order") {
    on_both_stores([](store_rig& rig) {
        std::vector<new_task> tasks;
        for (int i = 0; tasks.size() < 300; ++i) {
            new_task t = due_now("task-" + std::to_string(i));
            if (rig.store().shard_of(t.id) == 0) tasks.push_back(t);
        }
        const auto added = rig.value(rig.store().add(0, tasks, on_duplicate::reject));
        REQUIRE(added.size() == 300);
        for (std::size_t i = 1; i < 300; ++i) CHECK(added[i].generation > added[i - 1].generation);
        std::vector<begin_request> begins;
        for (std::size_t i = 0; i < 300; ++i) begins.push_back({.id = tasks[i].id, .generation = added[i].generation});
        begins[200].generation = 1;
        const auto begun = rig.value(rig.store().begin(long_lease, 1, begins)).tasks;
        REQUIRE(begun.size() == 300);
        for (std::size_t i = 0; i < 300; ++i) CHECK(begun[i]->attempt == (i == 200 ? 0 : 1));
        std::vector<attempt_ref> refs;
        for (std::size_t i = 0; i < 300; ++i) refs.push_back({tasks[i].id, added[i].generation, 1});
        const auto extended_all = rig.value(rig.store().extend(0, long_lease, refs));
        REQUIRE(extended_all.size() == 300);
        for (std::size_t i = 0; i < 300; ++i) CHECK(extended_all[i] == (i == 200 ? extended::stale : extended::yes));
        std::vector<finish_request> acks;
        for (std::size_t i = 0; i < 300; ++i) acks.push_back({finish_kind::ack, tasks[i].id, added[i].generation, 1});
        const auto finished = rig.value(rig.store().finish(rig.limits, acks));
        REQUIRE(finished.size() == 300);
        for (std::size_t i = 0; i < 300; ++i) CHECK(finished[i] == (i != 200));
    });
}

TEST_CASE("store_begins_and_ends_tasks_of_all_shards_in_one_call") {
    on_both_stores([](store_rig& rig) {
        constexpr std::size_t count = 300;
        std::vector<begin_request> begins;
        for (std::size_t i = 0; i < count; ++i) {
            new_task t = due_now("task-" + std::to_string(i));
            t.recurring = i % 10 == 3;
            if (t.recurring) t.runs_left = forever;
            if (i % 10 == 4) t.due = 60'000; // a delay
            begin_request r{.id = t.id, .shard = rig.store().shard_of(t.id)};
            const added_task added = store_add(rig, std::move(t));
            r.generation = added.generation + (i % 10 == 5 ? 1 : 0); // replaced
            if (i % 10 == 3) {
                r.occurrences = {added.due};
                r.next_due = added.due + 3'600'000;
                r.runs_left = forever;
            }
            begins.push_back(std::move(r));
        }
        const auto begun = rig.value(rig.store().begin(long_lease, 1, begins));
        CHECK(begun.now_us > 0);
        REQUIRE(begun.tasks.size() == count);
        std::vector<finish_request> ends;
        std::vector<bool> wanted;
        for (std::size_t i = 0; i < count; ++i) {
            CAPTURE(i);
            REQUIRE(begun.tasks[i]);
            const begun_task& b = *begun.tasks[i];
            if (i % 10 == 4) {
                CHECK(b.attempt < 0);
                continue;
            }
            CHECK(b.attempt == (i % 10 == 5 ? 0 : 1));
            const std::string& id = begins[i].id;
            if (i % 10 == 3) CHECK(b.generation > begins[i].generation);
            ends.push_back({i % 10 == 6 ? finish_kind::nack : finish_kind::ack,
                            i % 10 == 3 ? found_task(rig, id + '@' + std::to_string(begins[i].occurrences[0])).id : id,
                            b.generation, 1, 1'000, "", begins[i].shard});
            wanted.push_back(i % 10 != 5);
        }
        // What was answered once is answered so again, by the second way.
        const auto again = rig.value(rig.store().begin(long_lease, 1, begins)).tasks;
        for (std::size_t i = 0; i < count; ++i) {
            const bool first = begun.tasks[i]->attempt > 0, second = again[i]->attempt > 0;
            CHECK(first == second);
        }
        const auto finished = rig.value(rig.store().finish(rig.limits, ends));
        REQUIRE(finished.size() == ends.size());
        for (std::size_t i = 0; i < ends.size(); ++i) CHECK(finished[i] == wanted[i]);
        const auto stale = rig.value(rig.store().finish(rig.limits, ends));
        for (std::size_t i = 0; i < ends.size(); ++i) CHECK(stale[i] == false);
        // Every tenth: a recurring one waits, one is early, one was not begun, one waits for its second attempt.
        std::uint64_t waiting = 0;
        for (std::uint32_t s = 0; s < rig.store().shards(); ++s) waiting += rig.value(rig.store().counts(s)).waiting;
        CHECK(waiting == 4 * count / 10);
    });
}

TEST_CASE("store_id_that_exists_is_refused_kept_or_replaced") {
    on_both_stores([](store_rig& rig) {
        const added_task first = store_add(rig, due_now("a"));
        CHECK(store_add(rig, due_now("a"), on_duplicate::reject).generation == 0);
        const added_task kept = store_add(rig, due_now("a"), on_duplicate::keep);
        CHECK(kept.existed);
        CHECK(kept.generation == first.generation);
        CHECK(kept.due == first.due);
        CHECK(store_begin(rig, {.id = "a", .generation = first.generation}).attempt == 1);
        const added_task other = store_add(rig, due_now("a"), on_duplicate::replace);
        CHECK(other.generation > first.generation);
        CHECK(!store_finish(rig, {finish_kind::ack, "a", first.generation, 1}));
        CHECK(found_task(rig, "a").state == durable_state::waiting);
    });
}

TEST_CASE("store_task_before_its_due_time_does_not_begin") {
    on_both_stores([](store_rig& rig) {
        new_task later = due_now("a");
        later.due = 100'000;
        const added_task added = store_add(rig, later);
        CHECK(store_claim(rig, "a").tasks.empty());
        const begun_task begun = store_begin(rig, {.id = "a", .generation = added.generation});
        CHECK(begun.attempt < -90'000'000);
        CHECK(begun.attempt >= -100'001'000);
        added_task moved;
        CHECK(rig.value(rig.store().reschedule("a", 0, true, moved)) == removal::removed);
        CHECK(moved.generation > added.generation);
        CHECK(store_begin(rig, {.id = "a", .generation = added.generation}).attempt == 0);
        CHECK(store_begin(rig, {.id = "a", .generation = moved.generation}).attempt == 1);
        CHECK(rig.value(rig.store().reschedule("a", 0, true, moved)) == removal::running);
        CHECK(rig.value(rig.store().reschedule("b", 0, true, moved)) == removal::not_found);
    });
}

TEST_CASE("store_history_keeps_the_last_ten_failed_attempts") {
    on_both_stores([](store_rig& rig) {
        const added_task added = store_add(rig, due_now("a", 40));
        for (std::uint32_t attempt = 1; attempt <= 13; ++attempt) {
            const bool lost = attempt % 2 == 0;
            CHECK(store_begin(rig, {.id = "a", .generation = added.generation}, lost ? 1 : long_lease).attempt ==
                  attempt);
            if (lost)
                while (store_claim(rig, "a").tasks.empty()) {
                } // until its lease has run out
            else
                CHECK(store_finish(rig, {finish_kind::nack, "a", added.generation, attempt, 0, "no"}));
        }
        const stored_task task = found_task(rig, "a");
        REQUIRE(task.history.size() == 10);
        for (std::uint32_t i = 0; i < 10; ++i) {
            CHECK(task.history[i].attempt == i + 4);
            CHECK(task.history[i].lease_ran_out == (i % 2 == 0));
        }
        CHECK(task.message == "no");
    });
}

TEST_CASE("store_task_whose_attempts_fail_is_dead_until_redriven_or_purged") {
    on_both_stores([](store_rig& rig) {
        const added_task added = store_add(rig, due_now("a", 2));
        for (std::uint32_t attempt = 1; attempt <= 2; ++attempt) {
            CHECK(store_begin(rig, {.id = "a", .generation = added.generation}).attempt == attempt);
            CHECK(store_finish(rig, {finish_kind::nack, "a", added.generation, attempt, 0, "no route"}));
        }
        CHECK(found_task(rig, "a").state == durable_state::dead);
        CHECK(found_task(rig, "a").message == "no route");
        CHECK(rig.value(rig.store().cancel("a")) == removal::not_found);
        const stored_page page = rig.value(rig.store().dead("", 10));
        REQUIRE(page.tasks.size() == 1);
        CHECK(page.tasks[0].envelope == "envelope of a");
        CHECK(rig.value(rig.store().redrive("a")));
        CHECK(!rig.value(rig.store().redrive("a")));
        const stored_task again = found_task(rig, "a");
        CHECK(again.state == durable_state::waiting);
        CHECK(again.attempt == 0);
        CHECK(again.message.empty());
        CHECK(store_begin(rig, {.id = "a", .generation = again.generation}).attempt == 1);
        CHECK(store_finish(rig, {finish_kind::fail, "a", again.generation, 1, 0, "gone"}));
        CHECK(rig.value(rig.store().purge("a")));
        CHECK(!rig.value(rig.store().purge("a")));
        CHECK(store_find_error(rig, "a") == durable_errc::no_such_task);
    });
}

TEST_CASE("store_cancelled_task_begins_no_further_attempt") {
    on_both_stores([](store_rig& rig) {
        CHECK(rig.value(rig.store().cancel("a")) == removal::not_found);
        const added_task waiting = store_add(rig, due_now("a"));
        CHECK(rig.value(rig.store().cancel("a")) == removal::removed);
        CHECK(store_begin(rig, {.id = "a", .generation = waiting.generation}).attempt == 0);
        const added_task added = store_add(rig, due_now("a"));
        CHECK(added.generation > waiting.generation);
        CHECK(store_begin(rig, {.id = "a", .generation = added.generation}).attempt == 1);
        CHECK(rig.value(rig.store().cancel("a")) == removal::running);
        const std::vector<attempt_ref> attempt{{"a", added.generation, 1}};
        CHECK(rig.value(rig.store().extend(rig.store().shard_of("a"), 0, attempt)).at(0) == extended::cancelled);
        CHECK(store_claim(rig, "a").tasks.empty()); // the lease has run out
        CHECK(store_find_error(rig, "a") == durable_errc::no_such_task);
    });
}

TEST_CASE("store_late_ack_counts_until_a_later_attempt_has_begun") {
    on_both_stores([](store_rig& rig) {
        const added_task added = store_add(rig, due_now("a"));
        CHECK(store_begin(rig, {.id = "a", .generation = added.generation}, 0).attempt == 1);
        CHECK(store_claim(rig, "a", 0).tasks.size() == 1);
        CHECK(store_begin(rig, {.id = "a", .generation = added.generation}, 0).attempt == 2);
        CHECK(!store_finish(rig, {finish_kind::ack, "a", added.generation, 1}));
        CHECK(store_claim(rig, "a").tasks.size() == 1);
        CHECK(!store_finish(rig, {finish_kind::nack, "a", added.generation, 2}));
        CHECK(store_finish(rig, {finish_kind::ack, "a", added.generation, 2}));
        CHECK(store_find_error(rig, "a") == durable_errc::no_such_task);
    });
}

TEST_CASE("store_released_claim_is_free_for_others_at_once") {
    on_both_stores([](store_rig& rig) {
        const added_task added = store_add(rig, due_now("a"));
        CHECK(store_claim(rig, "a").tasks.size() == 1);
        CHECK(store_claim(rig, "a").tasks.empty());
        CHECK(store_finish(rig, {finish_kind::release, "a", added.generation}));
        CHECK(store_claim(rig, "a").tasks.size() == 1);
    });
}

TEST_CASE("store_recurring_task_makes_occurrences_and_goes_on") {
    on_both_stores([](store_rig& rig) {
        new_task t = due_now("report", 4);
        t.recurring = true;
        t.runs_left = forever;
        const added_task added = store_add(rig, t);
        const std::int64_t next = added.due + 3'600'000;
        const begun_task begun = store_begin(rig, {.id = "report",
                                                   .generation = added.generation,
                                                   .occurrences = {added.due, added.due + 1},
                                                   .next_due = next,
                                                   .runs_left = forever});
        CHECK(begun.attempt == 1);
        const std::string first = "report@" + std::to_string(added.due);
        const std::string second = "report@" + std::to_string(added.due + 1);
        const auto shard = rig.store().shard_of("report");
        CHECK(found_task(rig, first).generation == begun.generation);
        CHECK(found_task(rig, first).envelope == "envelope of report");
        CHECK(found_task(rig, "report").due == next);
        CHECK(found_task(rig, "report").runs_left == forever);
        CHECK(found_task(rig, "report").generation > added.generation);
        const claimed_tasks others = rig.value(rig.store().claim(shard, 1'000, 10, long_lease, rig.limits));
        REQUIRE(others.tasks.size() == 1);
        CHECK(others.tasks[0].id == second);
        CHECK(others.tasks[0].max_attempts == 4);
    });
}

TEST_CASE("store_recurring_task_is_neither_rescheduled_nor_begun_before_its_first_occurrence") {
    on_both_stores([](store_rig& rig) {
        new_task t = due_now("report");
        t.recurring = true;
        t.runs_left = forever;
        const added_task added = store_add(rig, t);
        added_task moved;
        CHECK(rig.value(rig.store().reschedule("report", 0, true, moved)) == removal::recurring);
        CHECK(moved.generation == added.generation);
        CHECK(moved.due == added.due);
        begin_request request{.id = "report",
                              .generation = added.generation,
                              .occurrences = {added.due + 3'600'000},
                              .next_due = added.due + 7'200'000,
                              .runs_left = forever};
        CHECK(store_begin(rig, request).attempt < -3'500'000'000);
        CHECK(found_task(rig, "report").generation == added.generation);
        CHECK(found_task(rig, "report").due == added.due);
        CHECK(store_find_error(rig, "report@" + std::to_string(added.due + 3'600'000)) == durable_errc::no_such_task);
        request.occurrences = {added.due};
        CHECK(store_begin(rig, request).attempt == 1);
    });
}

TEST_CASE("store_lists_find_each_task_of_all_shards") {
    on_both_stores([](store_rig& rig) {
        std::set<std::string> wanted, dead_wanted;
        for (int i = 0; i < 60; ++i) {
            const std::string id = "id " + std::to_string(i);
            wanted.insert(id);
            const added_task added = store_add(rig, due_now(id));
            if (i % 3 != 0) continue;
            CHECK(store_begin(rig, {.id = id, .generation = added.generation}).attempt == 1);
            CHECK(store_finish(rig, {finish_kind::fail, id, added.generation, 1}));
            dead_wanted.insert(id);
        }
        const auto walk = [&](auto page_of) {
            std::set<std::string> ids;
            std::string cursor;
            do {
                const stored_page page = rig.value(page_of(cursor));
                for (const auto& t : page.tasks) ids.insert(t.id);
                cursor = page.cursor;
            } while (!cursor.empty());
            return ids;
        };
        CHECK(walk([&](const std::string& c) { return rig.store().list(c, 7); }) == wanted);
        CHECK(walk([&](const std::string& c) { return rig.store().dead(c, 3); }) == dead_wanted);
    });
}

TEST_CASE("store_paused_begins_nothing_and_resumes_at_once") {
    on_both_stores([](store_rig& rig) {
        const added_task added = store_add(rig, due_now("a"));
        const auto shard = rig.store().shard_of("a");
        CHECK(store_claim(rig, "a").tasks.size() == 1);
        CHECK(!rig(rig.store().pause(true)));
        CHECK(store_claim(rig, "a").tasks.empty());
        CHECK(store_begin(rig, {.id = "a", .generation = added.generation}).attempt == 0);
        shard_counts counts = rig.value(rig.store().counts(shard));
        CHECK(counts.paused);
        CHECK(counts.waiting == 1); // begin has ended the claim
        CHECK(counts.overdue == 1);
        CHECK(!rig(rig.store().pause(false)));
        CHECK(store_claim(rig, "a").tasks.size() == 1);
        counts = rig.value(rig.store().counts(shard));
        CHECK(!counts.paused);
        CHECK(counts.leased == 1);
    });
}

TEST_CASE("store_done_task_keeps_its_result_for_the_retention") {
    on_both_stores([](store_rig& rig) {
        rig.limits.done_ms = 60'000;
        const added_task added = store_add(rig, due_now("a"));
        CHECK(store_begin(rig, {.id = "a", .generation = added.generation}).attempt == 1);
        CHECK(store_finish(rig, {finish_kind::ack, "a", added.generation, 1, 0, "42"}));
        CHECK(found_task(rig, "a").state == durable_state::done);
        CHECK(found_task(rig, "a").envelope == "42");
        CHECK(store_add(rig, due_now("a"), on_duplicate::reject).generation == 0);
        rig.limits.done_ms = 0;
        CHECK(store_claim(rig, "a").tasks.empty());
        CHECK(store_find_error(rig, "a") == durable_errc::no_such_task);
    });
}

TEST_CASE("store_workers_that_live_are_known_until_they_retire") {
    on_both_stores([](store_rig& rig) {
        CHECK(rig.value(rig.store().heartbeat("b", 10'000)).names == std::vector<std::string>{"b"});
        CHECK(rig.value(rig.store().heartbeat("a", 10'000)).names == std::vector<std::string>{"a", "b"});
        CHECK(!rig(rig.store().retire("b")));
        CHECK(rig.value(rig.store().heartbeat("a", 10'000)).names == std::vector<std::string>{"a"});
    });
}

TEST_CASE("store_audit_of_sound_shards_repairs_nothing") {
    on_both_stores([](store_rig& rig) {
        for (int i = 0; i < 20; ++i) store_add(rig, due_now(std::to_string(i)));
        std::uint64_t seen = 0;
        for (std::uint32_t shard = 0; shard < rig.store().shards(); ++shard) {
            std::string cursor;
            do {
                const audit_step step = rig.value(rig.store().audit(shard, cursor, 5));
                seen += step.seen;
                CHECK(step.repaired == 0);
                cursor = step.cursor;
            } while (!cursor.empty());
        }
        CHECK(seen >= 20);
    });
}

TEST_CASE("store_hints_tell_of_tasks_that_are_due_soon_and_of_workers") {
    on_both_stores([](store_rig& rig) {
        std::uint32_t woken = 99, woken_later = 99;
        int workers = 0, alive = 0;
        rig.store().listen({.on_wake = [&](std::uint32_t shard, bool soon) { (soon ? woken : woken_later) = shard; },
                            .on_workers = [&] { ++workers; },
                            .on_alive = [&] { ++alive; }});
        // A subscription takes a moment; hints before it are lost.
        for (int i = 0; i < 100'000 && (woken == 99 || woken_later == 99 || workers == 0 || alive == 0); ++i) {
            store_add(rig, due_now("a"), on_duplicate::replace);
            store_claim(rig, "a");
            store_add(rig, {.id = "later", .due = 5'000, .relative = true}, on_duplicate::replace);
            rig.value(rig.store().heartbeat("w", 10'000));
            CHECK(!rig(rig.store().retire("w")));
            rig.io.poll();
        }
        CHECK(woken == rig.store().shard_of("a"));
        CHECK(woken_later == rig.store().shard_of("later"));
        CHECK(workers > 0);
        CHECK(alive > 0);
    });
}
