// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What the program calls by name.
#include <cogwheel/asio/error.hpp>
#include <cogwheel/asio/timer_wheel_of.hpp>
#include <cogwheel/calendar/cron.hpp>
#include <cogwheel/testing/manual_clock.hpp>

#include <asio/io_context.hpp>

#define PLUGIN_FUNCTION extern "C" [[gnu::visibility("default")]]

/// Does a timer fire on a wheel of the plugin's own?
PLUGIN_FUNCTION bool plugin_fires() {
    asio::io_context io;
    cogwheel::timer_wheel wheel{io};
    bool fired = false;
    wheel.schedule(std::chrono::milliseconds(1), [&] { fired = true; });
    io.run();
    return fired;
}

/// Schedules on the wheel of the context, and returns that wheel.
PLUGIN_FUNCTION const cogwheel::timer_wheel* plugin_counts(asio::io_context& io, int& fired) {
    const cogwheel::timer_wheel& wheel = cogwheel::timer_wheel_of(io);
    wheel.schedule(std::chrono::milliseconds(1), [&] { ++fired; });
    return &wheel;
}

PLUGIN_FUNCTION void plugin_schedules(cogwheel::testing::manual_timer_wheel& wheel, bool& fired) {
    wheel.schedule(std::chrono::hours(1), [&] { fired = true; });
}

PLUGIN_FUNCTION std::error_code plugin_error() { return cogwheel::errc::stopped; }

PLUGIN_FUNCTION void plugin_throws() { cogwheel::cron_expression("never"); }
