// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A task scheduler whose clocks stand still until the test turns them, and whose jobs run on the test's own loop.
#pragma once

#include "support/asio/virtual_wheel.hpp"

#include <cogwheel/tasks/task_scheduler.hpp>

#include <asio/use_awaitable.hpp>

#include <algorithm>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace cogwheel_tests {

/// The clock on the wall.
struct task_wall {
    using duration = std::chrono::nanoseconds;
    using time_point = std::chrono::sys_time<duration>;
    static inline time_point present{};
    static time_point now() { return present; }
};

inline constexpr task_wall::time_point task_noon =
    std::chrono::sys_days(std::chrono::year(2026) / 11 / 22) + std::chrono::hours(12);

class task_rig {
public:
    explicit task_rig(cogwheel::task_scheduler_options options = {},
                      const cogwheel::wheel_options& wheel = {.tick = tick})
        : at(wheel), tasks_(scheduler(std::move(options))) {
        run();
    }

    cogwheel::task_scheduler* operator->() { return &tasks_; }

    /// Both clocks go on, in one leap: the loop was blocked meanwhile.
    void leap(std::chrono::nanoseconds by) {
        task_wall::present += by;
        at.pass(by);
    }
    /// Both clocks go on, a tick at a time.
    void pass(std::chrono::nanoseconds by) {
        for (; by > std::chrono::nanoseconds::zero(); by -= tick) leap(std::min<std::chrono::nanoseconds>(by, tick));
    }
    void run() { at.run(); }

    /// A job that takes so long, and is a coroutine.
    auto lasting(std::chrono::nanoseconds d) {
        return [this, d]() -> asio::awaitable<void> {
            began.push_back(since());
            co_await at.wheel.async_wait(d, asio::use_awaitable);
            ran.push_back(since());
        };
    }
    /// A job that notes when it ran, in milliseconds since the rig was made.
    auto note() {
        return [this] { ran.push_back(since()); };
    }
    long since() const {
        return static_cast<long>(
            std::chrono::duration_cast<std::chrono::milliseconds>(task_wall::present - start_).count());
    }

    static constexpr std::chrono::milliseconds tick{10};

    virtual_wheel at;
    std::vector<long> began, ran;

private:
    cogwheel::task_scheduler scheduler(cogwheel::task_scheduler_options options) {
        if (!options.executor) options.executor = at.io.get_executor();
        return cogwheel::task_scheduler(at.wheel, std::move(options), std::type_identity<task_wall>());
    }

    task_wall::time_point start_ = task_wall::present = task_noon;
    cogwheel::task_scheduler tasks_;
};

/// A job that fails so many times.
inline auto failing_job(int times) {
    return [left = std::make_shared<int>(times)] {
        if ((*left)-- > 0) throw std::runtime_error("again");
    };
}

/// The promises that hold at every moment.
inline bool stats_agree(const cogwheel::task_stats& s) {
    return s.runs_started == s.completed + s.failed + s.cancelled + s.tasks.jobs && s.attempts == s.latency.total() &&
           s.execution.total() <= s.attempts && s.retries <= s.attempts;
}

inline std::size_t in_all_levels(const cogwheel::task_stats& s) {
    return std::accumulate(s.by_level.begin(), s.by_level.end(), std::size_t{0});
}

} // namespace cogwheel_tests
