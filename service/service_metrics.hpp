// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What GET /metrics shows: the wheel, the interface, the worker and its callbacks. docs/service.md lists the names.
#pragma once

#include "api/service_api.hpp"

#include <cogwheel/observe/metrics.hpp>

namespace cogwheeld {

/// Lifetime: all arguments outlive `to`. `work`: nullptr: this process sends no callbacks.
void offer_metrics(cogwheel::metrics& to, cogwheel::timer_wheel& wheel, const http_server& server, const event_hub& hub,
                   const queue_state& queue, const deliveries* work);

} // namespace cogwheeld
