// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What runs when, how often, what is tried again, and what is remembered. In virtual time, on one thread.
#include "support/tasks/task_rig.hpp"

#include <asio/multiple_exceptions.hpp>
#include <doctest/doctest.h>

#include <stdexcept>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;
using run_times = std::vector<long>;

TEST_CASE("task_once_runs_once_and_is_completed") {
    task_rig tasks;
    CHECK(!tasks->add({.name = "a", .when = task_trigger::once(50ms)}, tasks.note()));
    CHECK(tasks->find("a")->state == task_state::pending);
    tasks.pass(40ms);
    CHECK(tasks.ran.empty());
    tasks.pass(10s);
    CHECK(tasks.ran == run_times{50});
    const auto a = tasks->find("a").value();
    CHECK(a.state == task_state::completed);
    CHECK(a.completed == 1);
    CHECK(!a.next.has_value());
    REQUIRE(a.history.size() == 1);
    CHECK(a.history[0].scheduled == task_noon + 50ms);
    CHECK(a.history[0].attempt == 1);
    CHECK(tasks.at.wheel.pending() == 0);
}

TEST_CASE("task_periodic_runs_on_its_grid_so_many_times") {
    task_rig tasks;
    tasks->add({.name = "a", .when = task_trigger::every(100ms).first_after(30ms).times(3)}, tasks.note());
    tasks.pass(10s);
    CHECK(tasks.ran == run_times{30, 130, 230});
    CHECK(tasks->find("a")->state == task_state::completed);
    CHECK(tasks->find("a")->runs_left == 0);
}

TEST_CASE("task_cron_follows_the_clock_on_the_wall") {
    task_rig tasks;
    tasks->add({.name = "a", .when = task_trigger::cron("0 13 * * *")}, tasks.note());
    CHECK(tasks->find("a")->next == task_noon + 1h);
    for (int i = 0; i < 59; ++i) tasks.leap(1min);
    CHECK(tasks.ran.empty());
    task_wall::present -= 30min; // somebody sets it back
    for (int i = 0; i < 30; ++i) tasks.leap(1min);
    CHECK(tasks.ran.empty());
    tasks.leap(1min);
    CHECK(tasks.ran.size() == 1);
    CHECK(tasks->find("a")->next == task_noon + 25h);
}

TEST_CASE("task_delays_do_not_follow_the_clock_on_the_wall") {
    task_rig tasks;
    tasks->add({.name = "a", .when = task_trigger::every(1s)}, tasks.note());
    task_wall::present -= 1h;
    tasks.pass(1s);
    task_wall::present += 5h;
    tasks.pass(1s);
    CHECK(tasks.ran.size() == 2);
}

TEST_CASE("task_is_never_run_inline") {
    task_rig tasks;
    tasks->add({.name = "a"}, tasks.note());
    CHECK(tasks.ran.empty());
    tasks.pass(10ms);
    CHECK(tasks.ran.size() == 1);
}

TEST_CASE("task_that_throws_has_failed_and_keeps_the_words") {
    task_rig tasks;
    tasks->add({.name = "throws"}, [] { throw std::runtime_error("disk full"); });
    tasks->add({.name = "odd"}, [] { throw 7; });
    tasks->add({.name = "code"}, [] { return make_error_code(std::errc::permission_denied); });
    tasks->add({.name = "coroutine"}, []() -> asio::awaitable<void> {
        throw std::runtime_error("in a coroutine");
        co_return;
    });
    tasks->add({.name = "several"}, [] { // what a && b and a || b throw
        throw asio::multiple_exceptions(std::make_exception_ptr(std::runtime_error("the first")));
    });
    tasks.pass(20ms);
    CHECK(tasks->find("throws")->state == task_state::failed);
    CHECK(tasks->find("throws")->message == "disk full");
    CHECK(tasks->find("throws")->history.at(0).message == "disk full");
    CHECK(tasks->find("odd")->message == "an exception that is no std::exception");
    CHECK(tasks->find("code")->message == std::make_error_code(std::errc::permission_denied).message());
    CHECK(tasks->find("coroutine")->message == "in a coroutine");
    CHECK(tasks->find("several")->message == "the first");
}

TEST_CASE("task_failed_run_of_a_periodic_task_is_not_the_end") {
    task_rig tasks;
    int runs = 0;
    tasks->add({.name = "a", .when = task_trigger::every(1s)}, [&] {
        if (++runs == 2) throw std::runtime_error("once");
    });
    tasks.pass(3500ms);
    const auto a = tasks->find("a").value();
    CHECK(a.state == task_state::pending);
    CHECK(a.completed == 2);
    CHECK(a.failed == 1);
    CHECK(a.message == "once");
}

