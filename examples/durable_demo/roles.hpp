// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The three programs of `./dev demo durable` (tools/demo_durable.py), which are one binary. Each prints a line for each
// thing that happens, at once: the demo keeps a ledger of these lines.
#pragma once

#include <cogwheel/durable/durable_queue.hpp>
#include <cogwheel/durable/webhook_signature.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace durable_demo {

struct options {
    std::string redis{}, name{}, to{};
    std::uint64_t count = 0;
    std::chrono::nanoseconds first{}, over{}, pause{};
};

/// Schedules `count` callbacks to `to`, the first due after `first`, the last `over` later. Prints "due ID
/// MILLISECONDS" for each, then "scheduled". Ends when the queue is empty.
int schedule(const options&);

/// Delivers callbacks until SIGTERM. Prints "begun ID ATTEMPT" and "event ID ATTEMPT KIND".
int work(const options&);

/// Receives callbacks until SIGTERM, and answers each after `pause`. Prints "listening on ADDRESS:PORT", then
/// "arrived ID ATTEMPT MILLISECONDS" for each callback whose signature is right.
int receive(const options&);

inline cogwheel::durable_options queue_options(const options& wanted) {
    return {.redis = cogwheel::redis_options::from_url(wanted.redis), .name = "demo"};
}

/// A real program reads its key from a file.
inline cogwheel::webhook_key key() {
    return cogwheel::webhook_key::from_text("whsec_Y29nd2hlZWwgZGVtbyBrZXkgMDEyMzQ1");
}

} // namespace durable_demo
