// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Sends the callbacks of due tasks: a durable_worker, and a callback_sender for its handler.
#pragma once

#include "api/event_hub.hpp"
#include "settings.hpp"

#include <cogwheel/durable/callback_sender.hpp>
#include <cogwheel/durable/durable_worker.hpp>

#include <functional>
#include <memory>
#include <string>

namespace cogwheeld {

/// For one thread. Lifetime: wheel, queue and hub outlive it.
class deliveries {
public:
    /// Errors: std::invalid_argument (settings).
    deliveries(cogwheel::timer_wheel& wheel, cogwheel::durable_queue& queue, const settings& wanted, event_hub& hub);
    deliveries(const deliveries&) = delete;
    deliveries& operator=(const deliveries&) = delete;

    /// Works until drain() or stop(). ended(ec): as durable_worker::run() completes.
    void start(std::function<void(std::error_code)> ended);
    /// Begins nothing more, and lets callbacks under way end.
    void drain();
    /// Ends callbacks under way. Their tasks are tried again when their leases have run out.
    void stop();
    /// Takes keys, guard and limits of later callbacks from here. Those under way end as they began.
    void change(const settings& wanted);

    cogwheel::durable_worker_stats stats() const { return worker_.stats(); }
    cogwheel::callback_stats callbacks() const { return sender_->stats(); }
    const std::string& name() const noexcept { return worker_.id(); }

private:
    void note(const cogwheel::durable_event&);

    cogwheel::timer_wheel& wheel_;
    std::string trouble_{}; // the last one, in words
    event_hub& hub_;
    std::shared_ptr<cogwheel::callback_sender> sender_;
    cogwheel::durable_worker worker_;
};

} // namespace cogwheeld
