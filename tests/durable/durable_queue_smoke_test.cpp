// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Calls of a queue that come in the same turn: they share a call of the server, and keep their order and their answers.
#include "support/durable/durable_rig.hpp"

#include <optional>
#include <set>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

struct queue_answer {
    std::error_code error{};
    durable_receipt receipt{};
};

/// Calls of one turn, and their answers.
class calls_of_a_turn {
public:
    explicit calls_of_a_turn(durable_rig& rig) : rig_(&rig) {}

    void schedule(durable_task t, on_duplicate policy = on_duplicate::reject) {
        outcomes.emplace_back();
        ++open_;
        rig_->queue->schedule(std::move(t), policy, [this, i = outcomes.size() - 1](std::error_code ec, auto receipt) {
            outcomes[i] = {ec, receipt};
            --open_;
        });
    }
    void end() {
        rig_->run_until([&] { return open_ == 0; });
    }

    std::vector<queue_answer> outcomes;

private:
    durable_rig* rig_;
    std::size_t open_ = 0;
};

std::size_t calls_of_scripts(const redis_server& server) {
    const std::string stats = server.call({"INFO", "commandstats"});
    const auto at = stats.find("cmdstat_evalsha:calls=");
    return at == stats.npos ? 0 : std::stoul(stats.substr(at + 22));
}

} // namespace

