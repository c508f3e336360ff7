// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The textbook's hashed wheel: scheme 6 of Varghese & Lauck (1987) with a doubly linked list a slot, through the timers
// themselves. As many slots as the core beside it, virtual ticks of 1 ms.
#pragma once

#include "contenders/virtual_time.hpp"

#include <array>

namespace bench {

class linked_wheel : public virtual_time<linked_wheel> {
    struct link {
        link* next = this;
        link* previous = this;
    };

public:
    static constexpr std::string_view name = "linked wheel";
    static constexpr bool handle_is_timer = true;

    struct handle : link {
        std::uint64_t due = 0;
        void (*function)(linked_wheel&, handle&) = nullptr;
        std::uint32_t number = 0;
    };

    void schedule(handle& h, std::uint32_t number, milliseconds delay) {
        h.number = number;
        h.function = &expire;
        insert(h, after(delay).tick);
        ++size_;
    }
    bool cancel(handle& h) {
        if (h.next == &h) return false;
        remove(h);
        --size_;
        return true;
    }
    void move(handle& h, std::uint32_t number, milliseconds delay) { move_to(h, number, after(delay)); }
    void move_to(handle& h, std::uint32_t, time_point at) {
        remove(h);
        insert(h, at.tick);
    }

    std::size_t pending() const noexcept { return size_; }

    void expire_due() {
        while (walked_ < now()) {
            link& slot = slots_[++walked_ % slots_.size()];
            for (link* at = slot.next; at != &slot;) {
                handle& h = static_cast<handle&>(*at);
                at = at->next;
                if (h.due > walked_) continue; // a later revolution
                remove(h);
                --size_;
                h.function(*this, h);
            }
        }
    }

private:
    static void expire(linked_wheel& self, handle& h) { self.fired_.record(h.number); }

    void insert(handle& h, std::uint64_t due) {
        h.due = due;
        link& slot = slots_[due % slots_.size()];
        h.previous = slot.previous;
        h.next = &slot;
        slot.previous->next = &h;
        slot.previous = &h;
    }
    static void remove(handle& h) {
        h.previous->next = h.next;
        h.next->previous = h.previous;
        h.next = h.previous = &h;
    }

    std::array<link, 512> slots_;
    std::uint64_t walked_ = 0;
    std::size_t size_ = 0;
};

static_assert(firing_contender<linked_wheel> && movable_contender<linked_wheel>);

} // namespace bench
