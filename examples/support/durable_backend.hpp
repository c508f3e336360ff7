// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A durable queue in a Redis server, or in a journal of this process: the options of a program choose.
#pragma once

#include "support/output.hpp"

#include <cogwheel/durable/durable_queue.hpp>
#include <cogwheel/tasks/task_journal.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

/// Lifetime: the wheel's context outlives it.
class durable_backend {
public:
    /// Parameters: `url`: of a Redis server; empty: a journal in `directory`, which is made if it is missing.
    ///   `options`: its `redis` does not count. `storing`: of the journal.
    /// Errors: std::invalid_argument (the url), std::system_error (the directory or the journal).
    durable_backend(std::string_view program, const cogwheel::timer_wheel& wheel, const std::string& url,
                    const std::filesystem::path& directory, cogwheel::durable_options options = {},
                    const cogwheel::task_journal_options& storing = {}) {
        if (url.empty()) {
            std::filesystem::create_directories(directory);
            journal_ = std::make_unique<cogwheel::task_journal>(directory / "tasks", storing);
        } else {
            options.redis = cogwheel::redis_options::from_url(url);
            options.redis.log = [last = std::string(), name = std::string(program)](std::string_view line) mutable {
                if (line != std::exchange(last, line)) output::complain("{}: {}\n", name, line);
            };
        }
        // The one line that depends on where the tasks are.
        queue_ = journal_ ? std::make_unique<cogwheel::durable_queue>(wheel, *journal_, std::move(options))
                          : std::make_unique<cogwheel::durable_queue>(wheel, std::move(options));
    }

    cogwheel::durable_queue& queue() noexcept { return *queue_; }

private:
    std::unique_ptr<cogwheel::task_journal> journal_; // goes last
    std::unique_ptr<cogwheel::durable_queue> queue_;
};
