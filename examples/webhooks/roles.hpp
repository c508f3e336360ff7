// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The other end of a webhook: a durable task, and the worker that delivers it. `./dev demo durable` runs both beside
// the receiver (tools/demo_durable.py). Each prints a line for each thing that happens, at once: the demo keeps a
// ledger of these lines.
#pragma once

#include <cogwheel/durable/durable_queue.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace webhooks {

struct delivery_options {
    std::string redis{}, name{}, to{}, secret{};
    std::uint64_t count = 0;
    std::chrono::nanoseconds first = std::chrono::seconds{1}, over = std::chrono::seconds{10};
};

/// Schedules `count` callbacks to `to`, the first due after `first`, the last `over` later. Prints "due ID
/// MILLISECONDS" for each, then "scheduled". Ends when the queue is empty.
int schedule(const delivery_options&);

/// Delivers callbacks until SIGTERM. Prints "begun ID ATTEMPT" and "event ID ATTEMPT KIND".
int work(const delivery_options&);

inline cogwheel::durable_options queue_options(const delivery_options& wanted) {
    return {.redis = cogwheel::redis_options::from_url(wanted.redis), .name = "demo"};
}

} // namespace webhooks
