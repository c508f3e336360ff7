// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A process dies, another one goes on with what was written down. The storage is copied at the moment of death; what the first one does
// afterwards concerns nobody.
#include "support/task_rig.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;
using run_times = std::vector<long>;
using task_names = std::vector<std::string>;

namespace {

/// What a process leaves behind that lives for `life` after its tasks were added.
template <class Add>
memory_storage remains(std::chrono::nanoseconds life, Add add) {
    memory_storage storage;
    task_rig tasks({.storage = &storage});
    tasks->define("note", tasks.note());
    tasks->define("long", tasks.lasting(10s));
    tasks->define("fails", [] { throw std::runtime_error("again"); },
                  {.attempts = 3, .backoff = backoff::constant(5s)});
    add(tasks);
    tasks.pass(life);
    return memory_storage(storage); // as it is now: the rig's end concerns nobody
}

/// The next one, that begins `gap` later.
struct next_process {
    memory_storage storage;
    task_rig tasks;
    task_recovery found;

    next_process(memory_storage remained, std::chrono::nanoseconds gap, task_scheduler_options options = {})
        : storage(std::move(remained)), tasks((options.storage = &storage, std::move(options))) {
        task_wall::present += gap; // the rig has set it to noon
        tasks->define("note", tasks.note());
        tasks->define("long", tasks.lasting(10s));
        tasks->define("fails", tasks.note(), {.attempts = 3, .backoff = backoff::constant(5s)});
        found = tasks->recover();
    }
};

} // namespace

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
        const auto add = [&](std::string name, misfire_policy misfire, task_trigger when) {
            tasks->add({.name = std::move(name), .when = when, .job = "note", .misfire = misfire});
        };
        add("once", misfire_policy::fire_once(), task_trigger::every(10s));
        add("skip", misfire_policy::skip(), task_trigger::every(10s));
        add("three", misfire_policy::catch_up(3), task_trigger::every(10s));
        add("gone", misfire_policy::skip(), task_trigger::once(5s));
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
    std::vector<bool> told;
    tasks->define("long", [&](task_run& run) { told.push_back(run.interrupted()); });
    tasks->recover();
    tasks.pass(25s);
    CHECK(told == std::vector<bool>{true, false});
}

TEST_CASE("recover_may_count_an_interrupted_run_as_a_failure") {
    next_process p(remains(1s, [](task_rig& tasks) { tasks->add({.name = "a", .job = "long"}); }), 10s,
                   {.interrupted = interrupted_runs::fail});
    CHECK(p.found.interrupted == task_names{"a"});
    p.tasks.pass(20s);
    CHECK(p.tasks.began.empty());
    CHECK(p.tasks->find("a")->state == task_state::failed);
    CHECK(p.tasks->find("a")->message == make_error_code(schedule_errc::interrupted).message());
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
                                           .misfire = misfire_policy::catch_up(5)});
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

TEST_CASE("storage_holds_what_has_not_finished_and_a_job_by_name") {
    const auto left_behind = remains(1s, [](task_rig& tasks) {
        tasks->add({.name = "done", .job = "note"});
        tasks->add({.name = "cancelled", .when = task_trigger::once(1h), .job = "note"});
        tasks->cancel("cancelled");
        tasks->add({.name = "running", .job = "long"});
        tasks->add({.name = "with its job", .when = task_trigger::once(1h)}, [] {});
        tasks->add({.name = "replaced", .when = task_trigger::once(1h), .job = "note"});
        tasks->add({.name = "replaced", .when = task_trigger::once(1h)}, [] {}, {}, on_duplicate::replace);
    });
    CHECK(left_behind.size() == 1);
}

TEST_CASE("storage_cancelled_job_does_not_run_again_even_if_it_had_not_stopped") {
    next_process p(remains(1s,
                           [](task_rig& tasks) {
                               tasks->add({.name = "a", .job = "long"});
                               tasks.pass(20ms);
                               CHECK(tasks->cancel("a") == task_cancel_result::running);
                           }),
                   1s);
    CHECK(p.found.tasks == 0);
}

