// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The programs of `./dev demo durable` (tools/demo_durable.py) beside webhook_receiver: one binary with two roles. Each
// prints a line for each thing that happens, at once: the demo keeps a ledger of these lines.
#pragma once

#include <cogwheel/durable/durable_queue.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace durable_demo {

struct options {
    std::string redis{}, name{}, to{}, secret{};
    std::uint64_t count = 0;
    std::chrono::nanoseconds first{}, over{};
};

/// Schedules `count` callbacks to `to`, the first due after `first`, the last `over` later. Prints "due ID
/// MILLISECONDS" for each, then "scheduled". Ends when the queue is empty.
int schedule(const options&);

/// Delivers callbacks until SIGTERM. Prints "begun ID ATTEMPT" and "event ID ATTEMPT KIND".
int work(const options&);

inline cogwheel::durable_options queue_options(const options& wanted) {
    return {.redis = cogwheel::redis_options::from_url(wanted.redis), .name = "demo"};
}

} // namespace durable_demo