TEST_CASE("task_is_tried_again_after_its_backoff") {
    task_rig tasks;
    std::vector<std::uint32_t> attempts;
    const auto job = [&](task_run& run) {
        tasks.ran.push_back(tasks.since());
        attempts.push_back(run.attempt());
        CHECK(run.scheduled() == task_noon + 100ms);
        if (run.attempt() < 3) throw std::runtime_error("not yet");
    };
    tasks->add({.name = "a", .when = task_trigger::once(100ms)}, job,
               {.attempts = 5, .backoff = backoff::exponential(1s)});
    tasks.pass(110ms);
    CHECK(tasks->find("a")->state == task_state::running);
    CHECK(tasks->find("a")->message == "not yet");
    tasks.pass(1min);
    CHECK(tasks.ran == run_times{100, 1100, 3100});
    CHECK(attempts == std::vector<std::uint32_t>{1, 2, 3});
    const auto a = tasks->find("a").value();
    CHECK(a.state == task_state::completed);
    CHECK(a.completed == 1);
    CHECK(a.failed == 0); // runs
    CHECK(a.history.size() == 3);
    CHECK(a.history[0].state == task_state::failed);
}

TEST_CASE("task_that_uses_up_its_attempts_has_failed") {
    task_rig tasks;
    int attempts = 0;
    tasks->add({.name = "a"}, [&] { ++attempts, throw std::runtime_error("never"); },
               {.attempts = 3, .backoff = backoff::constant(1s)});
    tasks.pass(1min);
    CHECK(attempts == 3);
    CHECK(tasks->find("a")->state == task_state::failed);
    CHECK(tasks->find("a")->failed == 1);
}

namespace {

struct broken_generator {
    using result_type = std::uint64_t;
    static constexpr result_type min() { return 0; }
    static constexpr result_type max() { return ~result_type{0}; }
    result_type operator()() { throw std::runtime_error("no entropy"); }
};

} // namespace

TEST_CASE("task_whose_generator_throws_is_tried_again_all_the_same") {
    broken_generator generator;
    task_rig tasks({.random = generator});
    int ran = 0;
    tasks->add({.name = "a"},
               [&] {
                   if (++ran < 3) throw std::runtime_error("again");
               },
               {.attempts = 3, .backoff = backoff::exponential(1s).jitter(backoff_jitter::full)});
    tasks.pass(4s);
    CHECK(ran == 3);
    CHECK(tasks->find("a")->state == task_state::completed);
}

TEST_CASE("task_history_is_bounded_and_keeps_the_last") {
    task_rig tasks({.history = 3});
    tasks->add({.name = "a", .when = task_trigger::every(1s).times(10)}, [] {});
    tasks.pass(11s);
    const auto a = tasks->find("a").value();
    REQUIRE(a.history.size() == 3);
    CHECK(a.history[0].scheduled == task_noon + 8s);
    CHECK(a.history[2].scheduled == task_noon + 10s);
}

TEST_CASE("task_names_are_unique_until_they_have_finished") {
    task_rig tasks;
    CHECK(!tasks->add({.name = "a", .when = task_trigger::once(1s)}, tasks.note()));
    CHECK(tasks->add({.name = "a"}, tasks.note()) == errc::duplicate_key);
    CHECK(!tasks->add({.name = "a"}, tasks.note(), {}, on_duplicate::keep));
    tasks.pass(500ms);
    CHECK(tasks.ran.empty());
    CHECK(!tasks->add({.name = "a", .when = task_trigger::once(2s)}, tasks.note(), {}, on_duplicate::replace));
    tasks.pass(10s);
    CHECK(tasks.ran == run_times{2500});
    CHECK(!tasks->add({.name = "a"}, tasks.note()));
    tasks.pass(1s);
    CHECK(tasks.ran.size() == 2);
    CHECK(tasks->counts().finished == 1);
}

TEST_CASE("task_that_is_refused_leaves_nothing_behind") {
    task_rig tasks;
    CHECK(tasks->add({.name = ""}, [] {}) == task_errc::no_name);
    CHECK(tasks->add({.name = "a", .when = task_trigger::every(0s)}, [] {}) == task_errc::bad_period);
    CHECK(tasks->add({.name = "a", .when = task_trigger::every(1s).times(-1)}, [] {}) == task_errc::bad_times);
    CHECK(tasks->add({.name = "a", .job = "nobody"}) == task_errc::unknown_job);
    CHECK_THROWS_AS(tasks->add({.name = "a"}, [] {}, {.attempts = 0}), std::invalid_argument);
    CHECK_THROWS_AS(tasks->add({.name = "a"}, [] {}, {.timeout = 0s}), std::invalid_argument);
    CHECK(!tasks->find("a").has_value());
    CHECK(tasks.at.wheel.pending() == 0);
    tasks.at.wheel.stop();
    CHECK(tasks->add({.name = "a"}, [] {}) == errc::stopped);
    CHECK(!tasks->find("a").has_value());
}