TEST_CASE("storage_stop_leaves_a_running_job_to_recover") {
    next_process p(remains(1s,
                           [](task_rig& tasks) {
                               tasks->add({.name = "a", .job = "long"});
                               tasks->add({.name = "b", .when = task_trigger::once(1h), .job = "note"});
                               tasks.pass(20ms);
                               tasks->stop();
                           }),
                   1s);
    CHECK(p.found.tasks == 2);
    CHECK(p.found.interrupted == task_names{"a"});
}

namespace {

/// Refuses everything while it is broken.
class broken_storage final : public task_storage {
public:
    bool broken = true;

    void save(const task_record& r) override { check(), kept_.save(r); }
    void save_all(std::span<const task_record> r) override { check(), kept_.save_all(r); }
    void erase(std::string_view name) override { check(), kept_.erase(name); }
    contents load() override { return kept_.load(); }
    std::size_t size() const { return kept_.size(); }

private:
    void check() const {
        if (broken) throw std::system_error(std::make_error_code(std::errc::no_space_on_device), "journal");
    }
    memory_storage kept_;
};

} // namespace

TEST_CASE("storage_that_fails_refuses_what_is_added_and_nothing_is_armed") {
    broken_storage storage;
    task_rig tasks({.storage = &storage});
    tasks->define("note", tasks.note());
    CHECK_THROWS_AS(tasks->add({.name = "a", .job = "note"}), std::system_error);
    CHECK_THROWS_AS(tasks->add_all({{.name = "a", .job = "note"}, {.name = "b", .job = "note"}}), std::system_error);
    CHECK(!tasks->find("a").has_value());
    CHECK(tasks.at.wheel.pending() == 0);
}

TEST_CASE("storage_that_fails_when_a_run_begins_fails_the_attempt") {
    broken_storage storage;
    storage.broken = false;
    task_rig tasks({.storage = &storage});
    tasks->define("note", tasks.note(), {.attempts = 2, .backoff = backoff::constant(1s)});
    tasks->add({.name = "a", .job = "note"});
    storage.broken = true;
    tasks.pass(500ms);
    CHECK(tasks.ran.empty());
    CHECK(tasks->find("a")->message.find("journal") != std::string::npos);
    storage.broken = false;
    tasks.pass(1s);
    CHECK(tasks.ran.size() == 1);
    CHECK(storage.size() == 0);
}

TEST_CASE("storage_wheel_that_is_full_takes_nothing_back_that_it_had_not") {
    memory_storage storage;
    virtual_wheel small({.max_pending = 1});
    task_scheduler tasks(small.wheel, {.executor = small.io.get_executor(), .storage = &storage});
    tasks.define("note", [] {});
    const auto result = tasks.add_all({{.name = "a", .when = task_trigger::once(1h), .job = "note"},
                                       {.name = "b", .when = task_trigger::once(1h), .job = "note"},
                                       {.name = "c", .when = task_trigger::once(1h), .job = "note"}});
    CHECK(result.added == 1);
    CHECK(result.refused == errc::too_many_timers);
    CHECK(storage.size() == 1);
    CHECK(tasks.add({.name = "d", .when = task_trigger::once(1h), .job = "note"}) == errc::too_many_timers);
    CHECK(storage.size() == 1);
}

TEST_CASE("storage_stop_keeps_a_run_that_waits_for_the_one_before") {
    memory_storage storage;
    {
        task_rig tasks({.storage = &storage});
        tasks->define("stubborn", [&](task_run&) -> asio::awaitable<void> {
            try {
                co_await tasks.at.wheel.async_wait(1h, asio::use_awaitable);
            } catch (const std::system_error&) {
                // told to stop, it ends well
            }
        });
        tasks->add({.name = "a",
                    .when = task_trigger::every(1s).times(2),
                    .job = "stubborn",
                    .misfire = misfire_policy::catch_up(5)});
        tasks.pass(2500ms);
        tasks->stop();
        tasks.pass(20ms);
    }
    next_process p(storage, 10s);
    int ran = 0;
    p.tasks->define("stubborn", [&] { ++ran; });
    const auto found = p.tasks->recover();
    CHECK(found.tasks == 1);
    p.tasks.pass(1s);
    CHECK(ran == 1);
    CHECK(p.storage.size() == 0);
}

