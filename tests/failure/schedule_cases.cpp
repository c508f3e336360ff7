// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "failure/trial.hpp"

#include <cogwheel/schedule/calendar.hpp>
#include <cogwheel/schedule/interval.hpp>
#include <cogwheel/schedule/keyed_timers.hpp>
#include <cogwheel/schedule/task_scheduler.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>

#include <memory>
#include <optional>

namespace failure {

using namespace std::chrono_literals;

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
    std::optional<cogwheel::interval> every(std::in_place, t.wheel, cogwheel::interval_options{.period = 1h});
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
        cogwheel::async_wait_until(t.wheel, std::chrono::system_clock::now() + 2ms, std::move(h), {.recheck = 1ms});
    });
    end(t);
}

void calendar_cancelled(trial& t) {
    asio::cancellation_signal signal;
    t.begin();
    t.start([&](watched h) {
        cogwheel::async_wait_until(t.wheel, std::chrono::system_clock::now() + 1h,
                                   asio::bind_cancellation_slot(signal.slot(), std::move(h)));
    });
    t.insist([&] { signal.emit(asio::cancellation_type::terminal); });
    end(t);
}

void tasks(trial& t) {
    cogwheel::task_scheduler_options options;
    options.executor = t.io.get_executor();
    cogwheel::task_scheduler scheduler(t.wheel, std::move(options));
    t.begin();
    t.start([&](watched h) {
        if (scheduler.add({.name = "a task", .when = cogwheel::task_trigger::once(1ms)}, copyable(std::move(h))))
            throw std::bad_alloc();
    });
    t.start([&](watched h) {
        if (scheduler.add({.name = "another", .when = cogwheel::task_trigger::once(0ms)}, copyable(std::move(h))))
            throw std::bad_alloc();
    });
    end(t);
}

} // namespace

test_cases schedule_cases() {
    return {{"interval", interval},
            {"interval, cancelled", interval_cancelled},
            {"keyed_timers", keyed_in_the_turn},
            {"keyed_timers elsewhere", keyed_elsewhere},
            {"async_wait_until", calendar},
            {"async_wait_until, cancelled", calendar_cancelled},
            {"task_scheduler", tasks}};
}

} // namespace failure
