// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// advance() of entry_wheel: the walk over the slots, and the expiry of timers. The jump is in entry_wheel_jump.cpp.
#include "prefetch_ahead.hpp"

#include <cogwheel/detail/assertion.hpp>
#include <cogwheel/wheel/detail/entry_wheel.hpp>

#include <algorithm>

namespace cogwheel::inline v0_1::detail {

struct entry_wheel::turn {
    work_budget budget;
    void* context;
    std::uint64_t fired = 0;
};

entry_wheel::entry_wheel(node_table& nodes, std::size_t slots, tick now)
    : nodes_(nodes), now_(now.value), walked_(now.value), near_(slots, 1) {
    COGWHEEL_ASSERT(slots >= 1 && slots <= max_slots);
    near_.make();
    chunks_.prefer_huge_pages(nodes.prefers_huge_pages());
}

entry_wheel::~entry_wheel() = default;

advance_result entry_wheel::advance(tick to, work_budget budget, void* context) {
    COGWHEEL_ASSERT(!advancing_ && "advance() called from a completion function");
    struct scope {
        bool& flag;
        explicit scope(bool& f) : flag(f) { flag = true; }
        ~scope() { flag = false; }
    } const advancing(advancing_);

    now_ = std::max(now_, to.value); // when a clock steps back, the wheel stands still until it catches up
    interrupted_ = false;
    accept_overdue();
    turn t{budget, context};
    while (!t.budget.spent()) {
        if (!ready_.empty()) {
            fire_ready(t);
            continue;
        }
        if (phase_ != jump_phase::none) {
            if (!gathering() || gather(t.budget)) sort_due(t.budget);
            continue;
        }
        if (!descending_.empty() && !descend(t)) break;
        // An overdue timer counts for the tick at which it was armed: it fires after the slots up to that tick.
        std::uint64_t stop = now_;
        if (const entry* e = first_overdue()) {
            timer_node* node = nodes_.find(e->index);
            const bool dead = !covers_overdue(*e, node);
            if (dead || deadline(*node) <= walked_) {
                pop_overdue();
                if (dead)
                    t.budget.charge(work_budget::entry);
                else
                    fire(t, *node);
                continue;
            }
            stop = deadline(*node);
        }
        if (walked_ == stop) return {t.fired, !overdue_new_.empty()};
        walk(t, stop);
    }
    const bool left = !ready_.empty() || phase_ != jump_phase::none || walked_ < now_ || first_overdue() != nullptr;
    return {t.fired, left || !overdue_new_.empty(), left && !interrupted_};
}

void entry_wheel::fire(turn& t, timer_node& node) {
    next_generation(node);
    --size_;
    ++t.fired;
    t.budget.charge(work_budget::expiry);
    node.complete(t.context); // may change anything, ready_ and overdue_ included
    if (interrupted_) [[unlikely]]
        t.budget.spend_all();
}

// Moves walked_ forward to the next slot that may hold a due entry, and takes the entries of that slot as ready_. Stops
// before that at `stop`, or when the budget is spent.
void entry_wheel::walk(turn& t, std::uint64_t stop) {
    if (stop - walked_ > slots()) return begin_jump(stop);
    while (walked_ < stop && !t.budget.spent()) {
        if (next_cascade_ == walked_ + 1) {
            cascade();
            if (!descend(t)) return;
        }
        const auto left = static_cast<std::size_t>(std::min(stop, next_cascade_ - 1) - walked_);
        const std::size_t skipped = near_.occupied.distance(near_.wrapped(walked_ + 1), left);
        t.budget.charge(work_budget::slot * static_cast<std::int64_t>(1 + skipped / 64));
        if (skipped == left) {
            walked_ += left;
            continue;
        }
        walked_ += 1 + skipped;
        const std::size_t s = near_.wrapped(walked_);
        if (near_.slots[s].low > walked_) continue; // all entries are of later revolutions: none is read
        ready_ = near_.take(s);
        ready_sorted_ = false;
        return;
    }
}

// Takes the entries of the outer slots that begin with the next tick. descend() then moves them to nearer rings.
void entry_wheel::cascade() noexcept {
    const std::uint64_t begin = walked_ + 1;
    for (slot_ring& ring : outer_) {
        if (begin % ring.slot_ticks != 0) break; // no slot of the further rings begins here either
        const std::size_t s = ring.place(begin);
        if (ring.occupied.test(s) && ring.start_of(ring.slots[s].low) == begin) {
            entry_chain taken = ring.take(s);
            descending_.append(taken);
            ++ring.cascades;
        }
    }
}

// Moves the entries that cascade() took out to nearer rings, without a look at their nodes. Returns false if the budget
// is spent before that.
bool entry_wheel::descend(turn& t) {
    while (!descending_.empty()) {
        const chunk& c = *descending_.head;
        for (; descending_position_ < c.count; ++descending_position_) {
            if (t.budget.spent()) return false;
            const entry e = c.entries[descending_position_];
            put_anywhere(e, full_tick(e), walked_);
            t.budget.charge(work_budget::slot);
        }
        chunks_.give(descending_.pop_front());
        descending_position_ = 0;
    }
    next_cascade_ = next_cascade();
    return true;
}

// Handles the entries of ready_ until it is empty or the budget is spent.
void entry_wheel::fire_ready(turn& t) {
    while (!ready_.empty()) {
        chunk& c = *ready_.head;
        if (ready_position_ == c.count) {
            chunks_.give(ready_.pop_front());
            ready_position_ = 0;
        } else if (t.budget.spent()) {
            return;
        } else if (ready_position_ == 0 && !ready_sorted_ && keep_if_all_future(c)) {
            t.budget.charge(work_budget::entry);
        } else {
            prefetch_ahead(c, ready_position_);
            consume(t, c.entries[ready_position_]);
        }
    }
}

// Handles the entry at ready_position_. Increments the position only after success, so a failed allocation loses
// nothing.
void entry_wheel::consume(turn& t, entry e) {
    if (!ready_sorted_ && is_future(e)) {
        keep(e, full_tick(e));
        ++ready_position_;
        t.budget.charge(work_budget::slot);
        return;
    }
    timer_node* node = nodes_.find(e.index);
    if (covers(e, node) && deadline(*node) <= walked_) {
        ++ready_position_;
        --entries_;
        fire(t, *node);
        return;
    }
    if (covers(e, node)) // moved to a later tick since it was filed: gets one entry there
        push_for(*node, deadline(*node), walked_);
    ++ready_position_;
    --entries_;
    t.budget.charge(work_budget::entry);
}

} // namespace cogwheel::inline v0_1::detail
