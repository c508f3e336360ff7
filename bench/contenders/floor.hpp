// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The least that a timer can cost: its own cache line, once; and the same for whoever has to know what time it is, because a
// clock reading waits for the loads before it, so that the cache misses of two operations no longer overlap (a prefetch it does not
// wait for). Keep no time, fire nothing.
#pragma once

#include "contenders/contender.hpp"

namespace bench {

template <bool ReadsClock>
class floor {
public:
    static constexpr std::string_view name = ReadsClock ? "floor (clock, one line)" : "floor (one store)";
    static constexpr bool handle_is_timer = true;
    static constexpr bool real_time = false;

    struct alignas(64) handle {
        std::uint64_t deadline = 0;
    };

    void schedule(handle& h, std::uint32_t, milliseconds delay) noexcept {
        if constexpr (ReadsClock) __builtin_prefetch(&h, 1);
        const std::uint64_t deadline = deadline_after(delay);
        pending_ += h.deadline == 0;
        h.deadline = deadline;
    }
    bool cancel(handle& h) noexcept {
        const bool was_pending = h.deadline != 0;
        pending_ -= was_pending;
        h.deadline = 0;
        return was_pending;
    }
    void move(handle& h, std::uint32_t number, milliseconds delay) noexcept { schedule(h, number, delay); }

    template <class F>
    void work(std::size_t, F f) {
        f();
    }

    std::size_t pending() const noexcept { return pending_; }
    tally fired() const noexcept { return {}; }

private:
    static std::uint64_t deadline_after(milliseconds delay) noexcept {
        std::chrono::nanoseconds at = delay;
        if constexpr (ReadsClock) at += std::chrono::steady_clock::now().time_since_epoch();
        return static_cast<std::uint64_t>(at.count());
    }

    std::size_t pending_ = 0;
};

using floor_store = floor<false>;
using floor_clock = floor<true>;

static_assert(contender<floor_store> && contender<floor_clock>);

} // namespace bench
