// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The least that a timer can cost: its own cache line, once. Keeps no time and fires nothing.
#pragma once

#include "contenders/contender.hpp"

namespace bench {

class floor_store {
public:
    static constexpr std::string_view name = "floor (one store)";
    static constexpr bool handle_is_timer = true;
    static constexpr bool real_time = false;

    struct alignas(64) handle {
        std::uint64_t deadline = 0;
    };

    fixed_array<handle> make_handles(std::size_t n) { return fixed_array<handle>(n); }

    void schedule(handle& h, std::uint32_t, milliseconds delay) noexcept {
        h.deadline += static_cast<std::uint64_t>(delay.count());
        ++pending_;
    }
    bool cancel(handle& h) noexcept {
        --pending_;
        return ++h.deadline != 0;
    }
    void move(handle& h, std::uint32_t, milliseconds delay) noexcept {
        h.deadline += static_cast<std::uint64_t>(delay.count());
    }

    template <class F>
    void work(std::size_t, F f) {
        f();
    }

    std::size_t pending() const noexcept { return pending_; }
    tally fired() const noexcept { return {}; }

private:
    std::size_t pending_ = 0;
};

static_assert(contender<floor_store>);

} // namespace bench
