// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The two texts that the server prints.

#include "statistics.hpp"

#include <fmt/format.h>

namespace echo {
namespace {

double milliseconds(std::chrono::nanoseconds duration) {
    return std::chrono::duration<double, std::milli>(duration).count();
}

std::string readable_bytes(std::uint64_t bytes) {
    const auto amount = static_cast<double>(bytes);
    return bytes < 10'000       ? fmt::format("{} B", bytes)
           : bytes < 10'000'000 ? fmt::format("{:.1f} kB", amount / 1e3)
                                : fmt::format("{:.1f} MB", amount / 1e6);
}

} // namespace

void statistics::kicked(kick_reason reason, std::chrono::nanoseconds lateness) {
    const std::lock_guard lock{mutex_};
    if (reason == kick_reason::idle) {
        ++idle_kicks_;
        idle_lateness_.record(lateness);
    } else {
        ++write_kicks_;
    }
}

std::string statistics::live_line(std::size_t connections) const {
    const std::lock_guard lock{mutex_};
    return fmt::format("open {} | echoed {} | kicked {} | late p50 {:.2f} ms, p99 {:.2f} ms", connections,
                       readable_bytes(echoed_.load(std::memory_order_relaxed)), idle_kicks_ + write_kicks_,
                       milliseconds(idle_lateness_.quantile(0.50)), milliseconds(idle_lateness_.quantile(0.99)));
}

std::string statistics::summary(std::chrono::nanoseconds uptime, const cogwheel::wheel_stats& wheel) const {
    const std::lock_guard lock{mutex_};
    auto text = fmt::format("served       {} connections in {:.1f} s, echoed {}\n"
                            "kicked       {} idle, {} that did not read\n",
                            accepted_.load(), std::chrono::duration<double>(uptime).count(),
                            readable_bytes(echoed_.load()), idle_kicks_, write_kicks_);
    if (idle_lateness_.total() != 0)
        text += fmt::format("lateness     p50 {:.2f} ms, p99 {:.2f} ms, max {:.2f} ms after the idle limit\n",
                            milliseconds(idle_lateness_.quantile(0.50)), milliseconds(idle_lateness_.quantile(0.99)),
                            milliseconds(idle_lateness_.max()));
    if (const auto failures = failures_.load(); failures != 0)
        text += fmt::format("failed       {} connections, for want of memory say\n", failures);
    if (const auto failures = accept_failures_.load(); failures != 0)
        text += fmt::format("accept       failed and was retried {} times\n", failures);
    // Most that fire close nothing: activity does not touch a timer, so it looks now and then how long ago that was.
    text += fmt::format("wheel        {} timers scheduled: {} fired, {} cancelled, {} pending; {} wake-ups\n"
                        "             fired: a connection was looked at: closed if idle, else given a new timer\n"
                        "             cancelled: a write ended within its limit, or a connection before it\n",
                        wheel.scheduled, wheel.fired, wheel.cancelled, wheel.pending, wheel.wakeups);
    return text;
}

} // namespace echo
