// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A process dies, another one goes on with what was written down. The storage is copied at the moment of death; what
// the first one does afterwards concerns nobody.
#include "support/tasks/task_processes.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;
using run_times = std::vector<long>;
using task_names = std::vector<std::string>;

TEST_CASE("recover_goes_on_with_what_was_pending") {
    next_process p(remains(1s,
                           [](task_rig& tasks) {
                               tasks->add(
                                   {.name = "a", .when = task_trigger::once(30s), .job = "note", .body = "to whom"});
                               tasks->add({.name = "b", .when = task_trigger::every(20s).times(3), .job = "note"});
                               tasks->add({.name = "c", .when = task_trigger::cron("5 12 * * *"), .job = "note"});
                           }),
                   10s);
    CHECK(p.found.tasks == 3);
    CHECK(p.found.interrupted.empty());
    CHECK(p.tasks->find("a")->next == task_noon + 30s);
    p.tasks.pass(6min);
    CHECK(p.tasks.ran == run_times{20'000, 30'000, 40'000, 60'000, 300'000});
    CHECK(p.storage.size() == 1); // the daily one
}

TEST_CASE("recover_knows_how_many_runs_are_left") {
    next_process p(remains(25s,
                           [](task_rig& tasks) {
                               tasks->add({.name = "b", .when = task_trigger::every(10s).times(5), .job = "note"});
                           }),
                   26s);
    CHECK(p.tasks->find("b")->runs_left == 3);
    p.tasks.pass(1min);
    CHECK(p.tasks.ran.size() == 3);
    CHECK(p.storage.size() == 0);
}

TEST_CASE("recover_past_due_tasks_follow_their_misfire_policy") {
    const auto left_behind = remains(1s, [](task_rig& tasks) {
        const auto add = [&](std::string name, task_misfire misfire, task_trigger when) {
            tasks->add({.name = std::move(name), .when = when, .job = "note", .misfire = misfire});
        };
        add("once", task_misfire::fire_once(), task_trigger::every(10s));
        add("skip", task_misfire::skip(), task_trigger::every(10s));
        add("three", task_misfire::catch_up(3), task_trigger::every(10s));
        add("gone", task_misfire::skip(), task_trigger::once(5s));
    });
    next_process p(left_behind, 65s);
    p.tasks.pass(1s);
    CHECK(p.tasks->find("once")->completed == 1);
    CHECK(p.tasks->find("once")->missed == 5);
    CHECK(p.tasks->find("skip")->completed == 0);
    CHECK(p.tasks->find("skip")->missed == 6);
    CHECK(p.tasks->find("three")->completed == 3);
    CHECK(p.tasks->find("three")->next == task_noon + 70s);
    CHECK(p.tasks->find("gone")->state == task_state::failed);
}

TEST_CASE("recover_reports_a_job_that_was_running_and_runs_it_again") {
    next_process p(remains(1s, [](task_rig& tasks) { tasks->add({.name = "a", .job = "long", .body = "b"}); }), 10s);
    CHECK(p.found.interrupted == task_names{"a"});
    p.tasks.pass(20s);
    CHECK(p.tasks.began.size() == 1);
    CHECK(p.tasks.ran.size() == 1);
    CHECK(p.tasks->find("a")->history.at(0).attempt == 1);
    CHECK(p.tasks->find("a")->history.at(0).scheduled == task_noon);
    CHECK(p.storage.size() == 0);
}

TEST_CASE("recover_tells_the_job_that_it_had_begun") {
    memory_storage storage = remains(
        1s, [](task_rig& tasks) { tasks->add({.name = "a", .when = task_trigger::every(10s), .job = "long"}); });
    {
        task_rig first({.storage = &storage});
        first->define("long", first.lasting(1h));
        first->recover();
        first.pass(12s);
        first->stop();
    }
    task_rig tasks({.storage = &storage});
    task_wall::present += 12s; // the rig has set it to noon
    std::vector<bool> told;
    tasks->define("long", [&](task_run& run) { told.push_back(run.interrupted()); });
    tasks->recover();
    tasks.pass(13s);
    CHECK(told == std::vector<bool>{true, false});
}

TEST_CASE("recover_may_count_an_interrupted_run_as_a_failure") {
    next_process p(remains(1s, [](task_rig& tasks) { tasks->add({.name = "a", .job = "long"}); }), 10s,
                   {.interrupted = interrupted_runs::fail});
    CHECK(p.found.interrupted == task_names{"a"});
    p.tasks.pass(20s);
    CHECK(p.tasks.began.empty());
    CHECK(p.tasks->find("a")->state == task_state::failed);
    CHECK(p.tasks->find("a")->message == make_error_code(task_errc::interrupted).message());
    CHECK(p.storage.size() == 0);
}

TEST_CASE("recover_between_attempts_makes_the_next_one_at_its_time") {
    next_process p(remains(1s, [](task_rig& tasks) { tasks->add({.name = "a", .job = "fails"}); }), 2s);
    CHECK(p.found.interrupted.empty());
    p.tasks.pass(2s);
    CHECK(p.tasks.ran.empty());
    p.tasks.pass(2s); // the first one was made in the first turn
    CHECK(p.tasks.ran == run_times{5010});
    CHECK(p.tasks->find("a")->history.at(0).attempt == 2);
}

TEST_CASE("recover_keeps_runs_that_wait_for_the_one_before") {
    next_process p(remains(25s,
                           [](task_rig& tasks) {
                               tasks->define("endless", tasks.lasting(1h));
                               tasks->add({.name = "a",
                                           .when = task_trigger::every(10s).times(2),
                                           .job = "endless",
                                           .misfire = task_misfire::catch_up(5)});
                               tasks->add({.name = "b", .when = task_trigger::once(15s), .job = "endless"});
                           }),
                   26s);
    CHECK(p.found.tasks == 0);
    CHECK(p.found.unknown_jobs == task_names{"a", "b"});
    CHECK(p.storage.size() == 2);
    p.tasks->define("endless", p.tasks.note());
    const auto found = p.tasks->recover();
    CHECK(found.interrupted == task_names{"a", "b"});
    p.tasks.pass(1s);
    CHECK(p.tasks->find("a")->completed == 2);
    CHECK(p.storage.size() == 0);
}

// What a process leaves behind whose job "renamed" the next one does not define.
memory_storage with_a_renamed_job() {
    return remains(1s, [](task_rig& tasks) {
        tasks->define("renamed", tasks.note());
        tasks->add({.name = "a", .when = task_trigger::once(30s), .job = "renamed"});
    });
}

TEST_CASE("recover_unknown_job_the_name_is_taken_until_the_job_is_defined") {
    next_process p(with_a_renamed_job(), 10s);
    CHECK(p.found.unknown_jobs == task_names{"a"});
    const task_trigger soon = task_trigger::once(1s);
    CHECK(p.tasks->add({.name = "a", .when = soon, .job = "note"}) == errc::duplicate_key);
    CHECK(p.tasks->add({.name = "a", .when = soon}, p.tasks.note()) == errc::duplicate_key);
    CHECK_FALSE(p.tasks->add({.name = "a", .when = soon, .job = "note"}, on_duplicate::keep));
    CHECK(p.tasks->add_all({{.name = "a", .when = soon, .job = "note"}}).refused == errc::duplicate_key);
    CHECK_FALSE(p.tasks->find("a"));
    p.tasks->define("renamed", p.tasks.note());
    CHECK(p.tasks->recover().tasks == 1);
    CHECK(p.tasks->find("a")->next == task_noon + 30s);
    p.tasks.pass(30s);
    CHECK(p.tasks.ran == run_times{30'000});
    CHECK(p.storage.size() == 0);
    CHECK_FALSE(p.tasks->add({.name = "a", .when = soon, .job = "note"})); // it has ended: the name is free
}

TEST_CASE("recover_unknown_job_a_new_task_may_replace_it") {
    next_process stored(with_a_renamed_job(), 10s);
    CHECK_FALSE(stored.tasks->add({.name = "a", .when = task_trigger::once(1h), .job = "note"}, on_duplicate::replace));
    CHECK(stored.storage.size() == 1);
    CHECK(stored.storage.load().tasks.at(0).task.job == "note");
    CHECK(stored.tasks->add({.name = "a", .when = task_trigger::once(1h), .job = "note"}) == errc::duplicate_key);

    next_process own(with_a_renamed_job(), 10s);
    CHECK_FALSE(
        own.tasks->add({.name = "a", .when = task_trigger::once(1s)}, own.tasks.note(), {}, on_duplicate::replace));
    CHECK(own.storage.size() == 0); // nothing is left for the next process
}

TEST_CASE("recover_unknown_job_cancel_removes_it_from_the_storage") {
    next_process p(with_a_renamed_job(), 10s);
    CHECK(p.tasks->cancel("a") == task_cancel_result::cancelled);
    CHECK(p.storage.size() == 0);
    CHECK(p.tasks->cancel("a") == task_cancel_result::not_found);
    CHECK_FALSE(p.tasks->add({.name = "a", .when = task_trigger::once(1s), .job = "note"}));
}

TEST_CASE("recover_leaves_alone_what_was_added_before") {
    const auto left_behind =
        remains(1s, [](task_rig& tasks) { tasks->add({.name = "a", .when = task_trigger::once(1h), .job = "note"}); });
    memory_storage storage = left_behind;
    task_rig tasks({.storage = &storage});
    tasks->define("note", tasks.note());
    tasks->add({.name = "a", .when = task_trigger::once(5s), .job = "note"}, on_duplicate::reject);
    const auto found = tasks->recover();
    CHECK(found.tasks == 0);
    REQUIRE(found.warnings.size() == 1);
    CHECK(found.warnings[0].find("'a'") != std::string::npos);
}

TEST_CASE("recover_without_a_storage_says_so") {
    task_rig tasks;
    CHECK_THROWS_AS(tasks->recover(), std::invalid_argument);
}

namespace {

/// Knows the smallest record that it was ever given.
struct fewest_runs final : task_storage {
    memory_storage kept;
    std::size_t fewest = ~std::size_t{0};

    void save(const task_record& r) override {
        fewest = std::min(fewest, r.runs.size());
        kept.save(r);
    }
    void save_all(std::span<const task_record> r) override { kept.save_all(r); }
    void erase(std::string_view name) override { kept.erase(name); }
    contents load() override { return kept.load(); }
};

} // namespace

TEST_CASE("recover_writes_down_all_runs_of_a_task_at_once") {
    using run = task_run_record;
    fewest_runs storage;
    task_record r;
    r.task = {.name = "a", .when = task_trigger::every(1h), .job = "note", .overlap = task_overlap::allow};
    r.runs_left = forever;
    r.next = task_noon + 1h;
    r.runs = {run{task_noon, 1, {}}, run{task_noon, 2, task_noon + 10s}, run{task_noon, 1, {}}};
    storage.kept.save(r);
    task_rig tasks({.storage = &storage, .interrupted = interrupted_runs::fail});
    tasks->define("note", tasks.note(), {.attempts = 2, .backoff = backoff::constant(1h)});
    CHECK(tasks->recover().interrupted.size() == 2);
    CHECK(storage.fewest == 3); // it may die at any moment
    CHECK(storage.load().tasks.at(0).runs.at(1).retry_at == task_noon + 10s);
}

TEST_CASE("recover_does_not_install_what_has_no_run_left") {
    memory_storage storage;
    task_record r;
    r.task = {.name = "a", .job = "note"};
    storage.save(r);
    task_rig tasks({.storage = &storage});
    tasks->define("note", tasks.note());
    const auto found = tasks->recover();
    CHECK(found.tasks == 0);
    CHECK(found.warnings.size() == 1);
    CHECK(storage.size() == 0);
    CHECK(!tasks->add({.name = "a", .job = "note"}));
}
