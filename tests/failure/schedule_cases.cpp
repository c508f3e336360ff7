// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "failure/trial.hpp"

#include <cogwheel/schedule/interval.hpp>
#include <cogwheel/schedule/keyed_timers.hpp>
#include <cogwheel/schedule/wall_clock.hpp>
#include <cogwheel/tasks/task_scheduler.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>

namespace failure {

using namespace std::chrono_literals;

namespace schedule_case {
namespace {

void end(trial& t) {
    t.run();
    t.settle();
}

auto copyable(watched h) {
    return [kept = std::make_shared<watched>(std::move(h))](auto&&...) { (*kept)(); };
}

void interval(trial& t) {
    cogwheel::interval every(t.wheel, {.period = 1ms, .times = 2});
    t.begin();
    for (int i = 0; i < 3; ++i) { // the last one is refused, as is a second at a time
        t.start([&](watched h) { every.async_tick(std::move(h)); });
        t.start([&](watched h) { every.async_tick(std::move(h)); });
        t.run();
    }
    end(t);
}

void interval_cancelled(trial& t) {
    std::optional<cogwheel::interval<>> every(std::in_place, t.wheel, cogwheel::interval_options{.period = 1h});
    asio::cancellation_signal signal;
    t.begin();
    t.start([&](watched h) { every->async_tick(std::move(h)); });
    t.insist([&] { every->cancel(); });
    t.run();
    t.start([&](watched h) { every->async_tick(asio::bind_cancellation_slot(signal.slot(), std::move(h))); });
    t.insist([&] { signal.emit(asio::cancellation_type::terminal); });
    t.run();
    t.start([&](watched h) { every->async_tick(std::move(h)); });
    every.reset();
    end(t);
}

void keyed(trial& t, bool elsewhere) {
    std::optional<cogwheel::keyed_timers<std::string>> timers;
    if (elsewhere)
        timers.emplace(t.wheel, t.elsewhere);
    else
        timers.emplace(t.wheel);
    t.begin();
    t.start_bound([&](watched h) { timers->add("a key that is not short", 1ms, copyable(std::move(h))); });
    t.start_bound([&](watched h) { timers->add("b", 2ms, copyable(std::move(h))); });
    t.start_silent([&](watched h) { timers->add("c", 1h, copyable(std::move(h))); });
    t.attempt([&] { timers->touch("b", 1ms); });
    timers->remove("c");
    end(t);
}
void keyed_in_the_turn(trial& t) { keyed(t, false); }
void keyed_elsewhere(trial& t) { keyed(t, true); }

void calendar(trial& t) {
    t.begin();
    t.start([&](watched h) {
        cogwheel::async_wait_until_date(t.wheel, std::chrono::system_clock::now() + 2ms, {.recheck = 1ms},
                                        std::move(h));
    });
    end(t);
}

void calendar_cancelled(trial& t) {
    asio::cancellation_signal signal;
    t.begin();
    t.start([&](watched h) {
        cogwheel::async_wait_until_date(t.wheel, std::chrono::system_clock::now() + 1h,
                                        asio::bind_cancellation_slot(signal.slot(), std::move(h)));
    });
    t.insist([&] { signal.emit(asio::cancellation_type::terminal); });
    end(t);
}

// ---- tasks: a run whose memory is missing has failed, and says so ----

class task_trial {
public:
    explicit task_trial(trial& t, cogwheel::task_storage* storage = nullptr)
        : trial_(t),
          scheduler(t.wheel,
                    {.executor = t.io.get_executor(), .history = 2, .storage = storage, .storage_pause = 1ms}) {}

    void add(const char* name, cogwheel::task_trigger when, cogwheel::job_options options = {}, int failures = 0,
             cogwheel::task_overlap overlap = cogwheel::task_overlap::forbid) {
        tried& one = tasks_.at(count_++);
        one.name = name;
        one.added = trial_.attempt([&] {
            auto job = [ran = &one.ran, failures] {
                if (++*ran <= failures) throw std::runtime_error("a trouble that takes more than a few bytes to say");
            };
            const auto refused = scheduler.add({.name = name, .when = when, .overlap = overlap}, job, options);
            if (refused) trial_.fault("refused, though it need not be");
        });
    }

