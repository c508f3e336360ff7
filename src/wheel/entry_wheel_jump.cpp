// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The jump of entry_wheel: an advance() by more than a revolution. It takes the due entries out of all slots and puts
// them in order, instead of a walk for each revolution. It works in slices, within the budget of advance().
//
// walked_ is the end of the jump from its beginning on. So the wheel files timers as usual, except that a slot may
// still hold entries from before the jump. Such a slot is known by its lower bound, which walked_ has passed
// (ungathered()). The first new entry for it sends the old ones to jump_->taken, so the two kinds never mix in one
// slot. Timers that are armed meanwhile are due after walked_: they fire after all timers of the jump.
#include "prefetch_ahead.hpp"

#include <cogwheel/wheel/detail/entry_wheel.hpp>

#include <algorithm>

namespace cogwheel::inline v0_1::detail {

// Starts a jump to `stop`. Preconditions: descending_ and ready_ are empty. Errors: std::bad_alloc; then nothing
// changes.
void entry_wheel::begin_jump(std::uint64_t stop) {
    if (!jump_) jump_ = std::make_unique<entry_jump>();
    for (slot_ring& ring : outer_) ring.make();
    jump_->base = walked_;
    jump_->ring = jump_->slot = 0;
    jump_->due.begin(stop - walked_);
    walked_ = stop;
    phase_ = jump_phase::gathering;
    reach_ = 0;
}

// The first phase: takes the entries that a jump looks at out of their slots. Returns false if the budget is spent
// before the end. Errors: std::bad_alloc; the next call tries again.
bool entry_wheel::gather(work_budget& budget) {
    entry_jump& j = *jump_;
    do {
        while (!j.taken.empty()) {
            const chunk& c = *j.taken.head;
            for (; j.position < c.count; ++j.position) { // after success only, so a failed allocation loses nothing
                if (budget.spent()) return false;
                gather_one(c.entries[j.position]);
                budget.charge(2 * work_budget::entry); // a look at the node, and a move
            }
            chunks_.give(j.taken.pop_front());
            j.position = 0;
        }
        if (budget.spent()) return false;
    } while (gather_slots(budget));
    if (j.ring <= outer_.size()) return false;
    phase_ = jump_phase::sorting;
    reach_ = reach();
    next_cascade_ = next_cascade();
    return true;
}

// Takes the entries of the next slot that the jump has to look at. Returns false if there is none, or if the budget is
// spent.
bool entry_wheel::gather_slots(work_budget& budget) noexcept {
    entry_jump& j = *jump_;
    for (; j.ring <= outer_.size(); ++j.ring, j.slot = 0) {
        slot_ring& ring = j.ring == 0 ? near_ : outer_[j.ring - 1];
        while (j.slot < ring.size()) {
            if (budget.spent()) return false;
            const std::size_t skipped = ring.occupied.distance(j.slot, ring.size() - j.slot);
            budget.charge(work_budget::slot * static_cast<std::int64_t>(1 + skipped / 64));
            j.slot += skipped;
            if (j.slot == ring.size()) break;
            const std::size_t s = j.slot++;
            if (!ungathered(ring, s)) continue;
            take_out(ring, s);
            return true;
        }
    }
    return false;
}

// Puts a due entry into its bucket, and another one back into a slot.
void entry_wheel::gather_one(entry e) {
    entry_jump& j = *jump_;
    const std::uint64_t at = tick_before_jump(e);
    if (at > walked_ && at - j.base - 1 <= horizon) return put_while_gathering(e, at, walked_);
    prefetch_ahead(*j.taken.head, j.position);
    timer_node* node = nodes_.find(e.index);
    if (covers(e, node)) {
        const std::uint64_t due = deadline(*node);
        if (due > walked_) {
            push_for(*node, due, walked_);
        } else { // the entry moves to the deadline of its node
            j.due.add(chunks_, {e.index, static_cast<std::uint32_t>(due)}, due - j.base - 1);
            filed(*node, due);
            return;
        }
    }
    --entries_;
}

void entry_wheel::take_out(slot_ring& ring, std::size_t slot_index) noexcept {
    entry_chain entries = ring.take(slot_index);
    jump_->taken.append(entries);
    if (&ring != &near_) ++ring.cascades;
}

// The second phase: moves the next due entries to ready_, in order of ticks. Ends the jump if there are none.
void entry_wheel::sort_due(work_budget& budget) {
    constexpr std::uint32_t enough = 4 * chunk::capacity; // with fewer, fire_ready() could not prefetch ahead
    entry_jump& j = *jump_;
    ready_sorted_ = true;
    std::uint32_t moved = 0;
    while (split(budget)) {
        if (j.due.empty()) {
            phase_ = jump_phase::none;
            return;
        }
        if (moved >= enough || budget.spent()) return;
        budget.charge(work_budget::slot);
        unsigned bits = 0;
        entry_chain bucket = j.due.take(bits);
        if (bits <= 32 && bucket.has_at_most(sort_limit_)) {
            const std::uint32_t sorted =
                ready_.append_sorted(chunks_, bucket, static_cast<std::uint32_t>(j.base + 1), bits);
            budget.charge(2 * work_budget::slot * sorted);
            moved += sorted;
        } else if (bits == 0) {
            ready_.append(bucket);
            moved = enough;
        } else {
            j.due.split();
            j.taken = bucket;
        }
    }
}

// Distributes jump_->taken, a large bucket, to the buckets of the deepest level. Returns false if the budget is spent
// before the end. Errors: std::bad_alloc; the next call tries again.
bool entry_wheel::split(work_budget& budget) {
    entry_jump& j = *jump_;
    if (j.taken.empty()) return true;
    const bool from_nodes = j.due.bits() > 32; // an entry has 32 bits only; more are in its node
    while (!j.taken.empty()) {
        const chunk& c = *j.taken.head;
        for (; j.position < c.count; ++j.position) {
            if (budget.spent()) return false;
            const entry e = c.entries[j.position];
            std::uint64_t distance = e.tick - static_cast<std::uint32_t>(j.base + 1);
            budget.charge(from_nodes ? work_budget::entry : work_budget::slot);
            if (from_nodes) {
                prefetch_ahead(c, j.position);
                timer_node* node = nodes_.find(e.index);
                if (!covers(e, node) || filed(*node) > walked_) { // dead; or the node has another entry after the jump
                    --entries_;
                    continue;
                }
                distance = filed(*node) - j.base - 1;
            }
            j.due.add(chunks_, e, distance);
        }
        chunks_.give(j.taken.pop_front());
        j.position = 0;
    }
    return true;
}

void entry_wheel::drop_jump() noexcept {
    if (phase_ == jump_phase::none) return;
    jump_->taken.give_to(chunks_);
    jump_->position = 0;
    jump_->due.give_to(chunks_);
    phase_ = jump_phase::none;
    reach_ = reach();
}

} // namespace cogwheel::inline v0_1::detail
