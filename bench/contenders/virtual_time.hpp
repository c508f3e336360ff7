// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What the contenders that are told the time share. It passes at one microsecond an operation; they see milliseconds.
#pragma once

#include "contenders/contender.hpp"

namespace bench {

/// Timer has expire_due(), which fires everything due at now() or before.
template <class Timers>
class virtual_time {
public:
    static constexpr bool real_time = false;

    struct time_point {
        std::uint64_t tick;
        friend time_point operator+(time_point t, std::chrono::nanoseconds d) {
            return {t.tick + static_cast<std::uint64_t>(d / milliseconds(1))};
        }
    };

    template <class F>
    void work(std::size_t operations, F f) {
        f();
        pass(operations);
    }

    time_point after(milliseconds delay) const noexcept { return time_point{now_} + delay; }

    bool reach(time_point at) {
        if (now_ >= at.tick) return false;
        fire_until({at.tick - 1});
        return true;
    }

    void fire_until(time_point at) {
        while (now_ < at.tick) pass(1000);
    }

    /// All at once, as after a suspension.
    void leap(milliseconds by) {
        microseconds_ += static_cast<std::uint64_t>(by.count()) * 1000;
        pass(0);
    }

    tally fired() const noexcept { return fired_; }

protected:
    std::uint64_t now() const noexcept { return now_; }

    tally fired_;

private:
    void pass(std::size_t operations) {
        microseconds_ += operations;
        if (microseconds_ / 1000 == now_) return;
        now_ = microseconds_ / 1000;
        static_cast<Timers&>(*this).expire_due();
    }

    std::uint64_t microseconds_ = 0;
    std::uint64_t now_ = 0; // milliseconds
};

} // namespace bench
