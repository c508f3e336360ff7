// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// task_scheduler::stats() agrees with the observer's events, with counts() and with snapshot(), whatever happens.
#include "support/random.hpp"
#include "support/tasks/task_rig.hpp"

#include <doctest/doctest.h>

#include <array>
#include <map>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

/// Counts what happens to runs and attempts by the observer's events.
struct event_counts final : task_observer {
    std::map<task_event::kind, std::uint64_t> of;
    std::uint64_t retries = 0;
    void on_event(const task_event& e) noexcept override {
        ++of[e.what];
        if (e.what == task_event::kind::started && e.attempt > 1) ++retries;
    }
};

} // namespace

TEST_CASE("task_stats_random_script_agrees_with_events_and_tasks_after_each_step") {
    using kind = task_event::kind;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        CAPTURE(seed);
        random_source random(seed);
        event_counts events;
        task_rig tasks({.observer = &events});
        std::uint64_t missed_of_gone = 0, dropped_of_gone = 0;
        const auto gone = [&](const std::string& name) {
            const auto t = tasks->find(name);
            missed_of_gone += t ? t->missed : 0;
            dropped_of_gone += t ? t->dropped : 0;
        };
        const auto add = [&](const std::string& name) {
            const auto delay = std::chrono::milliseconds(1 + random.below(400));
            const auto period = std::chrono::milliseconds(60 + random.below(300));
            const auto times = static_cast<std::int64_t>(1 + random.below(20));
            const std::array triggers{task_trigger::once(delay), task_trigger::every(period).times(times),
                                      task_trigger::every(period).jitter(50ms),
                                      task_trigger::at(task_wall::present + delay), task_trigger::cron("@every 1s")};
            const std::array misfires{task_misfire::fire_once(), task_misfire::skip(), task_misfire::catch_up(3)};
            const std::array overlaps{task_overlap::forbid, task_overlap::allow, task_overlap::replace};
            job_options options{.attempts = 1 + static_cast<std::uint32_t>(random.below(3)),
                                .backoff = backoff::constant(std::chrono::milliseconds(random.below(200)))};
            if (random.below(2) == 0) options.timeout = std::chrono::milliseconds(1 + random.below(150));
            task t{.name = name,
                   .when = triggers.at(random.below(triggers.size())),
                   .misfire = misfires.at(random.below(misfires.size())),
                   .overlap = overlaps.at(random.below(overlaps.size()))};
            gone(name);
            const auto how = on_duplicate::replace;
            switch (random.below(3)) {
            case 0:
                CHECK_FALSE(tasks->add(t, failing_job(static_cast<int>(random.below(4))), options, how));
                break;
            case 1:
                CHECK_FALSE(tasks->add(t, tasks.lasting(delay), options, how));
                break;
            default:
                CHECK_FALSE(tasks->add(t, [] { manual_clock::advance(3ms); }, options, how));
            }
        };
        for (int step = 0; step < 150; ++step) {
            const std::string name(1, static_cast<char>('a' + random.below(6)));
            switch (random.below(step < 140 ? 10 : 11)) {
            case 0:
            case 1:
                if (step < 140) add(name);
                break;
            case 2:
                tasks->cancel(name);
                break;
            case 3:
                tasks->pause(name);
                break;
            case 4:
                tasks->resume(name);
                break;
            case 5:
                if (const auto t = tasks->find(name); t && t->state >= task_state::completed) {
                    gone(name);
                    CHECK(tasks->forget(name));
                }
                break;
            case 6:
                tasks.leap(std::chrono::milliseconds(random.below(2500)));
                break;
            case 7:
                if (random.below(4) == 0) tasks.at.wheel.cancel_all();
                tasks.run();
                break;
            case 10:
                tasks->stop();
                break;
            default:
                tasks.pass(std::chrono::milliseconds(random.below(300)));
            }
            const task_stats s = tasks->stats();
            const task_counts n = tasks->counts();
            std::uint64_t missed = missed_of_gone, dropped = dropped_of_gone;
            std::size_t paused = 0, armed = 0;
            for (const task_info& t : tasks->snapshot()) {
                missed += t.missed;
                dropped += t.dropped;
                paused += t.paused;
                armed += t.state == task_state::pending && t.next && !t.paused;
            }
            REQUIRE(stats_agree(s));
            REQUIRE(s.tasks.jobs == n.jobs);
            REQUIRE(s.tasks.pending + s.tasks.queued + s.tasks.running == n.pending + n.queued + n.running);
            REQUIRE(s.tasks.finished == n.finished);
            REQUIRE(s.attempts == events.of[kind::started]);
            REQUIRE(s.retries == events.retries);
            REQUIRE(s.completed == events.of[kind::completed]);
            REQUIRE(s.failed == events.of[kind::failed]);
            REQUIRE(s.cancelled == events.of[kind::cancelled]);
            REQUIRE(s.missed == missed);
            REQUIRE(s.dropped == dropped);
            REQUIRE(s.paused == paused);
            if (step < 140) REQUIRE(in_all_levels(s) == armed);
        }
    }
}