    /// All of them are over, and those that did not run have failed.
    void end() {
        schedule_case::end(trial_);
        for (std::size_t i = 0; i < count_; ++i) {
            const tried& one = tasks_[i];
            const auto info = scheduler.find(one.name);
            if (one.added != info.has_value()) return trial_.fault("add() threw and added, or neither");
            if (!info) continue;
            using enum cogwheel::task_state;
            if (info->state == pending || info->state == queued || info->state == running)
                return trial_.fault("lost: a task that never ends");
            if (one.ran == 0 && info->failed == 0 && info->state != cancelled)
                return trial_.fault("lost: a task that never ran, and has not failed");
            if (info->completed > static_cast<std::uint64_t>(one.ran))
                return trial_.fault("completed without having run");
        }
        if (scheduler.counts().jobs != 0) trial_.fault("jobs that never end");
        const cogwheel::task_stats s = scheduler.stats();
        if (s.runs_started != s.completed + s.failed + s.cancelled) trial_.fault("runs without an end in the counts");
    }

private:
    struct tried {
        const char* name = "";
        bool added = false;
        int ran = 0;
    };
    trial& trial_;
    std::array<tried, 4> tasks_;
    std::size_t count_ = 0;

public:
    cogwheel::task_scheduler scheduler;
};

void tasks(trial& t) {
    task_trial all(t);
    t.begin();
    all.add("a task whose name takes memory", cogwheel::task_trigger::once(1ms));
    all.add("b", cogwheel::task_trigger::once(0ms));
    all.end();
}

void tasks_with_retries(trial& t) {
    task_trial all(t);
    cogwheel::job_options options{.attempts = 3, .timeout = 1h};
    options.backoff = cogwheel::backoff::constant(1ms);
    t.begin();
    all.add("fails twice", cogwheel::task_trigger::once(1ms), options, 2);
    all.add("fails to the end", cogwheel::task_trigger::once(1ms), options, 3);
    all.end();
}

void tasks_that_repeat(trial& t) {
    task_trial all(t);
    t.begin();
    all.add("every 1 ms", cogwheel::task_trigger::every(1ms).times(3));
    all.add("replaced", cogwheel::task_trigger::every(1ms).times(3), {}, 0, cogwheel::task_overlap::replace);
    all.add("beside", cogwheel::task_trigger::every(1ms).times(3), {}, 0, cogwheel::task_overlap::allow);
    all.end();
}

void tasks_cancelled(trial& t) {
    task_trial all(t);
    cogwheel::job_options options{.attempts = 2};
    options.backoff = cogwheel::backoff::constant(1h);
    t.begin();
    all.add("waits", cogwheel::task_trigger::once(1h));
    all.add("waits to be tried again", cogwheel::task_trigger::once(0ms), options, 1);
    t.run_a_while();
    t.insist([&] { all.scheduler.cancel("waits"); });
    t.insist([&] { all.scheduler.cancel("waits to be tried again"); });
    all.end();
}

// recover() may be called again: what it had done stays.
void tasks_recovered(trial& t) {
    cogwheel::memory_storage storage;
    const auto noon = std::chrono::time_point_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now());
    const auto hourly = cogwheel::task_trigger::every(1h).times(1);
    storage.save({.task = {.name = "comes", .when = hourly, .job = "job"}, .runs_left = 1, .next = noon + 2ms});
    storage.save({.task = {.name = "ran", .when = hourly, .job = "job"},
                  .runs_left = 0,
                  .runs = {{.scheduled = noon, .attempt = 1}}});
    storage.save({.task = {.name = "waits for a retry", .when = hourly, .job = "job"},
                  .runs_left = 0,
                  .runs = {{.scheduled = noon, .attempt = 2, .retry_at = noon + 2ms}}});
    storage.save(
        {.task = {.name = "waited", .when = hourly, .job = "job"}, .runs_left = 1, .runs = {{.scheduled = noon}}});
    int ran = 0;
    task_trial all(t, &storage);
    all.scheduler.define("job", [&] { ++ran; });
    t.begin();
    t.insist([&] { all.scheduler.recover(); });
    all.end();
    int failed = 0;
    for (const auto& info : all.scheduler.snapshot()) failed += static_cast<int>(info.failed);
    if (all.scheduler.counts().finished != 4) t.fault("lost: a task that never ends, or is forgotten");
    if (ran + failed != 4) t.fault("lost: a run that was neither made nor has failed, or was made twice");
}

void tasks_stopped(trial& t) {
    cogwheel::memory_storage storage;
    {
        task_trial all(t, &storage);
        all.scheduler.define("job", [] {});
        t.begin();
        t.attempt([&] { all.scheduler.add({.name = "a", .when = cogwheel::task_trigger::once(1h), .job = "job"}); });
        t.attempt([&] { all.scheduler.add({.name = "b", .when = cogwheel::task_trigger::once(0ms), .job = "job"}); });
        all.scheduler.stop();
    }
    end(t);
}

} // namespace
} // namespace schedule_case

test_cases schedule_cases() {
    using namespace schedule_case;
    return {{"interval", interval},
            {"interval, cancelled", interval_cancelled},
            {"keyed_timers", keyed_in_the_turn},
            {"keyed_timers elsewhere", keyed_elsewhere},
            {"async_wait_until_date", calendar},
            {"async_wait_until_date, cancelled", calendar_cancelled},
            {"task_scheduler", tasks},
            {"task_scheduler, retries", tasks_with_retries},
            {"task_scheduler, periodic", tasks_that_repeat},
            {"task_scheduler, cancelled", tasks_cancelled},
            {"task_scheduler, recovered", tasks_recovered},
            {"task_scheduler, stopped", tasks_stopped}};
}

} // namespace failure
