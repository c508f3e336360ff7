// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The least that a timer can cost: its own cache line, once; and the same for whoever has to know what time it is, because a
// clock reading waits for the loads before it, so that the cache misses of two operations no longer overlap (a prefetch it does not
// wait for). And for whoever is named by a handle: lines, each of which says where the next one is. Keep no time, fire nothing.
#pragma once

#include "contenders/contender.hpp"

#include <optional>

namespace bench {

class floor_base {
public:
    static constexpr bool handle_is_timer = true;
    static constexpr bool real_time = false;

    template <class F>
    void work(std::size_t, F f) {
        f();
    }

    std::size_t pending() const noexcept { return pending_; }
    tally fired() const noexcept { return {}; }

protected:
    std::size_t pending_ = 0;
};

template <bool ReadsClock>
class floor : public floor_base {
public:
    static constexpr std::string_view name = ReadsClock ? "floor (clock, one line)" : "floor (one store)";

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

private:
    static std::uint64_t deadline_after(milliseconds delay) noexcept {
        std::chrono::nanoseconds at = delay;
        if constexpr (ReadsClock) at += std::chrono::steady_clock::now().time_since_epoch();
        return static_cast<std::uint64_t>(at.count());
    }
};

/// The handle, and so many lines behind it.
template <int Lines>
class floor_behind : public floor_base {
public:
    static constexpr std::string_view name =
        Lines == 1 ? "floor (clock, handle, line)" : "floor (clock, handle, two lines)";

    struct alignas(64) line {
        line* next = nullptr;
        std::uint64_t deadline = 0;
    };
    struct handle {
        line* first = nullptr;
    };

    fixed_array<handle> make_handles(std::size_t n) {
        lines_.emplace(n * Lines);
        return fixed_array<handle>(n);
    }

    void schedule(handle& h, std::uint32_t, milliseconds delay) {
        line& l = h.first != nullptr ? last_of(h) : take(h);
        __builtin_prefetch(&l, 1);
        const auto at = std::chrono::steady_clock::now() + delay;
        pending_ += l.deadline == 0;
        l.deadline = static_cast<std::uint64_t>(at.time_since_epoch().count());
    }
    bool cancel(handle& h) noexcept {
        line& l = last_of(h);
        const bool was_pending = l.deadline != 0;
        pending_ -= was_pending;
        l.deadline = 0;
        return was_pending;
    }
    void move(handle& h, std::uint32_t number, milliseconds delay) { schedule(h, number, delay); }

private:
    static line& last_of(handle& h) noexcept {
        line* l = h.first;
        for (int i = 1; i < Lines; ++i) l = l->next;
        return *l;
    }
    // In the order in which they are asked for, as memory is given out.
    line& take(handle& h) {
        for (line** link = &h.first; link == &h.first || next_ % Lines != 0; link = &(*link)->next)
            *link = &(*lines_)[next_++];
        return last_of(h);
    }

    std::optional<fixed_array<line>> lines_;
    std::size_t next_ = 0;
};

using floor_store = floor<false>;
using floor_clock = floor<true>;

using floor_token = floor_behind<1>;
using floor_slot = floor_behind<2>;

static_assert(contender<floor_store> && contender<floor_clock> && contender<floor_slot>);

} // namespace bench
