// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What the event loops of C share: time is the loop's own reading of the steady clock, taken once a turn; a timer is an
// object of the user's, here with its number behind it. None of them says how many timers are pending, so that is
// counted here.
#pragma once

#include "contenders/contender.hpp"

#include <thread>

namespace bench {

/// Loop has run_ready(), run_all() and work().
template <class Loop>
class native_loop {
public:
    static constexpr bool handle_is_timer = true;
    static constexpr bool real_time = true;

    using clock = std::chrono::steady_clock;
    using time_point = clock::time_point;

    time_point after(milliseconds delay) const { return clock::now() + delay; }

    bool reach(time_point at) {
        self().run_ready();
        if (clock::now() >= at) return false;
        std::this_thread::sleep_until(at + milliseconds(25)); // as long as for the others
        return true;
    }
    void fire_until(time_point) { self().run_all(); }

    std::size_t pending() const noexcept { return pending_; }
    tally fired() const noexcept { return fired_; }

protected:
    /// Loops count from their own reading of the clock: call it before that.
    void begin_turn() { turn_ = clock::now(); }
    std::chrono::nanoseconds from_now(time_point at) const {
        const auto left = at - turn_;
        return left > left.zero() ? left : left.zero();
    }
    void note_fired(std::uint32_t number) noexcept {
        --pending_;
        fired_.record(number);
    }

    std::size_t pending_ = 0;
    tally fired_;

private:
    time_point turn_;

    Loop& self() noexcept { return static_cast<Loop&>(*this); }
};

} // namespace bench
