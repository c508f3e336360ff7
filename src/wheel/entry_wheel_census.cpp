// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What an entry_wheel holds, for those who watch it: counts of slots and entries, and the check of the invariants.
#include <cogwheel/wheel/detail/entry_wheel.hpp>

#include <algorithm>

namespace cogwheel::inline v0_1::detail {

std::size_t entry_wheel::footprint() const noexcept {
    std::size_t bytes = near_.footprint() + chunks_.footprint();
    for (const slot_ring& ring : outer_) bytes += ring.footprint();
    if (jump_) bytes += sizeof *jump_;
    return bytes;
}

bool entry_wheel::count_slots(std::size_t level, std::size_t first, std::size_t count,
                              level_census& census) const noexcept {
    const slot_ring& ring = level == 0 ? near_ : outer_[level - 1];
    census.slot_ticks = ring.slot_ticks;
    census.slots = ring.slots.size();
    census.reach = ring.slot_ticks * ring.size();
    census.cascades = ring.cascades;
    const std::size_t end = first + std::min(count, ring.slots.size() - std::min(first, ring.slots.size()));
    for (std::size_t s = first; s < end; ++s) {
        const std::uint64_t entries = ring.slots[s].entries;
        census.entries += entries;
        census.occupied += entries != 0 ? 1 : 0;
        census.fullest = std::max(census.fullest, entries);
        if (census.groups != nullptr) census.groups[s >> census.group_bits] += entries;
    }
    return end < ring.slots.size();
}

std::size_t entry_wheel::due(tick at, std::size_t limit) const noexcept {
    std::size_t found = 0;
    // Counts the entries of a chain from `done` on. Returns false if it has looked at enough.
    const auto count = [&](const entry_chain& chain, std::uint32_t done, auto counts) {
        for (const chunk* c = chain.head; c != nullptr; c = c->next, done = 0) {
            for (std::uint32_t i = done; i < c->count; ++i) found += counts(c->entries[i]) ? 1U : 0U;
            if (limit <= c->count) return false;
            limit -= c->count;
        }
        return true;
    };
    const auto always = [](entry) { return true; };
    const auto by_then = [&](entry e) { return full_tick(e) <= at.value; };
    if (!count(overdue_, overdue_position_, always) || !count(overdue_new_, 0, always)) return found;
    bool enough = false;
    if (phase_ != jump_phase::none) {
        jump_->due.for_each([&](const entry_chain& bucket, auto) {
            if (!enough) enough = !count(bucket, 0, always);
        });
        const auto before = [&](entry e) { return !gathering() || tick_before_jump(e) <= at.value; };
        if (!enough) enough = !count(jump_->taken, jump_->position, before);
        const auto look_back = [&](const slot_ring& ring) {
            for (std::size_t s = 0; gathering() && !enough && s < ring.slots.size(); ++s)
                if (ungathered(ring, s)) enough = !count(ring.slots[s].chain, 0, before);
        };
        look_back(near_);
        for (const slot_ring& ring : outer_) look_back(ring);
        if (enough) return found;
    }
    if (!(ready_sorted_ ? count(ready_, ready_position_, always) : count(ready_, ready_position_, by_then)) ||
        !count(descending_, descending_position_, by_then) || at.value <= walked_)
        return found;
    const auto look = [&](const slot_ring& ring) {
        const std::uint64_t first = walked_ + ring.slot_ticks;
        if (enough || ring.slots.empty() || ring.start_of(at.value) < ring.start_of(first)) return;
        ring.search(first, ring.turned(at.value) - ring.turned(first) + 1, [&](std::size_t s, std::uint64_t) {
            if (ring.slots[s].low <= at.value && !(gathering() && ungathered(ring, s)))
                enough = !count(ring.slots[s].chain, 0, by_then);
            return !enough;
        });
    };
    look(near_);
    for (const slot_ring& ring : outer_) look(ring);
    return found;
}

const char* entry_wheel::check_invariants() const {
    std::vector<bool> covered; // whether an entry covers each index
    std::size_t armed = 0, entries = 0;
    const char* fault = nullptr;
    const auto expect = [&](bool holds, const char* what) {
        if (!holds && fault == nullptr) fault = what;
    };
    const auto cover = [&](entry e, const timer_node* node, bool overdue) {
        if (node == nullptr || is_overdue(filed(*node)) != overdue ||
            static_cast<std::uint32_t>(filed(*node)) != e.tick)
            return;
        if (covered.size() <= e.index) covered.resize(e.index + 1);
        covered[e.index] = true;
    };
    const auto check = [&](const slot_ring& ring) {
        for (std::size_t s = 0; s < ring.slots.size(); ++s) {
            const slot& slot = ring.slots[s];
            if (slot.chain.empty() && slot.entries == 0 && !ring.occupied.test(s)) continue;
            const bool before_jump = gathering() && ungathered(ring, s);
            const std::uint64_t passed = before_jump ? jump_->base : walked_;
            std::uint32_t here = 0;
            slot.chain.for_each([&](entry e) {
                ++here;
                const timer_node* node = nodes_.find(e.index);
                cover(e, node, false);
                expect(ring.place(before_jump ? tick_before_jump(e) : full_tick(e)) == s,
                       "an entry in a slot that is not its tick's");
                const bool matters = node != nullptr && static_cast<std::uint32_t>(filed(*node)) == e.tick &&
                                     !is_overdue(filed(*node)) && (node->armed() || filed(*node) > now_);
                expect(!matters || slot.low <= filed(*node), "a lower bound above an entry");
                expect(!matters || ring.start_of(filed(*node)) > passed, "a live entry that was passed by");
            });
            entries += here;
            expect(here == slot.entries, "a slot that miscounts its entries");
            expect(ring.occupied.test(s) == (here != 0), "an occupancy bit that is wrong");
            expect(here == 0 || &ring == &near_ || !descending_.empty() || gathering() ||
                       next_cascade_ <= ring.start_of(slot.low),
                   "a far slot that nobody will take out in time");
        }
    };
    check(near_);
    for (const slot_ring& ring : outer_) check(ring);
    expect(gathering() || next_cascade_ > walked_, "walked past a far slot");
    const auto count = [&](const entry_chain& chain, std::uint32_t done) {
        chain.for_each([&](entry e) {
            if (done != 0) {
                --done;
                return;
            }
            ++entries;
            cover(e, nodes_.find(e.index), false);
        });
    };
    count(ready_, ready_position_);
    count(descending_, descending_position_);
    if (jump_) {
        count(jump_->taken, jump_->position);
        jump_->due.for_each([&](const entry_chain& bucket, auto) { count(bucket, 0); });
    }
    const char* const jump_fault = check_jump();
    expect(jump_fault == nullptr, jump_fault);
    std::uint32_t position = overdue_position_;
    std::size_t overdue = 0;
    const auto count_overdue = [&](entry e) {
        if (position != 0) {
            --position;
            return;
        }
        ++overdue;
        cover(e, nodes_.find(e.index), true);
    };
    overdue_.for_each(count_overdue);
    overdue_new_.for_each(count_overdue);
    nodes_.for_each([&](const timer_node& node) {
        const bool led_to = index(node) < covered.size() && covered[index(node)];
        if (!node.armed()) {
            expect(led_to || is_overdue(filed(node)) || filed(node) <= now_,
                   "a dead timer without the entry to take over");
            return;
        }
        ++armed;
        expect(led_to, "an armed timer that no entry covers");
        expect(is_overdue(filed(node)) || filed(node) <= deadline(node), "a timer filed behind its deadline");
    });
    expect(armed == size_, "size() is not the number of armed timers");
    expect(entries == entries_ && overdue == overdue_entries_, "entries() is not the number of entries");
    expect(walked_ <= now_, "walked beyond the present");
    return fault;
}

// Returns nullptr, or a text that names a broken invariant of the jump. The caller checks that all entries are counted.
const char* entry_wheel::check_jump() const {
    if (reach_ != (gathering() ? 0 : reach())) return "a reach that does not fit the phase of the jump";
    if (phase_ == jump_phase::none)
        return jump_ && (!jump_->taken.empty() || jump_->position != 0) ? "a jump that left entries behind" : nullptr;
    if (jump_->base >= walked_) return "a jump backwards";
    const char* fault = nullptr;
    std::uint64_t earliest = 0; // of the entries that are still to come
    const auto check = [&](entry e) {
        const timer_node* node = nodes_.find(e.index);
        if (!covers(e, node) || filed(*node) > walked_) return std::uint64_t{0}; // another entry covers the node
        if (filed(*node) <= jump_->base) fault = "an entry from before the jump";
        if (filed(*node) < earliest) fault = "entries of a jump that are out of order";
        return filed(*node);
    };
    if (!gathering()) {
        ready_.for_each([&](entry e) { earliest = std::max(earliest, check(e)); });
        jump_->taken.for_each(check);
    }
    jump_->due.for_each([&](const entry_chain& bucket, auto belongs) {
        std::uint64_t latest = earliest;
        bucket.for_each([&](entry e) {
            const std::uint64_t at = check(e);
            if (at != 0 && !belongs(at - jump_->base - 1)) fault = "an entry in a wrong bucket";
            latest = std::max(latest, at);
        });
        earliest = latest;
    });
    return fault;
}

} // namespace cogwheel::inline v0_1::detail
