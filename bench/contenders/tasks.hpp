// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Tasks that run every second, or once in a second: those who keep a list, to which they can be added one by one.
#pragma once

#include <cogwheel/schedule/interval.hpp>
#include <cogwheel/schedule/keyed_timers.hpp>
#include <cogwheel/tasks/task_scheduler.hpp>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include <deque>
#include <string>

namespace bench {

class keyed_tasks {
public:
    static constexpr std::string_view name = "cogwheel keyed_timers";

    void add(std::size_t number) {
        timers_.add("task " + std::to_string(number), std::chrono::seconds(1), [] {});
    }
    std::size_t pending() const { return wheel_.pending(); }

private:
    asio::io_context io_;
    cogwheel::timer_wheel wheel_{io_};
    cogwheel::keyed_timers<std::string> timers_{wheel_};
};

class interval_tasks {
public:
    static constexpr std::string_view name = "cogwheel interval";

    void add(std::size_t) {
        intervals_.emplace_back(wheel_, cogwheel::interval_options{.period = std::chrono::seconds(1)})
            .async_tick([](std::error_code, auto) {});
    }
    std::size_t pending() const { return wheel_.pending(); }

private:
    asio::io_context io_;
    cogwheel::timer_wheel wheel_{io_};
    std::deque<cogwheel::interval<>> intervals_;
};

class scheduler_tasks {
public:
    static constexpr std::string_view name = "cogwheel task_scheduler";

    void add(std::size_t number) {
        tasks_.add(
            {.name = "task " + std::to_string(number), .when = cogwheel::task_trigger::every(std::chrono::seconds(1))},
            [] {});
    }
    std::size_t pending() const { return wheel_.pending(); }

private:
    asio::io_context io_;
    cogwheel::timer_wheel wheel_{io_};
    cogwheel::task_scheduler tasks_{wheel_, {.executor = io_.get_executor()}};
};

class steady_timer_tasks {
public:
    static constexpr std::string_view name = "asio::steady_timer";

    void add(std::size_t) {
        timers_.emplace_back(io_, std::chrono::seconds(1)).async_wait([](std::error_code) {});
        ++pending_;
    }
    std::size_t pending() const { return pending_; }

private:
    asio::io_context io_;
    std::deque<asio::steady_timer> timers_;
    std::size_t pending_ = 0;
};

} // namespace bench
