// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// trim() of entry_wheel, in steps: it drops the dead entries, gives the memory of free chunks back, then that of nodes.
// Between the steps, the wheel is used as always. So a step relies on no more than the invariants of the wheel.
#include <cogwheel/detail/exceptions.hpp>
#include <cogwheel/wheel/detail/entry_wheel.hpp>

#include <utility>

namespace cogwheel::inline v0_1::detail {

bool entry_wheel::trim() noexcept {
    trim_position at;
    while (trim(at, work_budget::unlimited())) {
    }
    return at.done();
}

bool entry_wheel::trim(trim_position& at, work_budget budget) noexcept {
    using phase = trim_position::phase;
    switch (at.next) {
    case phase::begin:
        at.next = trim_may_begin() ? phase::leftovers : phase::refused;
        if (at.next == phase::refused) return false;
        [[fallthrough]];
    case phase::leftovers:
        if (!drop_leftovers(budget)) return true;
        at.next = phase::slots;
        [[fallthrough]];
    case phase::slots:
        if (!trim_slots(at, budget)) return true;
        chunks_.begin_trim();
        at.next = phase::chunks;
        [[fallthrough]];
    case phase::chunks:
        if (chunks_.trim(budget)) return true;
        nodes_.begin_trim();
        at.next = phase::nodes;
        [[fallthrough]];
    case phase::nodes:
        if (nodes_.trim(budget)) return true;
        at.next = phase::done;
        [[fallthrough]];
    default:
        return false;
    }
}

bool entry_wheel::trim_may_begin() noexcept {
    if (advancing_) return false;
    if (size_ == 0) return true;
    return walked_ == now_ && phase_ == jump_phase::none && ready_.empty() && descending_.empty() && !overdue_pending();
}

// If no timer is pending, drops the entries that an advance() that ended early has left in its own chains. Returns
// false if the budget is spent before the end.
bool entry_wheel::drop_leftovers(work_budget& budget) noexcept {
    COGWHEEL_TRY {
        while (size_ == 0 && !advancing_) {
            if (budget.spent()) return false;
            if (!ready_.empty()) {
                drop_chunk(ready_, ready_position_, budget);
            } else if (gathering()) {
                gather(budget);
            } else if (phase_ == jump_phase::sorting) {
                sort_due(budget);
            } else if (!descending_.empty()) {
                drop_chunk(descending_, descending_position_, budget);
                if (descending_.empty()) next_cascade_ = next_cascade();
            } else if (!overdue_.empty()) {
                drop_overdue_chunk(budget);
            } else if (!overdue_new_.empty()) {
                accept_overdue();
            } else {
                break;
            }
        }
    }
    COGWHEEL_CATCH {
        // A jump found no memory: the next advance() drops its entries.
    }
    return true;
}

void entry_wheel::drop_chunk(entry_chain& chain, std::uint32_t& position, work_budget& budget) noexcept {
    chunk* c = chain.pop_front();
    for (std::uint32_t i = std::exchange(position, 0); i < c->count; ++i) {
        forget(c->entries[i], nodes_.find(c->entries[i].index));
        budget.charge(work_budget::entry);
    }
    chunks_.give(c);
}

void entry_wheel::drop_overdue_chunk(work_budget& budget) noexcept {
    chunk* c = overdue_.pop_front();
    overdue_entries_ -= c->count - std::exchange(overdue_position_, 0);
    budget.charge(work_budget::entry);
    chunks_.give(c);
}

// Drops the dead entries of the slots. Returns false if the budget is spent before the end. A jump that is under way
// drops those of the slots that it has not reached.
bool entry_wheel::trim_slots(trim_position& at, work_budget& budget) noexcept {
    constexpr std::uint32_t small = 16 * chunk::capacity; // such a slot is done in one step
    for (; at.ring <= outer_.size(); ++at.ring, at.slot = 0) {
        slot_ring& ring = at.ring == 0 ? near_ : outer_[at.ring - 1];
        for (; at.slot < ring.size(); ++at.slot, at.chunks_left = 0) {
            if (budget.spent()) return false;
            const std::size_t skipped = ring.occupied.distance(at.slot, ring.size() - at.slot);
            budget.charge(work_budget::slot * static_cast<std::int64_t>(1 + skipped / 64));
            if (skipped != 0) at.chunks_left = 0;
            at.slot += skipped;
            if (at.slot == ring.size()) break;
            slot& s = ring.slots[at.slot];
            if (gathering() && ungathered(ring, at.slot)) continue;
            if (at.chunks_left == 0 && s.entries <= small) {
                budget.charge(work_budget::entry * s.entries);
                for (entry_chain all = ring.take(at.slot); !all.empty();) refile_living(ring, at.slot, all.pop_front());
                continue;
            }
            // A few chunks of the slot may be partly filled (reserve()).
            if (at.chunks_left == 0) at.chunks_left = s.entries / chunk::capacity + 3;
            for (; at.chunks_left != 0 && s.entries != 0; --at.chunks_left) {
                if (budget.spent()) return false;
                budget.charge(work_budget::entry * chunk::capacity);
                refile_first_chunk(ring, at.slot);
            }
        }
    }
    return true;
}

} // namespace cogwheel::inline v0_1::detail
