// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Sends the callbacks of due tasks: a durable_worker, whose handler is a callback_handler.
#pragma once

#include "settings.hpp"

#include <cogwheel/durable/callback_handler.hpp>
#include <cogwheel/durable/durable_worker.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace cogwheeld {

/// For one thread. Lifetime: wheel and queue outlive it.
class deliveries {
public:
    /// Calls heard(event) for each event of the worker. Errors: std::invalid_argument (settings).
    deliveries(cogwheel::timer_wheel& wheel, cogwheel::durable_queue& queue, const settings& wanted,
               std::function<void(const cogwheel::durable_event&)> heard);
    deliveries(const deliveries&) = delete;
    deliveries& operator=(const deliveries&) = delete;

    /// Works until drain() or stop(). ended(ec): as durable_worker::run() completes.
    void start(std::function<void(std::error_code)> ended);
    /// Begins nothing more, and lets callbacks under way end.
    void drain();
    /// Ends callbacks under way. What was not sent does not count as an attempt.
    void cut();
    /// Ends the work at once. Tasks under way are tried again when their leases have run out.
    void stop();
    /// Takes keys, guard and limits of later callbacks from here. Those under way end as they began.
    void change(const settings& wanted);

    cogwheel::durable_worker_stats stats() const { return worker_.stats(); }
    cogwheel::callback_stats callbacks() const { return handler_.sender()->stats(); }
    /// What the host of a URL takes now.
    cogwheel::callback_room room(std::string_view url) const { return handler_.sender()->room(url); }
    const std::string& name() const noexcept { return worker_.id(); }

private:
    void note(const cogwheel::durable_event&);
    void say_dead(const cogwheel::durable_event&);

    cogwheel::timer_wheel& wheel_;
    std::string trouble_{}; // the last one, in words
    std::function<void(const cogwheel::durable_event&)> heard_;
    cogwheel::callback_handler handler_;
    std::vector<std::weak_ptr<cogwheel::callback_sender>> draining_{}; // of earlier settings
    std::chrono::steady_clock::time_point dead_second_{};
    int dead_now_ = 0; // in this second
    cogwheel::durable_worker worker_;
};

} // namespace cogwheeld
