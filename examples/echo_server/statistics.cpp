// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The texts: the summary of the server's counts, and the live report.

#include "statistics.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace echo {
namespace {

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t number) {
    auto text = fmt::format("{}", number);
    for (auto at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
    return text;
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

std::string statistics::summary(std::chrono::nanoseconds uptime, const cogwheel::wheel_stats& wheel) const {
    const std::lock_guard lock{mutex_};
    auto text = fmt::format("served       {} connections in {:.1f} s, echoed {}\n"
                            "kicked       {} idle, {} that did not read\n",
                            accepted_.load(), std::chrono::duration<double>(uptime).count(),
                            readable_bytes(echoed_.load()), idle_kicks_, write_kicks_);
    if (idle_lateness_.total() != 0)
        text += fmt::format("lateness     {} after the idle limit\n", output::to_text(idle_lateness_));
    if (const auto failures = failures_.load(); failures != 0)
        text += fmt::format("failed       {} connections, for want of memory say\n", failures);
    if (const auto failures = accept_failures_.load(); failures != 0)
        text += fmt::format("accept       failed and was retried {} times\n", failures);
    // Most that fire close nothing: activity does not touch a timer, so it looks now and then how long ago that was.
    text += fmt::format("wheel        {} timers scheduled: {} fired, {} cancelled, {} pending\n"
                        "             fired: a connection was looked at: closed if idle, else timed anew\n"
                        "             cancelled: a write ended in time, or a connection before its limit\n",
                        wheel.scheduled, wheel.fired, wheel.cancelled, wheel.pending);
    // Both are counts of this run. A timer for each connection would have expired as often as these fired, each time at
    // its own moment. An expiry wakes the loop (or finds it busy); the wheel wakes it once for all timers of a tick.
    if (wheel.fired != 0)
        text += fmt::format("one wheel, {} wake-ups; a timer for each connection would have had {}\n",
                            grouped(wheel.wakeups), grouped(wheel.fired));
    return text;
}

void live_report::show(std::size_t connections) {
    most_connections_ = std::max(most_connections_, connections);
    const auto chatting = std::min(counts_.activity.active(), connections); // one that has just left may still be in it
    const auto bytes = counts_.echoed_bytes();
    const auto closed = counts_.kicks(kick_reason::idle) + counts_.kicks(kick_reason::peer_does_not_read);
    const auto lateness = output::to_text(counts_.idle_lateness());

    const auto now = std::chrono::steady_clock::now();
    const auto rates = fmt::format(
        "{:.0f} messages/s, {}/s, {:.0f} connections closed/s", messages_.per_second(counts_.messages(), now),
        readable_bytes(static_cast<std::uint64_t>(bytes_.per_second(bytes, now))), closed_.per_second(closed, now));
    view_.show({output::labelled_bar("chatting", chatting, most_connections_),
                output::labelled_bar("silent", connections - chatting, most_connections_),
                output::labelled("rates", rates), output::labelled("lateness", lateness + " after the idle limit")},
               fmt::format("open {} | chatting {} | echoed {} | kicked {} | late {}", connections, chatting,
                           readable_bytes(bytes), closed, lateness));
}

} // namespace echo
