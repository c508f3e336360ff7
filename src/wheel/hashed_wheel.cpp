// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What hashed_wheel does once a turn rather than once a timer: advancing.
#include <cogwheel/wheel/hashed_wheel.hpp>

namespace cogwheel {

struct hashed_wheel::turn {
    work_budget budget;
    void* context;
    std::uint64_t fired = 0;
};

hashed_wheel::hashed_wheel(node_table& nodes, std::size_t slots, tick now) : hashed_wheel(nodes, slots, {}, now) {}

hashed_wheel::hashed_wheel(node_table& nodes, std::size_t slots, std::span<const far_ring> far, tick now)
    : nodes_(nodes),
      now_(now.value),
      walked_(now.value),
      reach_(far.empty() ? horizon : std::bit_ceil(slots)),
      near_(slots, 1) {
    assert(slots >= 1 && slots <= max_slots);
    near_.make();
    for (const far_ring& ring : far) far_.emplace_back(ring.slots, ring.slot_ticks);
    chunks_.prefer_huge_pages(nodes.prefers_huge_pages());
}

// always_inline: GCC takes a function that only prefetches for one without effect, and drops the calls.
inline void hashed_wheel::prefetch_ahead(const chunk& c, std::uint32_t position) const noexcept {
    const auto look = [&](std::uint32_t ahead) -> const entry* {
        if (position + ahead < c.count) return &c.entries[position + ahead];
        const chunk* next = c.next;
        return next != nullptr && position + ahead - c.count < next->count ? &next->entries[position + ahead - c.count]
                                                                           : nullptr;
    };
    if (const entry* e = look(2 * prefetch_distance)) nodes_.prefetch_place(e->index);
    if (const entry* e = look(prefetch_distance)) nodes_.prefetch_node(e->index);
    if (const entry* e = look(prefetch_distance / 2)) nodes_.prefetch_beside(e->index);
}

advance_result hashed_wheel::advance(tick to, work_budget budget, void* context) {
    assert(!advancing_ && "advance() called from an expiry function");
    struct scope {
        bool& flag;
        explicit scope(bool& f) : flag(f) { flag = true; }
        ~scope() { flag = false; }
    } const advancing(advancing_);

    now_ = std::max(now_, to.value); // a clock that steps back is waited for
    interrupted_ = false;
    accept_overdue();
    turn t{budget, context};
    while (!t.budget.spent()) {
        if (!ready_.empty()) {
            if (!fire_ready(t)) break;
            continue;
        }
        if (!descending_.empty() && !descend(t)) break;
        // An overdue timer counts for the tick at which it was armed: after the slots up to there, before those behind.
        std::uint64_t stop = now_;
        if (const entry* e = first_overdue()) {
            timer_node* node = nodes_.find(e->index);
            const bool dead = !covers_overdue(*e, node);
            if (dead || node->deadline_ <= walked_) {
                pop_overdue();
                if (dead)
                    t.budget.charge(work_budget::entry);
                else
                    fire(t, *node);
                continue;
            }
            stop = node->deadline_;
        }
        if (walked_ == stop) return {t.fired, !overdue_new_.empty()};
        walk(t, stop);
    }
    return {t.fired, !ready_.empty() || walked_ < now_ || first_overdue() != nullptr || !overdue_new_.empty()};
}

void hashed_wheel::fire(turn& t, timer_node& node) {
    ++node.generation_;
    --size_;
    ++t.fired;
    t.budget.charge(work_budget::expiry);
    node.on_expiry_(node, t.context); // anything may have changed after this, ready_ and overdue_ included
    if (interrupted_) [[unlikely]]
        t.budget.spend_all();
}

// Empties the slots behind walked_ one by one, up to the first that holds something due: that becomes ready_.
void hashed_wheel::walk(turn& t, std::uint64_t stop) {
    if (stop - walked_ > slots()) return jump(stop);
    while (walked_ < stop && !t.budget.spent()) {
        if (next_cascade_ == walked_ + 1) {
            cascade();
            if (!descend(t)) return;
        }
        const std::size_t left = std::min(stop, next_cascade_ - 1) - walked_;
        const std::size_t skipped = near_.occupied.distance((walked_ + 1) & near_.mask, left);
        t.budget.charge(work_budget::slot * static_cast<std::int64_t>(1 + skipped / 64));
        if (skipped == left) {
            walked_ += left;
            continue;
        }
        walked_ += 1 + skipped;
        const std::size_t s = walked_ & near_.mask;
        if (near_.slots[s].low > walked_) continue; // all of later revolutions: not one entry is read
        ready_ = near_.take(s);
        ready_sorted_ = false;
        return;
    }
}

// Takes out the far slots that begin with the next tick: their time has come to be looked at tick by tick.
void hashed_wheel::cascade() noexcept {
    const std::uint64_t begin = walked_ + 1;
    for (detail::slot_ring& ring : far_) {
        if (begin % ring.slot_ticks != 0) break; // nor is it a multiple of what is longer
        const std::size_t s = ring.place(begin);
        if (ring.occupied.test(s) && ring.start_of(ring.slots[s].low) == begin) {
            detail::entry_chain taken = ring.take(s);
            descending_.append(taken);
        }
    }
}

// Moves what cascade() took out to nearer rings, and no timer is looked at. False when the budget ran out first.
bool hashed_wheel::descend(turn& t) {
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

// False when the budget ran out first.
bool hashed_wheel::fire_ready(turn& t) {
    while (!ready_.empty()) {
        chunk& c = *ready_.head;
        if (ready_position_ == c.count) {
            chunks_.give(ready_.pop_front());
            ready_position_ = 0;
        } else if (t.budget.spent()) {
            return false;
        } else if (ready_position_ == 0 && !ready_sorted_ && keep_if_all_future(c)) {
            t.budget.charge(work_budget::entry);
        } else {
            prefetch_ahead(c, ready_position_);
            consume(t, c.entries[ready_position_]);
        }
    }
    return true;
}

// Deals with the entry at ready_position_. Moves on only when that has succeeded: an allocation that fails loses nothing.
void hashed_wheel::consume(turn& t, entry e) {
    if (!ready_sorted_ && is_future(e)) {
        keep(e, full_tick(e));
        ++ready_position_;
        t.budget.charge(work_budget::slot);
        return;
    }
    timer_node* node = nodes_.find(e.index);
    if (covers(e, node) && node->deadline_ <= walked_) {
        ++ready_position_;
        --entries_;
        fire(t, *node);
        return;
    }
    if (covers(e, node)) // pushed back since it was filed: once to its true tick
        push_for(*node, node->deadline_, walked_);
    ++ready_position_;
    --entries_;
    t.budget.charge(work_budget::entry);
}

// More than a revolution behind: takes out all that is due and orders it, instead of going round for every revolution.
// Not interruptible; 1M due timers take about 30 ms beside being fired.
void hashed_wheel::jump(std::uint64_t stop) {
    // Every partly filled chunk below: whatever fails, fails here.
    for (detail::slot_ring& ring : far_) ring.make();
    chunks_.reserve(std::min(all_slots(), entries_) + jump_chunks);
    const std::uint64_t base = walked_;
    const std::uint64_t delta = stop - base;
    detail::entry_chain due;
    for_each_ring([&](detail::slot_ring& ring) {
        for (std::size_t s = 0; s < ring.size(); ++s) {
            if (!ring.occupied.test(s) || ring.start_of(ring.slots[s].low) > stop) continue;
            detail::entry_chain taken = ring.take(s);
            while (!taken.empty()) {
                chunk* c = taken.pop_front();
                for (std::uint32_t i = 0; i < c->count; ++i) {
                    const entry e = c->entries[i];
                    const std::uint32_t ahead = e.tick - static_cast<std::uint32_t>(base) - 1;
                    if (ahead >= delta && ahead <= horizon) {
                        put_anywhere(e, base + 1 + ahead, stop);
                        continue;
                    }
                    prefetch_ahead(*c, i);
                    timer_node* node = nodes_.find(e.index);
                    --entries_;
                    if (!covers(e, node)) continue;
                    if (node->deadline_ > stop) {
                        push_for(*node, node->deadline_, stop);
                    } else { // from here on filed at its deadline
                        due.push(chunks_, {e.index, static_cast<std::uint32_t>(node->deadline_)});
                        ++entries_;
                        node->filed_ = node->deadline_;
                    }
                }
                chunks_.give(c);
            }
        }
    });
    walked_ = stop;
    next_cascade_ = next_cascade();
    ready_ = due;
    ready_sorted_ = true;

    const auto low_base = static_cast<std::uint32_t>(base);
    if (delta >> 32 == 0) {
        ready_.sort(chunks_, low_base, static_cast<unsigned>(std::bit_width(delta)));
        return;
    }
    // An entry has 32 bits for its key: first the low halves, then the high ones in their place.
    const auto relabel = [&](unsigned shift) {
        for (chunk* c = ready_.head; c != nullptr; c = c->next)
            for (std::uint32_t i = 0; i < c->count; ++i)
                c->entries[i].tick = static_cast<std::uint32_t>(nodes_.find(c->entries[i].index)->deadline_ >> shift);
    };
    ready_.sort(chunks_, 0, 32);
    relabel(32);
    ready_.sort(chunks_, 0, 32);
    relabel(0);
}

} // namespace cogwheel