TEST_CASE("storage_stop_takes_no_attempt_from_a_job_that_fails_over_it") {
    memory_storage storage;
    {
        asio::io_context elsewhere;
        task_rig tasks({.executor = elsewhere.get_executor(), .storage = &storage});
        tasks->define("fails", [&] { tasks->stop(), throw std::runtime_error("again"); },
                      {.attempts = 3, .backoff = backoff::constant(5s)});
        tasks->add({.name = "a", .job = "fails"});
        tasks.pass(20ms);
        elsewhere.run();
        CHECK(tasks->counts().running == 0);
    }
    next_process p(storage, 1s);
    CHECK(p.found.tasks == 1);
    CHECK(p.found.interrupted == task_names{"a"});
    p.tasks.pass(10s);
    CHECK(p.tasks->find("a")->history.at(0).attempt == 1);
}

TEST_CASE("storage_wheel_that_was_stopped_first_loses_nothing") {
    memory_storage storage;
    {
        asio::io_context elsewhere;
        task_rig tasks({.executor = elsewhere.get_executor(), .storage = &storage});
        tasks->define("fails", [&] { throw std::runtime_error("again"); },
                      {.attempts = 3, .backoff = backoff::constant(5s)});
        tasks->define("limited", [&] { tasks.ran.push_back(0); }, {.time_limit = 1s});
        tasks->add({.name = "retries", .job = "fails"});
        tasks->add({.name = "has a limit", .job = "limited"});
        tasks->add({.name = "repeats", .when = task_trigger::every(10ms), .job = "limited"});
        tasks.pass(10ms);
        tasks.at.wheel.stop();
        elsewhere.run();
        CHECK(tasks.ran.empty());
        CHECK(storage.size() == 3);
    }
    CHECK(storage.size() == 3);
}

TEST_CASE("storage_wheel_that_is_full_for_a_moment_ends_no_task") {
    memory_storage storage;
    virtual_wheel small({.tick = 10ms, .max_pending = 2});
    asio::io_context elsewhere;
    task_scheduler tasks(small.wheel, {.executor = elsewhere.get_executor(), .storage = &storage});
    int ran = 0;
    tasks.define("fails",
                 [&] {
                     if (++ran == 1) throw std::runtime_error("again");
                 },
                 {.attempts = 2, .backoff = backoff::constant(1s)});
    tasks.add({.name = "a", .job = "fails"});
    small.pass(10ms);
    auto first = small.wheel.schedule(1h, [] {});
    auto second = small.wheel.schedule(1h, [] {});
    elsewhere.run(); // fails, and finds no room for its next attempt
    CHECK(storage.size() == 1);
    first.cancel();
    second.cancel();
    tasks.find("a");
    tasks.cancel("nobody"); // anything that happens
    small.pass(1s);
    elsewhere.restart();
    elsewhere.run();
    CHECK(ran == 2);
    CHECK(storage.size() == 0);
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
    r.runs_left = task_trigger::for_ever;
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

namespace {

struct rude_storage final : task_storage {
    void save(const task_record&) override { throw 7; }
    void save_all(std::span<const task_record>) override { throw 7; }
    void erase(std::string_view) override { throw 7; }
    contents load() override { return {}; }
};

} // namespace

TEST_CASE("storage_may_throw_whatever_it_likes") {
    rude_storage storage;
    task_rig tasks({.storage = &storage});
    tasks->define("note", tasks.note());
    CHECK_THROWS_AS(tasks->add({.name = "a", .job = "note"}), int);
    CHECK(!tasks->find("a").has_value());
}