TEST_CASE("task_finished_ones_are_forgotten_in_order") {
    task_rig tasks({.finished = 2});
    for (const char* name : {"a", "b", "c"}) {
        tasks->add({.name = name}, [] {});
        tasks.pass(20ms);
    }
    CHECK(!tasks->find("a").has_value());
    CHECK(tasks->find("b").has_value());
    CHECK(tasks->forget("b"));
    CHECK(!tasks->forget("b"));
    CHECK(tasks->snapshot().size() == 1);
}

TEST_CASE("task_batch_stops_at_the_first_that_is_refused") {
    task_rig tasks;
    tasks->define("note", tasks.note());
    std::vector<task> batch{{.name = "a", .job = "note"},
                            {.name = "b", .job = "note"},
                            {.name = "a", .job = "note"},
                            {.name = "c", .job = "note"}};
    const auto result = tasks->add_all(batch);
    CHECK(result.added == 2);
    CHECK(result.refused == errc::duplicate_key);
    CHECK(!tasks->find("c").has_value());
    tasks.pass(20ms);
    CHECK(tasks.ran.size() == 2);
}

TEST_CASE("task_missed_in_a_blocked_loop_follows_its_policy") {
    task_rig tasks;
    const auto add = [&](std::string name, task_misfire policy) {
        tasks->add({.name = std::move(name),
                    .when = task_trigger::every(10s),
                    .misfire = policy,
                    .overlap = task_overlap::allow},
                   [] {});
    };
    add("once", task_misfire::fire_once());
    add("skip", task_misfire::skip());
    add("two", task_misfire::catch_up(2));
    tasks.leap(45s);
    CHECK(tasks->find("once")->completed == 1);
    CHECK(tasks->find("once")->missed == 3);
    CHECK(tasks->find("skip")->completed == 0);
    CHECK(tasks->find("skip")->missed == 4);
    CHECK(tasks->find("two")->completed == 2);
    tasks.pass(6s);
    CHECK(tasks->find("skip")->completed == 1);
}

TEST_CASE("task_once_that_was_missed_and_skipped_has_failed") {
    task_rig tasks;
    tasks->add({.name = "a", .when = task_trigger::once(1s), .misfire = task_misfire::skip()}, tasks.note());
    tasks.leap(10s);
    CHECK(tasks.ran.empty());
    CHECK(tasks->find("a")->state == task_state::failed);
    CHECK(tasks->find("a")->message == make_error_code(task_errc::missed).message());
}

TEST_CASE("task_scheduler_lets_run_return_and_holds_it_while_jobs_run") {
    task_rig tasks;
    asio::io_context elsewhere;
    tasks->add({.name = "a"}, [&] { throw std::runtime_error("again"); },
               {.attempts = 2, .backoff = backoff::constant(1s), .executor = elsewhere.get_executor()});
    tasks.pass(20ms);
    CHECK(tasks.at.wheel.pending() == 0);
    tasks.at.io.restart();
    tasks.at.io.poll();
    CHECK(!tasks.at.io.stopped()); // its job waits elsewhere, and will want the wheel
    elsewhere.run();
    CHECK(tasks.at.wheel.pending() == 1);
    tasks.pass(1s);
    elsewhere.restart();
    elsewhere.run();
    tasks.at.io.restart();
    tasks.at.io.poll();
    CHECK(tasks.at.io.stopped());
}

