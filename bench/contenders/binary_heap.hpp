// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A binary heap whose timers know their place in it, so that each can be moved or taken out; the deadlines lie in the
// heap. What most event loops have. Deadlines are exact, as theirs are; time passes in virtual milliseconds.
#pragma once

#include "contenders/virtual_time.hpp"

#include <vector>

namespace bench {

class binary_heap : public virtual_time<binary_heap> {
    using base = virtual_time<binary_heap>;

public:
    using time_point = std::chrono::nanoseconds; // since the beginning

    static constexpr std::string_view name = "binary heap";
    static constexpr bool handle_is_timer = true;

    struct handle {
        std::size_t place = nowhere;
        void (*function)(binary_heap&, handle&) = nullptr;
        std::uint32_t number = 0;
    };

    void schedule(handle& h, std::uint32_t number, milliseconds delay) {
        h.number = number;
        h.function = &expire;
        heap_.emplace_back();
        rise(heap_.size() - 1, {after(delay), &h});
    }
    bool cancel(handle& h) {
        if (h.place == nowhere) return false;
        take_out(h);
        return true;
    }
    void move(handle& h, std::uint32_t number, milliseconds delay) { move_to(h, number, after(delay)); }
    void move_to(handle& h, std::uint32_t, time_point at) { settle(h.place, {at, &h}); }

    std::size_t pending() const noexcept { return heap_.size(); }

    time_point after(milliseconds delay) const noexcept { return milliseconds(now()) + delay; }
    bool reach(time_point at) { return base::reach({whole(at)}); }
    void fire_until(time_point at) { base::fire_until({whole(at + milliseconds(1) - time_point(1))}); }

    void expire_due() {
        while (!heap_.empty() && heap_.front().due <= milliseconds(now())) {
            handle& h = *heap_.front().timer;
            take_out(h);
            h.function(*this, h);
        }
    }

private:
    static constexpr std::size_t nowhere = ~std::size_t{0};

    struct entry {
        time_point due;
        handle* timer;
    };

    static std::uint64_t whole(time_point at) { return static_cast<std::uint64_t>(at / milliseconds(1)); }

    static void expire(binary_heap& self, handle& h) { self.fired_.record(h.number); }

    void take_out(handle& h) {
        const std::size_t place = h.place;
        const entry last = heap_.back();
        heap_.pop_back();
        h.place = nowhere;
        if (last.timer != &h) settle(place, last);
    }
    void put(std::size_t place, const entry& e) {
        heap_[place] = e;
        e.timer->place = place;
    }
    void settle(std::size_t place, const entry& e) {
        if (place > 0 && e.due < heap_[(place - 1) / 2].due)
            rise(place, e);
        else
            sink(place, e);
    }
    void rise(std::size_t place, const entry& e) {
        for (; place > 0 && e.due < heap_[(place - 1) / 2].due; place = (place - 1) / 2)
            put(place, heap_[(place - 1) / 2]);
        put(place, e);
    }
    void sink(std::size_t place, const entry& e) {
        for (;;) {
            std::size_t child = 2 * place + 1;
            if (child >= heap_.size()) break;
            if (child + 1 < heap_.size() && heap_[child + 1].due < heap_[child].due) ++child;
            if (heap_[child].due >= e.due) break;
            put(place, heap_[child]);
            place = child;
        }
        put(place, e);
    }

    std::vector<entry> heap_;
};

static_assert(firing_contender<binary_heap> && movable_contender<binary_heap>);

} // namespace bench
