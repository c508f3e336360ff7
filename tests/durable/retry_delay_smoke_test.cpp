// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How long a worker waits before the next attempt.
#include "support/durable/durable_rig.hpp"

#include <cogwheel/resilience/random.hpp>

#include <algorithm>
#include <map>
#include <string>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE("delay_that_a_handler_asks_for_comes_on_top_of_the_backoff") {
    for (const durable_backend b : durable_backends()) {
        durable_rig rig(b);
        auto options = quick_worker();
        options.backoff = backoff::constant(1h);
        worker_rig w(rig, options);
        // A receiver may say Retry-After: 0, or a date in the past.
        const std::map<std::string, std::chrono::milliseconds> asked{{"0", 0s}, {"past", -5s}, {"later", 2h}};
        w.run([&](durable_delivery& d) { return durable_outcome::retry_after(asked.at(d.id()), "not now"); });
        for (const auto& [id, delay] : asked) {
            const auto due = rig.add(worker_task(id)).due;
            rig.run_until([&] { return rig.find(id)->attempt == 1 && rig.find(id)->state == durable_state::waiting; });
            CHECK(rig.find(id)->due >= due + 1h + std::max<std::chrono::milliseconds>(delay, 0s));
        }
    }
}

TEST_CASE("ten_attempts_of_the_default_backoff_take_minutes") {
    const durable_worker_options defaults;
    detail::small_random random(1);
    for (int trial = 0; trial < 100; ++trial) {
        std::chrono::nanoseconds all{};
        for (std::uint32_t attempt = 1; attempt < durable_task{}.max_attempts; ++attempt) {
            const auto delay = defaults.backoff.next(attempt, {}, random);
            CHECK(delay >= 500ms);
            all += delay;
        }
        CHECK(all >= 4min);
        CHECK(all <= 9min);
    }
}
