// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The trace of the caller reaches the handler, on each backend, in real time. callback_sender_smoke_test.cpp shows that
// a callback passes it on.
#include "support/durable/durable_rig.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE("durable_trace_is_that_of_each_attempt_and_occurrence") {
    const std::string trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    for (const durable_backend b : durable_backends()) {
        durable_rig rig(b);
        worker_rig w(rig, quick_worker());
        std::vector<std::string> once, often;
        w.run([&](durable_delivery& d) -> durable_outcome {
            (d.id() == "once" ? once : often).push_back(d.traceparent());
            return d.attempt() == 1 ? durable_outcome::retry("again") : durable_outcome::done();
        });
        durable_task task = worker_task("once", 300ms);
        task.traceparent = trace;
        rig.add(task);
        CHECK(rig.find("once")->traceparent == trace);
        task.id = "often";
        task.when = task_trigger::every(50ms).times(2);
        task.misfire = task_misfire::catch_up(10);
        rig.add(task);
        rig.run_until([&] { return w.worker.stats().done == 3; });
        CHECK(once == std::vector(2, trace));
        CHECK(often == std::vector(4, trace));
    }
}
