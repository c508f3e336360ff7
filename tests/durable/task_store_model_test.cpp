// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Random operations on the scripts in a real server and on the table in memory: the same answers, and at each step the
// same tasks, places, messages, generations and hints. The time is an argument of both.
#include "support/durable/script_model.hpp"
#include "support/durable/stored_task_text.hpp"
#include "support/random.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

namespace {

using namespace cogwheel;
using namespace cogwheel::detail;
using cogwheel_tests::keep_plain;
using cogwheel_tests::model_list;
using cogwheel_tests::model_pair;
using cogwheel_tests::plain_redis;
using cogwheel_tests::random_source;
using cogwheel_tests::redis_server;
using cogwheel_tests::stored_task_text;

/// Makes the operations of one run, and the arguments of most of them from what is stored.
struct model_run {
    model_run(plain_redis& redis, const redis_server& server, std::uint64_t seed) : pair(redis, server), random(seed) {
        limits = {.done_ms = random.below(2) == 0 ? 0 : 3'000,
                  .max_done = static_cast<std::uint32_t>(1 + random.below(6)),
                  .max_dead = static_cast<std::uint32_t>(1 + random.below(6)),
                  .dead_ms = 5'000};
    }

    std::string some_id() { return "id-" + std::to_string(random.below(12)); }
    std::int64_t some_delay() {
        static constexpr std::int64_t delays[] = {-5, 0, 1, 40, 300, 499, 500, 501, 2'000, 10'500, 10'501, 60'000};
        return delays[random.below(std::size(delays))];
    }
    // Few triggers: so that some take the place of the same one. Some are cut.
    std::string some_recurring_envelope() {
        std::string text = "\x12";
        if (random.below(2) == 0) text = std::string("\x13\x03") + "abc";
        text += std::to_string(10'000'000 + random.below(3)); // the first point: eight bytes
        text += {static_cast<char>(2 + random.below(2)), 0, 0, 0};
        text += random.below(2) == 0 ? "aaa" : "bbb";
        text += std::string(random.below(2), 'c');
        if (random.below(16) == 0) text.resize(random.below(text.size()));
        return text;
    }
    const stored_task* some_task() {
        const auto& all = pair.table.records();
        if (all.empty()) return nullptr;
        auto at = all.begin();
        std::advance(at, static_cast<std::ptrdiff_t>(random.below(all.size())));
        return &at->second.task;
    }
    std::uint64_t near(std::uint64_t value) { return random.below(8) == 0 ? value + random.below(3) - 1 : value; }

    void add() {
        std::vector<new_task> tasks;
        for (std::uint64_t n = 1 + random.below(4); n > 0; --n) {
            new_task t{.id = some_id()};
            t.relative = random.below(3) != 0;
            t.due = t.relative ? some_delay() : (random.below(9) == 0 ? -7 : now / 1000 + some_delay());
            t.max_attempts = static_cast<std::uint32_t>(random.below(6) == 0 ? 40 : 1 + random.below(3));
            t.recurring = random.below(4) == 0;
            t.runs_left = t.recurring ? (random.below(2) == 0 ? forever : 5) : 1;
            t.envelope = std::string(random.below(3), 'e') + std::to_string(random.below(100));
            if (t.recurring && random.below(8) != 0) t.envelope = some_recurring_envelope();
            tasks.push_back(std::move(t));
        }
        const auto policy = static_cast<on_duplicate>(random.below(3));
        const auto text = [](const added_task& a) { return fmt::format("{} {} {}", a.generation, a.due, a.existed); };
        const auto answer = read_added(pair.run(pair.at(now).add(tasks, policy)));
        REQUIRE(answer);
        CHECK(model_list(*answer, text) == model_list(pair.table.add(now, tasks, policy), text));
    }
    void claim() {
        const auto n = static_cast<std::uint32_t>(1 + random.below(6));
        const std::int64_t lease = 200 + static_cast<std::int64_t>(random.below(2'000));
        const auto answer = read_claimed(pair.run(pair.at(now).claim(1'000, n, lease, limits)));
        REQUIRE(answer);
        const claimed_tasks wanted = pair.table.claim(now, 1'000, n, lease, limits);
        CHECK(model_list(answer->tasks, stored_task_text) == model_list(wanted.tasks, stored_task_text));
        CHECK(answer->more == wanted.more);
        CHECK(answer->next == wanted.next);
        CHECK(answer->now_us == wanted.now_us);
    }
    void begin() {
        std::vector<begin_request> requests;
        for (std::uint64_t n = 1 + random.below(4); n > 0; --n) {
            const stored_task* t = some_task();
            if (t == nullptr) return;
            begin_request r{.id = t->id, .generation = near(t->generation)};
            r.attempt = static_cast<std::uint32_t>(near(t->attempt)) & 0xff;
            if (t->recurring) {
                const std::int64_t later = random.below(4) == 0 ? 900 : 0; // a date that may not have come
                for (std::uint64_t k = random.below(4); k > 0; --k)
                    r.occurrences.push_back(t->due + later + static_cast<std::int64_t>(random.below(3)) * 10);
                r.next_due = random.below(4) == 0 ? 0 : now / 1000 + 100 + static_cast<std::int64_t>(random.below(900));
                r.runs_left = t->runs_left == forever ? forever : std::max<std::int64_t>(t->runs_left - 1, 1);
            }
            requests.push_back(std::move(r));
        }
        // A worker whose answer was lost repeats the call.
        if (random.below(3) == 0 && !asked.empty()) requests = asked;
        asked = requests;
        const auto nonce = static_cast<std::uint32_t>(1 + random.below(2));
        const std::int64_t lease = 100 + static_cast<std::int64_t>(random.below(1'000));
        const auto text = [](const begun_task& b) { return fmt::format("{} {}", b.attempt, b.generation); };
        pair.at(now);
        if (random.below(2) == 0) {
            const begin_ways ways{&pair.scripts, {&pair.calls, 1}, lease, nonce};
            keep_plain(ways, requests);
            const auto wanted = pair.table.begin(now, lease, nonce, requests);
            const auto begun = pair.run(ways, requests);
            CHECK(model_list(begun, text) == model_list(wanted, text));
            return;
        }
        const auto answer = read_begun(pair.run(pair.calls.begin(lease, nonce, requests)));
        REQUIRE(answer);
        CHECK(answer->now_us == now);
        std::vector<begun_task> begun;
        for (const auto& b : answer->tasks) begun.push_back(b.value());
        CHECK(model_list(begun, text) == model_list(pair.table.begin(now, lease, nonce, requests), text));
    }
    void finish() {
        std::vector<finish_request> requests;
        for (std::uint64_t n = 1 + random.below(5); n > 0; --n) {
            const stored_task* t = some_task();
            if (t == nullptr) return;
            finish_request r{.id = t->id, .generation = near(t->generation)};
            r.kind = static_cast<finish_kind>(random.below(5));
            r.attempt = static_cast<std::uint32_t>(near(t->attempt)) & 0xff;
            r.delay = some_delay();
            r.text = random.below(2) == 0 ? "" : "text " + std::to_string(random.below(100));
            if (random.below(8) == 0) r.text += std::string(250, '\1'); // cut
            requests.push_back(std::move(r));
        }
        const auto text = [](auto b) { return std::to_string(static_cast<int>(b)); };
        pair.at(now);
        if (random.below(2) == 0) {
            const finish_ways ways{&pair.scripts, {&pair.calls, 1}, limits};
            keep_plain(ways, requests);
            const auto wanted = pair.table.finish(now, limits, requests);
            const auto finished = pair.run(ways, requests);
            CHECK(model_list(finished, text) == model_list(wanted, text));
            return;
        }
        const auto answer = read_integers(pair.run(pair.calls.finish(limits, requests)));
        REQUIRE(answer);
        CHECK(model_list(*answer, text) == model_list(pair.table.finish(now, limits, requests), text));
    }
    void extend() {
        std::vector<attempt_ref> attempts;
        for (std::uint64_t n = 1 + random.below(3); n > 0; --n) {
            const stored_task* t = some_task();
            if (t == nullptr) return;
            attempts.push_back({t->id, near(t->generation), static_cast<std::uint32_t>(near(t->attempt)) & 0xff});
        }
        const auto text = [](auto b) { return std::to_string(static_cast<int>(b)); };
        const auto answer = read_integers(pair.run(pair.at(now).extend(700, attempts)));
        REQUIRE(answer);
        CHECK(model_list(*answer, text) == model_list(pair.table.extend(now, 700, attempts), text));
    }
    void change_one() {
        const stored_task* t = some_task();
        const std::string id = t != nullptr && random.below(4) != 0 ? t->id : some_id();
        static constexpr std::int64_t codes[] = {0, 1, 2};
        switch (random.below(6)) {
        case 0: {
            const auto reply = pair.run(pair.at(now).cancel(id));
            CHECK(reply.integer() == codes[static_cast<std::size_t>(pair.table.cancel(id))]);
            break;
        }
        case 1: {
            const bool relative = random.below(2) == 0;
            const std::int64_t due = relative ? some_delay() : now / 1000 + some_delay();
            const auto answer = read_integers(pair.run(pair.at(now).reschedule(id, due, relative)));
            REQUIRE(answer);
            const auto moved = pair.table.reschedule(now, id, due, relative);
            CHECK((*answer)[0] == static_cast<std::int64_t>(moved.result));
            CHECK((*answer)[1] == static_cast<std::int64_t>(moved.now.generation));
            CHECK((*answer)[2] == moved.now.due);
            break;
        }
        case 2:
            CHECK((pair.run(pair.at(now).redrive(id)).integer() == 1) == pair.table.redrive(now, id));
            break;
        case 3: {
            const bool held = random.below(2) == 0;
            const auto reply = pair.run(pair.at(now).hold(id, held));
            CHECK(reply.integer() == codes[static_cast<std::size_t>(pair.table.hold(now, id, held))]);
            break;
        }
        case 4:
            if (random.below(2) == 0) CHECK((pair.run(pair.calls.purge(id)).integer() == 1) == pair.table.purge(id));
            break;
        default: {
            const bool paused = random.below(4) == 0;
            CHECK((pair.run(pair.calls.pause(paused)).integer() == 1) == pair.table.pause(paused));
        }
        }
    }
    void read() {
        const auto counts = read_counts(pair.run(pair.at(now).counts()));
        REQUIRE(counts);
        const shard_counts wanted = pair.table.counts(now);
        CHECK(counts->waiting == wanted.waiting);
        CHECK(counts->leased == wanted.leased);
        CHECK(counts->overdue == wanted.overdue);
        CHECK(counts->done == wanted.done);
        CHECK(counts->dead == wanted.dead);
        CHECK(counts->paused == wanted.paused);
        CHECK(counts->oldest_ms == wanted.oldest_ms);

        std::vector<stored_task> listed;
        for (std::string cursor;;) {
            auto some = read_listed(pair.run(pair.calls.list(cursor, 4)));
            REQUIRE(some);
            CHECK(some->without_envelope.empty());
            std::move(some->page.tasks.begin(), some->page.tasks.end(), std::back_inserter(listed));
            if ((cursor = some->page.cursor).empty()) break;
        }
        std::sort(listed.begin(), listed.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
        CHECK(model_list(listed, stored_task_text) == model_list(pair.table.list("", 1'000).tasks, stored_task_text));

        std::vector<stored_task> dead;
        for (std::string score;;) {
            auto page = read_dead(pair.run(pair.calls.dead(score, dead.empty() ? "" : dead.back().id, 2)));
            REQUIRE(page);
            if (page->tasks.empty()) break;
            score = page->score;
            std::move(page->tasks.begin(), page->tasks.end(), std::back_inserter(dead));
        }
        CHECK(model_list(dead, stored_task_text) == model_list(pair.table.dead("", 1'000).tasks, stored_task_text));
        audit();
    }
    void audit() {
        for (std::string cursor;;) {
            const auto step = read_audit(pair.run(pair.at(now).audit(cursor, 5)));
            REQUIRE(step);
            CHECK(step->repaired == 0);
            if ((cursor = step->cursor).empty()) break;
        }
    }

    void step() {
        static constexpr std::int64_t pauses[] = {0, 0, 1, 700, 1'000, 20'000, 300'000, 1'100'000, 4'000'000, -2'000};
        now += pauses[random.below(std::size(pauses))];
        switch (random.below(12)) {
        case 0:
        case 1:
            return add();
        case 2:
        case 3:
            return claim();
        case 4:
        case 5:
        case 6:
            return begin();
        case 7:
        case 8:
            return finish();
        case 9:
            return extend();
        case 10:
            return change_one();
        default:
            return read();
        }
    }

    /// Ends all tasks. With retention 0, nothing of them may be left.
    void finish_all() {
        pair.run(pair.calls.pause(false));
        pair.table.pause(false);
        limits.done_ms = 0;
        while (!pair.table.records().empty()) {
            const stored_task t = pair.table.records().begin()->second.task;
            now += 1'000;
            if (t.state == durable_state::waiting) {
                pair.run(pair.calls.cancel(t.id));
                pair.table.cancel(t.id);
            } else if (t.state == durable_state::running) {
                const std::vector<finish_request> ack{{finish_kind::ack, t.id, t.generation, t.attempt, 0, ""}};
                pair.run(pair.at(now).finish(limits, ack));
                pair.table.finish(now, limits, ack);
            } else {
                pair.run(pair.calls.purge(t.id));
                pair.table.purge(t.id);
            }
        }
    }

    model_pair pair;
    random_source random;
    retention_limits limits;
    std::vector<begin_request> asked; // by the last begin
    std::int64_t now = 1'700'000'000'000'000;
};

} // namespace

TEST_CASE("scripts_claim_and_list_large_envelopes_in_parts_as_the_table_does") {
    if (!redis_server::installed()) {
        MESSAGE("skipped: redis-server is not installed");
        return;
    }
    redis_server server;
    plain_redis redis(server.socket());
    model_pair pair(redis, server);
    std::int64_t now = 1'700'000'000'000'000;
    const retention_limits limits;
    constexpr std::size_t size = std::size_t{512} << 10;
    const auto short_text = [](const stored_task& t) {
        return fmt::format("{} {} {} {}", t.id, static_cast<int>(t.state), t.attempt, t.envelope.size());
    };
    const auto claim = [&](std::size_t wanted, bool more) {
        const auto is = read_claimed(pair.run(pair.at(now).claim(1'000, 128, 1'000, limits)));
        REQUIRE(is);
        const claimed_tasks model = pair.table.claim(now, 1'000, 128, 1'000, limits);
        CHECK(model_list(is->tasks, short_text) == model_list(model.tasks, short_text));
        CHECK(is->tasks.size() == wanted);
        CHECK(is->more == more);
        CHECK(model.more == more);
        CHECK(pair.server_state() == pair.table_state());
        return model.tasks;
    };
    std::vector<new_task> tasks;
    for (int i = 10; i < 24; ++i) {
        new_task t{.id = std::to_string(i), .due = now / 1000, .max_attempts = 2};
        t.envelope = std::string(size, 'e');
        tasks.push_back(std::move(t));
    }
    CHECK(read_added(pair.run(pair.at(now).add(tasks, on_duplicate::reject))));
    pair.table.add(now, tasks, on_duplicate::reject);
    std::vector<begin_request> begins;
    for (const stored_task& t : claim(9, true)) begins.push_back({.id = t.id, .generation = t.generation});
    CHECK(read_begun(pair.run(pair.at(now).begin(1'000, 1, begins))));
    pair.table.begin(now, 1'000, 1, begins);
    now += 1'000'000;
    claim(9, true); // 5 of the 9 whose lease ran out, 4 of the 5 that wait
    claim(5, false);
    CHECK(pair.table.counts(now).leased == 14);

    for (const new_task& t : tasks) {
        const stored_task at = pair.table.find(t.id)->task;
        const std::vector<begin_request> begin{{.id = at.id, .generation = at.generation}};
        const std::vector<finish_request> fail{{finish_kind::fail, at.id, at.generation, at.attempt + 1, 0, ""}};
        pair.run(pair.at(now).begin(1'000, 1, begin));
        pair.run(pair.at(now).finish(limits, fail));
    }
    auto page = read_dead(pair.run(pair.calls.dead("", "", 100)));
    REQUIRE(page);
    CHECK(page->more);
    REQUIRE(page->tasks.size() == 9);
    page = read_dead(pair.run(pair.calls.dead(page->score, page->tasks.back().id, 100)));
    REQUIRE(page);
    CHECK(!page->more);
    CHECK(page->tasks.size() == 5);
}

TEST_CASE("script_heartbeat_after_the_clock_was_set_back_leaves_no_dead_worker") {
    if (!redis_server::installed()) {
        MESSAGE("skipped: redis-server is not installed");
        return;
    }
    redis_server server;
    plain_redis redis(server.socket());
    model_pair pair(redis, server);
    const auto alive = [&](std::string_view member, std::int64_t now) {
        const auto r = pair.run(queue_names::heartbeat(pair.scripts, "compared", member, 10'000, std::to_string(now)));
        std::string names;
        const auto live = read_heartbeat(redis_reply(r));
        for (const std::string& name : live.value().names) (names += name) += ' ';
        return names;
    };
    constexpr std::int64_t start = 1'700'000'000'000'000;
    CHECK(alive("dead", start) == "dead ");
    CHECK(alive("alive", start - 10'000'000) == "alive dead "); // not more than the ttl: it may live
    CHECK(alive("alive", start - 10'001'000) == "alive ");
}

TEST_CASE("scripts_at_random_do_what_the_table_does") {
    if (!redis_server::installed()) {
        MESSAGE("skipped: redis-server is not installed");
        return;
    }
    redis_server server;
    plain_redis redis(server.socket());
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        CAPTURE(seed);
        redis(redis_command{"FLUSHALL"});
        // The other half runs with hash tables instead of lists.
        redis(redis_command{"CONFIG", "SET", "hash-max-listpack-entries", seed % 2 == 0 ? "0" : "512"});
        model_run run(redis, server, seed);
        for (int step = 0; step < 300; ++step) {
            CAPTURE(step);
            run.step();
            CHECK(run.pair.server_hints() == run.pair.table_hints(run.now));
            if (step % 10 != 9) continue; // its answer was compared; all that is stored, in a while
            const std::string wanted = run.pair.table_state();
            const std::string is = run.pair.server_state();
            REQUIRE(is == wanted);
        }
        run.finish_all();
        CHECK(run.pair.server_state() == run.pair.table_state());
        // The counter of generations stays, so that no later task has an earlier one's.
        const auto left = redis(redis_command{"KEYS", "*"});
        REQUIRE(left.elements().size() == 1);
        CHECK(left.elements()[0].text() == "{cw:compared:3}:seq");
    }
}
