// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include <cogwheel/asio/detail/engine/engine_counts.hpp>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

void engine_counts::record_lateness(nanoseconds late, std::uint64_t n) noexcept {
    quantiles_.record(late, n);
    lateness_.record(late, n);
}

void engine_counts::end_turn(nanoseconds took, std::uint64_t fired, nanoseconds now, bool woken,
                             bool exhausted) noexcept {
    last_turn_ = {took, fired};
    if (last_turn_.fired > largest_turn_) largest_turn_ = last_turn_.fired;
    if (woken && last_turn_.fired == 0) ++empty_wakeups_;
    if (exhausted) ++exhausted_turns_;
    turn_duration_.record(took);
    longest_.record(took, last_turn_.fired, now);
}

void engine_counts::read(wheel_stats& s, nanoseconds now) const noexcept {
    s.kinds = kinds_;
    s.rejected = rejected_;
    s.turns = turns_;
    s.wakeups = wakeups_;
    s.empty_wakeups = empty_wakeups_;
    s.exhausted_turns = exhausted_turns_;
    s.largest_turn = largest_turn_;
    s.lateness.histogram = lateness_;
    s.turn_duration = turn_duration_;
    s.longest = longest_.read(now);
    for (const timer_counts& k : kinds_) {
        s.scheduled += k.scheduled;
        s.fired += k.fired;
        s.cancelled += k.cancelled;
    }
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