TEST_CASE("task_scheduler_refuses_options_with_a_sentence") {
    CHECK_THROWS_WITH_AS(task_scheduler_options{.storage_pause = 0s}.validate(),
                         "cogwheel::task_scheduler_options: storage_pause is 0s, but must be above zero; a second "
                         "suits a full disk",
                         std::invalid_argument);
    CHECK_THROWS_WITH_AS(task_scheduler_options{.misfire_grace = -1s}.validate(),
                         "cogwheel::task_scheduler_options: misfire_grace is -1s, but must be zero or more",
                         std::invalid_argument);
    CHECK_THROWS_AS(task_scheduler_options{.recheck = 0s}.validate(), std::invalid_argument);
    CHECK_THROWS_AS((task_scheduler_options{.pool = {.threads = 100'000}}.validate()), std::invalid_argument);
}

TEST_CASE("task_paused_begins_no_run_and_resumed_follows_its_misfire_policy") {
    task_rig tasks;
    tasks->add({.name = "a", .when = task_trigger::every(100ms)}, tasks.note());
    tasks.pass(150ms);
    CHECK(tasks->pause("a"));
    CHECK(tasks->pause("a"));
    CHECK(!tasks->pause("b"));
    CHECK(!tasks->resume("b"));
    CHECK(tasks->find("a")->paused);
    CHECK(tasks->find("a")->state == task_state::pending);
    CHECK(tasks.at.wheel.pending() == 0);
    tasks.pass(10s);
    CHECK(tasks.ran == run_times{100});
    CHECK(tasks->resume("a"));
    CHECK(!tasks->find("a")->paused);
    tasks.pass(20ms);
    REQUIRE(tasks.ran.size() == 2); // fire_once: the last of those that were due
    tasks.pass(100ms);
    CHECK(tasks.ran.size() == 3);
    CHECK(tasks->find("a")->missed == 99);
    CHECK(tasks->cancel("a") == task_cancel_result::cancelled);
    CHECK(!tasks->pause("a"));
    CHECK(!tasks->find("a")->paused);
}

TEST_CASE("task_resumed_with_runs_that_wait_begins_as_many_as_may_run") {
    task_rig tasks;
    tasks->add({.name = "a",
                .when = task_trigger::every(100ms).times(8),
                .misfire = task_misfire::catch_up(5),
                .overlap = task_overlap::allow,
                .most_at_once = 3},
               tasks.lasting(750ms));
    tasks.pass(820ms); // three run, five wait
    CHECK(tasks.began.size() == 3);
    CHECK(tasks->pause("a"));
    tasks.pass(1s);
    CHECK(tasks.ran.size() == 3);
    CHECK(tasks.began.size() == 3);
    CHECK(tasks->resume("a"));
    tasks.pass(20ms);
    CHECK(tasks.began.size() == 6);
    tasks.pass(2s);
    CHECK(tasks->find("a")->completed == 8);
    CHECK(tasks->find("a")->dropped == 0);
}

TEST_CASE("task_paused_before_its_only_run") {
    task_rig tasks;
    tasks->add({.name = "skips", .when = task_trigger::once(1s), .misfire = task_misfire::skip()}, tasks.note());
    tasks->add({.name = "late", .when = task_trigger::once(1s)}, tasks.note());
    tasks->add({.name = "in time", .when = task_trigger::once(1h)}, tasks.note());
    for (const char* name : {"skips", "late", "in time"}) CHECK(tasks->pause(name));
    tasks.pass(1min);
    CHECK(tasks.ran.empty());
    for (const char* name : {"skips", "late", "in time"}) CHECK(tasks->resume(name));
    tasks.pass(20ms);
    CHECK(tasks.ran.size() == 1);
    CHECK(tasks->find("skips")->state == task_state::failed);
    CHECK(tasks->find("late")->state == task_state::completed);
    CHECK(tasks->find("in time")->state == task_state::pending);
}

TEST_CASE("task_jitter_delays_runs_by_a_random_part_and_keeps_the_grid") {
    task_rig tasks;
    tasks->add({.name = "a", .when = task_trigger::every(100ms).jitter(50ms).times(20)}, tasks.note());
    tasks.pass(10s);
    REQUIRE(tasks.ran.size() == 20);
    bool later = false;
    for (long i = 0; i < 20; ++i) {
        const long due = 100 * (i + 1), ran = tasks.ran[static_cast<std::size_t>(i)];
        CHECK(ran >= due);
        CHECK(ran <= due + 60);
        later |= ran > due + 10;
    }
    CHECK(later);
    const auto a = tasks->find("a").value();
    CHECK(a.missed == 0);
    CHECK(a.history.back().scheduled == task_noon + 2s);
}

TEST_CASE("task_ends_at_its_date") {
    task_rig tasks;
    tasks->add({.name = "every", .when = task_trigger::every(100ms).until(task_noon + 350ms)}, tasks.note());
    tasks->add({.name = "cron", .when = task_trigger::cron("* * * * * *").until(task_noon + 2s)}, [] {});
    CHECK(tasks->add({.name = "late", .when = task_trigger::once(1s).until(task_noon)}, [] {}) == task_errc::never);
    tasks.pass(10s);
    CHECK(tasks.ran == run_times{100, 200, 300});
    CHECK(tasks->find("every")->state == task_state::completed);
    CHECK(tasks->find("cron")->completed >= 2);
    CHECK(tasks->find("cron")->state == task_state::completed);
    CHECK(tasks->add({.name = "none", .most_at_once = 0}, [] {}) == task_errc::bad_times);
}
