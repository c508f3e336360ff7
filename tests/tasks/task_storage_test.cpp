// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What is written down and when, and a storage that refuses.
#include "support/tasks/task_processes.hpp"

#include <doctest/doctest.h>

#include <span>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;
using task_names = std::vector<std::string>;

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

TEST_CASE("storage_that_fails_when_a_run_begins_puts_the_attempt_off_and_takes_none") {
    broken_storage storage;
    storage.broken = false;
    task_rig tasks({.storage = &storage});
    std::vector<std::uint32_t> attempts;
    tasks->define("job", [&](task_run& run) { attempts.push_back(run.attempt()); }, {.timeout = 500ms});
    tasks->add({.name = "a", .job = "job"});
    storage.broken = true;
    tasks.pass(10s);
    CHECK(attempts.empty());
    CHECK(tasks->find("a")->message.find("journal") != std::string::npos);
    CHECK(tasks->find("a")->failed == 0);
    CHECK(storage.size() == 1);
    storage.broken = false;
    tasks.pass(1s);
    CHECK(attempts == std::vector<std::uint32_t>{1});
    CHECK(tasks->find("a")->state == task_state::completed);
    CHECK(storage.size() == 0);
}

TEST_CASE("storage_that_fails_until_the_end_of_the_process_leaves_the_run_to_recover") {
    broken_storage broken;
    broken.broken = false;
    {
        task_rig tasks({.storage = &broken});
        tasks->define("note", tasks.note(), {.attempts = 2, .backoff = backoff::constant(5s)});
        tasks->add({.name = "a", .job = "note"});
        broken.broken = true;
        tasks.pass(3s);
        tasks->stop();
        tasks.pass(20ms);
        CHECK(tasks.ran.empty());
    }
    broken.broken = false;
    task_rig next({.storage = &broken});
    std::vector<std::uint32_t> attempts;
    next->define("note", [&](task_run& run) { attempts.push_back(run.attempt()); });
    const task_recovery found = next->recover();
    CHECK(found.tasks == 1);
    CHECK(found.interrupted.empty());
    next.pass(1s);
    CHECK(attempts == std::vector<std::uint32_t>{1});
    CHECK(broken.size() == 0);
}

TEST_CASE("storage_that_fails_takes_no_attempt_of_a_retry_and_cancel_ends_what_is_put_off") {
    broken_storage storage;
    storage.broken = false;
    task_rig tasks({.storage = &storage});
    std::vector<std::uint32_t> attempts;
    tasks->define("fails", [&](task_run& run) { attempts.push_back(run.attempt()), throw std::runtime_error("again"); },
                  {.attempts = 3, .backoff = backoff::constant(1s)});
    tasks->add({.name = "a", .job = "fails"});
    tasks.pass(500ms);
    CHECK(attempts == std::vector<std::uint32_t>{1});
    storage.broken = true;
    tasks.pass(5s);
    CHECK(attempts == std::vector<std::uint32_t>{1});
    tasks->pause("a"); // stored once the storage is well: as an attempt that has not begun
    storage.broken = false;
    tasks.pass(5s);
    CHECK(attempts == std::vector<std::uint32_t>{1, 2, 3});
    CHECK(tasks->find("a")->failed == 1);

    tasks->add({.name = "b", .job = "fails"});
    storage.broken = true;
    tasks.pass(500ms);
    CHECK(tasks->cancel("b") == task_cancel_result::cancelled);
    tasks.pass(5s);
    CHECK(attempts.size() == 3);
    CHECK(tasks.at.wheel.pending() == 0);
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
                    .misfire = task_misfire::catch_up(5)});
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
