// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// std::multimap from tick to callable: what one writes without a timer library. Virtual ticks of 1 ms.
#pragma once

#include "contenders/contender.hpp"

#include <map>

namespace bench {

class multimap {
public:
    static constexpr std::string_view name = "std::multimap";
    static constexpr bool handle_is_timer = false;
    static constexpr bool real_time = false;

private:
    struct callable {
        void (*function)(multimap&, std::uint32_t);
        std::uint32_t number;
    };
    using map = std::multimap<std::uint64_t, callable>;

public:
    using handle = map::iterator;

    struct time_point {
        std::uint64_t tick;
        friend time_point operator+(time_point t, std::chrono::nanoseconds d) {
            return {t.tick + static_cast<std::uint64_t>(d / milliseconds(1))};
        }
    };

    fixed_array<handle> make_handles(std::size_t n) { return fixed_array<handle>(n); }

    void schedule(handle& h, std::uint32_t number, milliseconds delay) {
        h = timers_.emplace(after(delay).tick, callable{&expire, number});
    }
    bool cancel(handle& h) {
        timers_.erase(h); // nothing tells whether it is pending
        return true;
    }
    void move(handle& h, std::uint32_t number, milliseconds delay) { move_to(h, number, after(delay)); }
    void move_to(handle& h, std::uint32_t, time_point at) {
        auto node = timers_.extract(h);
        node.key() = at.tick;
        h = timers_.insert(std::move(node));
    }

    template <class F>
    void work(std::size_t operations, F f) {
        f();
        clock_.pass(operations);
        expire_due();
    }

    time_point after(milliseconds delay) const noexcept { return time_point{clock_.now()} + delay; }
    bool reach(time_point at) {
        if (clock_.now() >= at.tick) return false;
        fire_until({at.tick - 1});
        return true;
    }
    void fire_until(time_point at) {
        while (clock_.now() < at.tick) {
            clock_.tick();
            expire_due();
        }
    }

    std::size_t pending() const noexcept { return timers_.size(); }
    tally fired() const noexcept { return fired_; }

private:
    void expire_due() {
        while (!timers_.empty() && timers_.begin()->first <= clock_.now()) {
            const callable c = timers_.begin()->second;
            timers_.erase(timers_.begin());
            c.function(*this, c.number);
        }
    }
    static void expire(multimap& self, std::uint32_t number) { self.fired_.record(number); }

    map timers_;
    virtual_clock clock_;
    tally fired_;
};

static_assert(firing_contender<multimap> && movable_contender<multimap>);

} // namespace bench
