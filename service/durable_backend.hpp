// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A durable queue in a Redis server, or in a journal of this process: the settings choose.
#pragma once

#include "settings.hpp"
#include "support/output.hpp"

#include <cogwheel/durable/durable_queue.hpp>
#include <cogwheel/tasks/task_journal.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace cogwheeld {

/// Lifetime: the wheel's context outlives it.
class durable_backend {
public:
    /// Makes the directory of the journal if it is missing. Errors: std::invalid_argument (the URL), std::system_error
    /// (the directory or the journal).
    durable_backend(const cogwheel::timer_wheel& wheel, const settings& wanted) {
        auto options = wanted.queue;
        if (wanted.redis.empty()) {
            std::filesystem::create_directories(wanted.data);
            journal_ = std::make_unique<cogwheel::task_journal>(wanted.data / "tasks",
                                                                cogwheel::task_journal_options{.sync = wanted.sync});
            queue_ = std::make_unique<cogwheel::durable_queue>(wheel, *journal_, std::move(options));
            return;
        }
        options.redis = cogwheel::redis_options::from_url(wanted.redis);
        options.redis.log = [last = std::string()](std::string_view line) mutable {
            if (line != std::exchange(last, line)) output::complain("cogwheeld: {}\n", line);
        };
        queue_ = std::make_unique<cogwheel::durable_queue>(wheel, std::move(options));
    }

    cogwheel::durable_queue& queue() noexcept { return *queue_; }

private:
    std::unique_ptr<cogwheel::task_journal> journal_; // goes last
    std::unique_ptr<cogwheel::durable_queue> queue_;
};

} // namespace cogwheeld
