// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// See ledger.hpp.
#include "ledger.hpp"

#include "findings.hpp"

#include <fmt/format.h>

namespace stress {

std::uint64_t ledger::calls_made() const noexcept {
    std::uint64_t sum = 0;
    for (const calls& c : roles) sum += c.made;
    return sum;
}

ledger& ledger::operator+=(const ledger& other) noexcept {
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        kinds[i].started += other.kinds[i].started;
        kinds[i].succeeded += other.kinds[i].succeeded;
        kinds[i].cancelled += other.kinds[i].cancelled;
        kinds[i].timed_out += other.kinds[i].timed_out;
        kinds[i].rejected += other.kinds[i].rejected;
        kinds[i].dropped += other.kinds[i].dropped;
    }
    for (std::size_t i = 0; i < roles.size(); ++i) {
        roles[i].made += other.roles[i].made;
        roles[i].effective += other.roles[i].effective;
    }
    crowded += other.crowded;
    unreported += other.unreported;
    return *this;
}

std::string table(const ledger& l) {
    std::string text = fmt::format("{:<14}{:>12}{:>12}{:>12}{:>12}{:>12}{:>12}\n", "kind", "started", "succeeded",
                                   "cancelled", "timed out", "rejected", "dropped");
    for (std::size_t i = 0; i < l.kinds.size(); ++i) {
        const ends& e = l.kinds[i];
        text += fmt::format("{:<14}{:>12}{:>12}{:>12}{:>12}{:>12}{:>12}\n", kind_names[i], e.started, e.succeeded,
                            e.cancelled, e.timed_out, e.rejected, e.dropped);
    }
    text += fmt::format("\n{:<14}{:>12}{:>12}\n", "role", "calls", "effective");
    for (std::size_t i = 0; i < l.roles.size(); ++i)
        text += fmt::format("{:<14}{:>12}{:>12}\n", role_names[i], l.roles[i].made, l.roles[i].effective);
    return text;
}

void compare(const ledger& l, const cogwheel::wheel_stats& s, std::uint64_t waits_per_timer, bool at_end,
             const std::string& where) {
    const auto expect = [&](const char* what, std::uint64_t counted, std::uint64_t least, std::uint64_t most) {
        if ((at_end && counted < least) || counted > most)
            findings::add("{}: the wheel's {} is {}, the program counted {} to {}", where, what, counted, least, most);
    };
    std::uint64_t accepted = 0, rejected = 0, succeeded = 0, dropped = 0;
    for (const ends& e : l.kinds) {
        accepted += e.accepted();
        rejected += e.rejected;
        succeeded += e.succeeded;
        dropped += e.dropped;
    }
    const ends& limits = l.of(kind::limit);
    const ends& timers = l.of(kind::timer);
    expect("scheduled", s.scheduled, accepted - l.crowded, accepted);
    expect("rejected", s.rejected, rejected, rejected);
    if (s.scheduled != s.fired + s.cancelled + s.pending)
        findings::add("{}: the wheel counts {} scheduled, but {} fired, {} cancelled and {} pending", where,
                      s.scheduled, s.fired, s.cancelled, s.pending);
    // A limit that fires may come too late for its operation, which then succeeds. What fired may be dropped on its
    // way.
    const std::uint64_t timers_fired = (timers.succeeded + waits_per_timer - 1) / waits_per_timer;
    expect("fired", s.fired,
           succeeded - limits.succeeded - timers.succeeded + timers_fired + limits.timed_out - l.unreported,
           succeeded + limits.timed_out + dropped);
}

} // namespace stress