TEST_CASE("queue_sends_what_is_added_in_one_turn_together") {
    if (!redis_server::installed()) return;
    durable_rig rig(durable_backend::redis);
    rig.add(worker_task("the scripts are loaded", 1h));
    calls_of_a_turn some(rig);
    const auto scripts_for = [&](std::size_t tasks, std::size_t bytes) {
        const std::size_t before = calls_of_scripts(*rig.server), first = some.outcomes.size();
        for (std::size_t i = 0; i < tasks; ++i) {
            durable_task t = worker_task(std::to_string(bytes) + '.' + std::to_string(i), 1h);
            t.body.assign(bytes, 'x');
            some.schedule(std::move(t));
        }
        some.end();
        std::set<std::uint64_t> generations;
        for (std::size_t i = first; i < some.outcomes.size(); ++i) {
            CHECK(!some.outcomes[i].error);
            generations.insert(some.outcomes[i].receipt.generation);
        }
        CHECK(generations.size() >= tasks / 4); // each shard counts its own
        return calls_of_scripts(*rig.server) - before;
    };
    CHECK(scripts_for(60, 10) == 4);      // one for each shard
    CHECK(scripts_for(1'000, 20) >= 10);  // none with more than 100 tasks
    CHECK(scripts_for(40, 30'000) >= 13); // nor with far more than 64 kB
    CHECK(rig.counts().waiting == 1'101);
}

TEST_CASE("queue_answers_each_task_of_one_turn_on_its_own") {
    for (const durable_backend b : durable_backends()) {
        durable_rig rig(b);
        calls_of_a_turn some(rig);
        some.schedule(worker_task("a", 1h));
        some.schedule(worker_task("a", 2h));
        some.schedule(worker_task("", 1h));
        some.schedule(worker_task("b", 3h));
        some.end();
        CHECK(!some.outcomes[0].error);
        CHECK(some.outcomes[1].error == errc::duplicate_key);
        CHECK(some.outcomes[2].error == durable_errc::bad_id);
        CHECK(!some.outcomes[3].error);
        CHECK(rig.find("a")->generation == some.outcomes[0].receipt.generation);
        CHECK(rig.find("a")->due == some.outcomes[0].receipt.due);
        CHECK(rig.find("b")->due == some.outcomes[3].receipt.due);
        CHECK(rig.counts().waiting == 2);
    }
}

TEST_CASE("queue_keeps_the_order_of_policies_in_one_turn") {
    for (const durable_backend b : durable_backends()) {
        durable_rig rig(b);
        calls_of_a_turn some(rig);
        some.schedule(worker_task("x", 1h));
        some.schedule(worker_task("x", 2h), on_duplicate::replace);
        some.schedule(worker_task("x", 3h), on_duplicate::keep);
        some.schedule(worker_task("x", 4h));
        some.end();
        CHECK(!some.outcomes[0].error);
        CHECK(!some.outcomes[1].error);
        CHECK(some.outcomes[1].receipt.generation > some.outcomes[0].receipt.generation);
        CHECK(some.outcomes[2].receipt.existed);
        CHECK(some.outcomes[2].receipt.generation == some.outcomes[1].receipt.generation);
        CHECK(some.outcomes[3].error == errc::duplicate_key);
        CHECK(rig.find("x")->due == some.outcomes[1].receipt.due);
    }
}

TEST_CASE("queue_makes_later_calls_of_a_turn_after_its_adds") {
    for (const durable_backend b : durable_backends()) {
        durable_rig rig(b);
        calls_of_a_turn some(rig);
        some.schedule(worker_task("cancelled", 1h));
        CHECK(rig.cancel("cancelled") == durable_cancel_result::cancelled);
        some.schedule(worker_task("found", 1h));
        CHECK(rig.find("found").has_value());
        some.schedule(worker_task("counted", 1h));
        CHECK(rig.counts().waiting == 2);
        some.schedule(worker_task("moved", 1h));
        const auto moved =
            rig.get<durable_receipt>([&](auto h) { rig.queue->reschedule("moved", task_trigger::once(2h), h); });
        CHECK(!rig.error);
        some.schedule(worker_task("twice", 1h));
        const auto added = rig.get<std::vector<durable_added>>(
            [&](auto h) { rig.queue->schedule_all({worker_task("twice")}, on_duplicate::reject, h); });
        CHECK(added.front().error == errc::duplicate_key);
        some.end();
        CHECK(moved.generation > some.outcomes[3].receipt.generation);
        for (const queue_answer& o : some.outcomes) CHECK(!o.error);
    }
}

TEST_CASE("queue_completes_no_call_inside_another") {
    for (const durable_backend b : durable_backends()) {
        durable_rig rig(b);
        bool inside = false;
        int left = 4;
        const auto ended = [&](std::error_code ec, const auto&) {
            CHECK(!ec);
            CHECK(!inside);
            --left;
        };
        rig.queue->schedule(worker_task("a", 1h), [&](std::error_code, const durable_receipt&) {
            inside = true;
            rig.queue->schedule(worker_task("b", 1h), ended);
            rig.queue->schedule(worker_task("b", 1h), on_duplicate::replace, ended);
            rig.queue->schedule(worker_task("c", 1h), ended);
            rig.queue->counts(ended);
            inside = false;
        });
        rig.run_until([&] { return left == 0; });
    }
}

TEST_CASE("queue_that_is_closed_answers_the_adds_of_the_turn") {
    for (const durable_backend b : durable_backends()) {
        durable_rig rig(b);
        calls_of_a_turn some(rig);
        for (int i = 0; i < 10; ++i) some.schedule(worker_task(std::to_string(i), 1h));
        rig.queue->close();
        some.end();
        for (const queue_answer& o : some.outcomes) CHECK(o.error == asio::error::operation_aborted);
    }
}

TEST_CASE("context_destroyed_before_an_add_is_sent_frees_its_handler") {
    std::weak_ptr<int> alive;
    {
        queue_in_memory q;
        bool open = false, ended = false;
        q.queue.open([&](std::error_code ec) { open = !ec; });
        while (!open) q.io.run_one();
        q.io.poll();
        const auto held = std::make_shared<int>();
        alive = held;
        q.queue.schedule(worker_task("x"), [&, held](std::error_code, const durable_receipt&) { ended = true; });
        q.io.restart();
        q.io.poll_one(); // it is gathered
        CHECK(!ended);
    }
    CHECK(alive.expired());
}

TEST_CASE("queue_without_workers_gets_no_hints") {
    if (!redis_server::installed()) return;
    durable_rig rig(durable_backend::redis);
    rig.add(worker_task("due at once"));
    CHECK(rig.server->call({"PUBSUB", "CHANNELS"}).empty());
    const timer_wheel elsewhere = std::move(rig.wheel); // as it may, once the queue is open
    worker_rig w(rig, quick_worker());
    w.run();
    rig.run_until([&] { return w.worker.stats().done == 1; });
    rig.run_until([&] { return !rig.server->call({"PUBSUB", "CHANNELS"}).empty(); });
}
