// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// std::multimap from tick to callable: what one writes without a timer library. Virtual ticks of 1 ms.
#pragma once

#include "contenders/virtual_time.hpp"

#include <map>

namespace bench {

class multimap : public virtual_time<multimap> {
public:
    static constexpr std::string_view name = "std::multimap";
    static constexpr bool handle_is_timer = false;

private:
    struct callable {
        void (*function)(multimap&, std::uint32_t);
        std::uint32_t number;
    };
    using map = std::multimap<std::uint64_t, callable>;

public:
    using handle = map::iterator;

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

    std::size_t pending() const noexcept { return timers_.size(); }

    void expire_due() {
        while (!timers_.empty() && timers_.begin()->first <= now()) {
            const callable c = timers_.begin()->second;
            timers_.erase(timers_.begin());
            c.function(*this, c.number);
        }
    }

private:
    static void expire(multimap& self, std::uint32_t number) { self.fired_.record(number); }

    map timers_;
};

static_assert(firing_contender<multimap> && movable_contender<multimap>);

} // namespace bench
