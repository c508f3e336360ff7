// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The rules of durable tasks at their edges, in virtual time, on the table. task_store_model_test shows that the
// scripts obey the same ones.
#include "src/durable/task_table.hpp"

#include <doctest/doctest.h>

namespace {

using namespace cogwheel;
using namespace cogwheel::detail;

constexpr std::int64_t table_start = 1'700'000'000'000'000; // us

struct table_rig {
    added_task add(std::string id, std::int64_t delay, std::uint32_t attempts = 3) {
        new_task t{.id = std::move(id)};
        t.due = delay;
        t.relative = true;
        t.max_attempts = attempts;
        return table.add(now, {t}, on_duplicate::reject).at(0);
    }
    std::vector<std::string> claim(std::uint32_t n, std::int64_t lease = 1'000) {
        std::vector<std::string> ids;
        for (const auto& t : table.claim(now, 1'000, n, lease, limits).tasks) ids.push_back(t.id);
        return ids;
    }
    begun_task begin(const std::string& id, std::uint64_t generation, std::int64_t lease = 1'000) {
        return table.begin(now, lease, 1, std::vector{begin_request{.id = id, .generation = generation}}).at(0);
    }
    bool finish(finish_kind kind, const std::string& id, std::uint64_t generation, std::uint32_t attempt,
                std::int64_t delay = 0) {
        return table.finish(now, limits, std::vector{finish_request{kind, id, generation, attempt, delay, ""}}).at(0);
    }
    task_table::wake_hint hint() {
        const auto h = table.wake(now);
        table.note_changes();
        return h;
    }
    /// In ms from now.
    std::int64_t next_claim() { return table.claim(now, 1'000, 9, 1'000, limits).next - now / 1'000; }
    durable_state state(std::string_view id) { return table.find(id)->task.state; }

    task_table table;
    retention_limits limits;
    std::int64_t now = table_start;
};

using ids_of = std::vector<std::string>;

} // namespace

TEST_CASE("table_delay_is_rounded_up_and_the_past_is_due_at_once") {
    table_rig r;
    r.now = table_start + 1; // a microsecond after a whole millisecond
    CHECK(r.add("a", 5).due == table_start / 1000 + 6);
    CHECK(r.add("b", 0).due == table_start / 1000);
    CHECK(r.add("c", -9).due == table_start / 1000);
    CHECK(r.table.add(r.now, {{.id = "d", .due = -3}}, on_duplicate::reject).at(0).due == 1);
}

TEST_CASE("table_begin_is_never_early_and_says_by_how_much") {
    table_rig r;
    const auto added = r.add("a", 10);
    r.now += 9'999;
    CHECK(r.begin("a", added.generation).attempt == -1);
    r.now += 1;
    CHECK(r.begin("a", added.generation).attempt == 1);
}

TEST_CASE("table_generations_grow_even_if_the_clock_goes_back") {
    table_rig r;
    const auto first = r.add("a", 0);
    CHECK(first.generation == static_cast<std::uint64_t>(table_start));
    r.now -= 5'000'000;
    CHECK(r.add("b", 0).generation == first.generation + 1);
}

TEST_CASE("table_claim_takes_the_oldest_first_within_the_horizon") {
    table_rig r;
    r.add("later", 1'001);
    r.add("edge", 1'000);
    r.add("soon", 10);
    CHECK(r.claim(1) == ids_of{"soon"});
    CHECK(r.claim(5) == ids_of{"edge"});
    CHECK(r.claim(5).empty());
    // The lease counts from the due time.
    CHECK(r.table.find("edge")->place == -(table_start / 1000 + 1'000 + 1'000));
}

TEST_CASE("table_claim_gives_at_most_half_to_leases_that_ran_out") {
    table_rig r;
    for (const char* id : {"a", "b", "c", "d"}) r.add(id, 0);
    CHECK(r.claim(4) == ids_of{"a", "b", "c", "d"});
    r.now += 999'999;
    CHECK(r.claim(4).empty());
    r.now += 1;
    for (const char* id : {"e", "f", "g"}) r.add(id, 0);
    CHECK(r.claim(3) == ids_of{"d", "c", "e"}); // half of 3, rounded up
    CHECK(r.table.claim(r.now, 0, 4, 1'000, r.limits).more);
}

TEST_CASE("table_running_task_whose_lease_ran_out_waits_again_dies_or_is_gone") {
    table_rig r;
    const auto twice = r.add("twice", 0, 2);
    const auto once = r.add("once", 0, 1);
    const auto cancelled = r.add("cancelled", 0, 2);
    CHECK(r.begin("twice", twice.generation).attempt == 1);
    CHECK(r.begin("once", once.generation).attempt == 1);
    CHECK(r.begin("cancelled", cancelled.generation).attempt == 1);
    CHECK(r.table.cancel("cancelled") == removal::running);
    r.now += 1'000'000;
    CHECK(r.claim(10) == ids_of{"twice"});
    CHECK(r.state("twice") == durable_state::waiting);
    CHECK(r.state("once") == durable_state::dead);
    CHECK(r.table.find("cancelled") == nullptr);
    CHECK(r.begin("twice", twice.generation).attempt == 2);
    // A slow worker of the last attempt is not made to do it twice.
    CHECK(r.finish(finish_kind::ack, "once", once.generation, 1));
    CHECK(r.table.find("once") == nullptr);
}

TEST_CASE("table_nack_waits_for_its_delay_and_keeps_the_count") {
    table_rig r;
    const auto added = r.add("a", 0, 2);
    r.begin("a", added.generation);
    r.now += 1;
    CHECK(r.finish(finish_kind::nack, "a", added.generation, 1, 700));
    CHECK(r.table.find("a")->task.due == table_start / 1000 + 701);
    CHECK(!r.finish(finish_kind::nack, "a", added.generation, 1, 700));
    r.now += 701'000;
    CHECK(r.begin("a", added.generation).attempt == 2);
    CHECK(r.finish(finish_kind::nack, "a", added.generation, 2));
    CHECK(r.state("a") == durable_state::dead);
}

TEST_CASE("table_cancelled_running_task_may_succeed_but_not_fail_again") {
    table_rig r;
    const auto a = r.add("a", 0), b = r.add("b", 0);
    r.begin("a", a.generation);
    r.begin("b", b.generation);
    CHECK(r.table.cancel("a") == removal::running);
    CHECK(r.table.cancel("b") == removal::running);
    CHECK(r.finish(finish_kind::nack, "a", a.generation, 1));
    CHECK(r.table.find("a") == nullptr);
    r.limits.done_ms = 1'000;
    CHECK(r.finish(finish_kind::ack, "b", b.generation, 1));
    CHECK(r.state("b") == durable_state::done);
}

TEST_CASE("table_done_and_dead_stay_within_their_bounds_at_each_step") {
    table_rig r;
    r.limits = {.done_ms = 10'000, .max_done = 5, .max_dead = 3, .dead_ms = 20'000};
    for (int i = 0; i < 40; ++i) {
        const std::string id = std::to_string(i);
        const auto added = r.add(id, 0, 1);
        r.begin(id, added.generation);
        r.now += 1'000;
        CHECK(r.finish(i % 2 == 0 ? finish_kind::ack : finish_kind::nack, id, added.generation, 1));
        const auto counts = r.table.counts(r.now);
        CHECK(counts.done <= 5);
        CHECK(counts.dead <= 3);
    }
    CHECK(r.table.find("38") != nullptr); // the oldest go first
    CHECK(r.table.find("28") == nullptr);
    r.now += 10'000'000;
    r.claim(1);
    CHECK(r.table.counts(r.now).done == 0);
    CHECK(r.table.counts(r.now).dead == 3);
    r.now += 10'000'000;
    r.claim(1);
    CHECK(r.table.records().empty());
}

TEST_CASE("table_recurring_task_leaves_occurrences_that_exist_alone") {
    table_rig r;
    new_task t{.id = "r", .due = table_start / 1000};
    t.recurring = true;
    t.runs_left = 3;
    const auto added = r.table.add(r.now, {t}, on_duplicate::reject).at(0);
    const begin_request request{
        .id = "r", .generation = added.generation, .occurrences = {added.due}, .next_due = added.due, .runs_left = 2};
    CHECK(r.table.begin(r.now, 1'000, 1, std::vector{request}).at(0).attempt == 1);
    CHECK(r.table.begin(r.now, 1'000, 2, std::vector{request}).at(0).attempt == 0); // an old claim of the task
    begin_request again = request;
    again.generation = r.table.find("r")->task.generation;
    again.next_due = 0;
    CHECK(r.table.begin(r.now, 1'000, 2, std::vector{again}).at(0).attempt == 0); // the occurrence runs already
    CHECK(r.table.find("r") == nullptr);
    CHECK(r.table.find("r@" + std::to_string(added.due))->task.attempt == 1);
}

TEST_CASE("table_recurring_task_whose_first_occurrence_is_not_due_is_early_and_stays_as_it_is") {
    table_rig r;
    new_task t{.id = "r", .due = table_start / 1000};
    t.recurring = true;
    t.runs_left = 3;
    const auto added = r.table.add(r.now, {t}, on_duplicate::reject).at(0);
    const begin_request request{.id = "r",
                                .generation = added.generation,
                                .occurrences = {added.due + 1'000},
                                .next_due = added.due + 2'000,
                                .runs_left = 2};
    CHECK(r.table.begin(r.now, 1'000, 1, std::vector{request}).at(0).attempt == -1'000'000);
    CHECK(r.table.records().size() == 1);
    CHECK(r.table.find("r")->task.generation == added.generation);
    CHECK(r.table.find("r")->task.due == added.due);
    CHECK(r.table.find("r")->place == added.due);
    r.now += 1'000'000;
    CHECK(r.table.begin(r.now, 1'000, 1, std::vector{request}).at(0).attempt == 1);
}

TEST_CASE("table_repeated_begin_renews_the_lease") {
    table_rig r;
    const auto added = r.add("a", 0);
    CHECK(r.begin("a", added.generation).attempt == 1);
    r.now += 900'000;
    CHECK(r.begin("a", added.generation).attempt == 1);
    CHECK(r.table.find("a")->place == -(r.now / 1000 + 1'000));
    // An occurrence too.
    new_task t{.id = "r", .due = r.now / 1000};
    t.recurring = true;
    t.runs_left = forever;
    const auto recurring = r.table.add(r.now, {t}, on_duplicate::reject).at(0);
    const begin_request request{.id = "r",
                                .generation = recurring.generation,
                                .occurrences = {recurring.due},
                                .next_due = recurring.due + 60'000,
                                .runs_left = forever};
    CHECK(r.table.begin(r.now, 1'000, 1, std::vector{request}).at(0).attempt == 1);
    r.now += 900'000;
    CHECK(r.table.begin(r.now, 1'000, 1, std::vector{request}).at(0).attempt == 1);
    CHECK(r.table.find("r@" + std::to_string(recurring.due))->place == -(r.now / 1000 + 1'000));
    // Of another worker, nothing.
    CHECK(r.table.begin(r.now, 5'000, 2, std::vector{request}).at(0).attempt == 0);
    CHECK(r.table.find("r@" + std::to_string(recurring.due))->place == -(r.now / 1000 + 1'000));
}

TEST_CASE("table_recurring_task_is_not_rescheduled") {
    table_rig r;
    new_task t{.id = "r", .due = table_start / 1000 + 5'000};
    t.recurring = true;
    const auto added = r.table.add(r.now, {t}, on_duplicate::reject).at(0);
    r.table.note_changes();
    const auto moved = r.table.reschedule(r.now, "r", 0, true);
    CHECK(moved.result == removal::recurring);
    CHECK(moved.now.generation == added.generation);
    CHECK(moved.now.due == added.due);
    CHECK(r.table.changed().empty());
    CHECK(r.table.find("r")->task.due == added.due);
}

TEST_CASE("table_hint_is_due_if_a_task_comes_within_half_a_second") {
    table_rig r;
    using hint = task_table::wake_hint;
    r.add("a", 10'501);
    CHECK(r.hint() == hint::none);
    r.add("b", 10'500);
    CHECK(r.hint() == hint::later);
    r.add("c", 501);
    CHECK(r.hint() == hint::later);
    r.add("d", 500);
    CHECK(r.hint() == hint::soon);
    CHECK(r.hint() == hint::none);
    r.table.reschedule(r.now, "a", 20, true);
    CHECK(r.hint() == hint::soon);
}

TEST_CASE("table_hint_is_not_due_behind_an_unclaimed_task") {
    table_rig r;
    using hint = task_table::wake_hint;
    r.add("a", 0);
    CHECK(r.hint() == hint::soon);
    r.add("b", 10);
    CHECK(r.hint() == hint::none);
    r.claim(1);
    r.add("c", 10);
    CHECK(r.hint() == hint::soon); // beside b
    r.add("d", 11);
    CHECK(r.hint() == hint::none);
    r.claim(9);
    r.add("e", 12);
    CHECK(r.hint() == hint::soon);
}

TEST_CASE("table_claim_says_when_there_is_more") {
    table_rig r;
    const std::int64_t never = held_place - r.now / 1'000;
    CHECK(r.next_claim() == never);
    r.add("far", 60'000);
    CHECK(r.next_claim() == 59'000); // less the horizon
    const auto near = r.add("near", 0);
    CHECK(r.next_claim() == 1'000); // the claim of it ends
    r.table.pause(true);
    CHECK(r.next_claim() == 1'000);
    r.add("due", 0);
    CHECK(r.next_claim() == never);
    r.table.pause(false);
    CHECK(r.next_claim() == 1'000);
    r.begin("near", near.generation, 9'000);
    r.table.cancel("due");
    CHECK(r.next_claim() == 9'000);
}

TEST_CASE("table_claim_comes_again_soon_while_more_must_be_removed") {
    table_rig r;
    r.limits.done_ms = 5'000;
    for (int i = 0; i < 130; ++i) {
        const std::string id = std::to_string(i);
        const auto added = r.add(id, 0);
        r.begin(id, added.generation);
        r.finish(finish_kind::ack, id, added.generation, 1);
    }
    CHECK(r.next_claim() > 1'000'000);
    r.now += 5'000'000;
    CHECK(r.next_claim() == 0);
    CHECK(r.next_claim() == 0);
    CHECK(r.next_claim() > 1'000'000);
    CHECK(r.table.records().empty());
}

TEST_CASE("table_counts_say_how_long_the_first_overdue_task_has_been_due") {
    table_rig r;
    r.add("far", 60'000);
    CHECK(r.table.counts(r.now).oldest_ms == 0);
    r.add("first", 10);
    r.add("second", 12);
    r.now += 15'000;
    CHECK(r.table.counts(r.now).overdue == 2);
    CHECK(r.table.counts(r.now).oldest_ms == 5);
    r.claim(1); // no more: a worker has it
    CHECK(r.table.counts(r.now).oldest_ms == 3);
}

TEST_CASE("table_undo_takes_changes_back") {
    table_rig r;
    const auto added = r.add("a", 0);
    r.table.note_changes();
    r.begin("a", added.generation);
    r.add("b", 0);
    CHECK(r.table.changed().size() == 2);
    r.table.undo("a");
    r.table.undo("b");
    CHECK(r.state("a") == durable_state::waiting);
    CHECK(r.table.find("b") == nullptr);
    CHECK(r.table.changed().empty());
    CHECK(r.claim(5) == ids_of{"a"});
}
