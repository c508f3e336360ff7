// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The entries of entry_wheel: filing, sweeping, and the search for the next due tick.
#include <cogwheel/detail/assertion.hpp>
#include <cogwheel/wheel/detail/entry_wheel.hpp>

#include <algorithm>

namespace cogwheel::inline v0_1::detail {

// Adds an entry to the last chunk of the slot. Returns false if the slot has no chunk with room. With one, there is
// nothing to allocate, and the slot is marked as occupied already.
inline bool entry_wheel::push_on(timer_node& node, std::uint64_t at) noexcept {
    slot& to = near_.slots[near_.wrapped(at)];
    chunk* tail = to.chain.tail;
    if (tail == nullptr || tail->count == chunk::capacity) return false;
    tail->entries[tail->count++] = {index(node), static_cast<std::uint32_t>(at)};
    ++to.entries;
    to.low = std::min(to.low, at);
    ++entries_;
    filed(node, at);
    return true;
}

void entry_wheel::push(timer_node& node, std::uint64_t at) {
    if (push_on(node, at)) return;
    const std::size_t s = near_.wrapped(at);
    near_.slots[s].chain.append(chunks_.take());
    near_.occupied.set(s);
    push_on(node, at);
}

// Returns the nearest outer ring that reaches from `from` to `at`, or the last ring if none reaches so far.
inline slot_ring& entry_wheel::outer_for(std::uint64_t at, std::uint64_t from) noexcept {
    auto ring = outer_.begin();
    while (ring->turned(at) - ring->turned(from) > ring->size() && ring + 1 != outer_.end()) ++ring;
    return *ring;
}

void entry_wheel::put_outer(entry e, std::uint64_t at, std::uint64_t from) {
    if (gathering()) [[unlikely]]
        return put_while_gathering(e, at, from);
    slot_ring& ring = outer_for(at, from);
    ring.make();
    ring.put(chunks_, ring.place(at), e, at);
    next_cascade_ = std::min(next_cascade_, ring.start_of(at));
}

// Puts an entry into a slot while a jump gathers. The entries from before the jump leave this slot first.
void entry_wheel::put_while_gathering(entry e, std::uint64_t at, std::uint64_t from) {
    slot_ring& ring = at - from <= reach() ? near_ : outer_for(at, from);
    const std::size_t s = ring.place(at);
    if (ungathered(ring, s)) take_out(ring, s);
    ring.put(chunks_, s, e, at);
}

// Puts an entry back that entries_ counts already. Chooses the ring by the distance from `from`.
void entry_wheel::put_anywhere(entry e, std::uint64_t at, std::uint64_t from) {
    if (at - from <= reach_)
        keep(e, at);
    else
        put_outer(e, at, from);
}

void entry_wheel::push_outer(timer_node& node, std::uint64_t at, std::uint64_t from) {
    put_outer({index(node), static_cast<std::uint32_t>(at)}, at, from);
    ++entries_;
    filed(node, at);
}

// Adds an entry for a timer due at `due`: at that tick, or at the horizon. `from` is walked_ and not now_, because the
// ticks of entries are read relative to walked_.
void entry_wheel::push_for(timer_node& node, std::uint64_t due, std::uint64_t from) {
    const std::uint64_t at = std::min(due, from + horizon);
    if (at - from <= reach_)
        push(node, at);
    else
        push_outer(node, at, from);
}

// Files the timer in the usual case. Returns false in all other cases; then nothing has changed.
inline bool entry_wheel::file_simply(timer_node& node, std::uint64_t due) noexcept {
    if (due <= now_ || due - walked_ > reach_ || entries_ > 2 * size_ + garbage_slack || !push_on(node, due))
        return false;
    deadline(node, due);
    return true;
}

// Sets the deadline, and adds an entry that covers the node.
void entry_wheel::file(timer_node& node, std::uint64_t due) {
    if (file_simply(node, due)) return;
    if (due <= now_) return file_overdue(node);
    if (entries_ > 2 * size_ + garbage_slack) sweep();
    push_for(node, due, walked_);
    deadline(node, due);
}

void entry_wheel::schedule_anew(timer_node& node, std::uint64_t due) {
    if (!file_simply(node, due)) schedule_slowly(node, due);
}

[[gnu::noinline]] void entry_wheel::schedule_slowly(timer_node& node, std::uint64_t due) {
    try {
        file(node, due);
    } catch (...) {
        generation(node, generation(node) - 1);
        --size_;
        throw;
    }
}

void entry_wheel::file_overdue(timer_node& node) {
    const std::uint64_t serial = overdue_serial_ + 1;
    const entry made{index(node), static_cast<std::uint32_t>(serial)};
    // Overwrites the last entry if that is dead, or of the same node. So a handler that arms and cancels in a loop adds
    // one entry only.
    entry* last = overdue_new_.last();
    if (last != nullptr && (last->index == index(node) || !covers_overdue(*last, nodes_.find(last->index)))) {
        *last = made;
    } else {
        if (overdue_entries_ > overdue_limit_) sweep_overdue();
        overdue_new_.push(chunks_, made);
        ++overdue_entries_;
    }
    overdue_serial_ = serial;
    filed(node, overdue_bit | serial);
    deadline(node, now_);
}

entry* entry_wheel::first_overdue() noexcept {
    while (!overdue_.empty() && overdue_position_ == overdue_.head->count) {
        chunks_.give(overdue_.pop_front());
        overdue_position_ = 0;
    }
    return overdue_.empty() ? nullptr : &overdue_.head->entries[overdue_position_];
}

void entry_wheel::pop_overdue() noexcept {
    ++overdue_position_;
    --overdue_entries_;
}

// Moves the entries of overdue_new_ to overdue_. Copies a single chunk into the last chunk of overdue_. Otherwise each
// turn with few such timers would leave a chunk that is almost empty.
void entry_wheel::accept_overdue() noexcept {
    if (overdue_new_.head == nullptr || overdue_new_.head != overdue_new_.tail) return overdue_.append(overdue_new_);
    chunk* c = overdue_new_.pop_front();
    const chunk copy = *c;
    chunks_.give(c); // before the pushes, so that they cannot fail
    for (std::uint32_t i = 0; i < copy.count; ++i) overdue_.push(chunks_, copy.entries[i]);
}

// Drops the dead overdue entries and keeps the order. Runs when the number of entries has doubled since the last sweep.
// So it costs amortised O(1) per new entry.
void entry_wheel::sweep_overdue() noexcept {
    keep_living_overdue(overdue_, std::exchange(overdue_position_, 0));
    keep_living_overdue(overdue_new_, 0);
    overdue_limit_ = 2 * overdue_entries_ + garbage_slack;
}

void entry_wheel::keep_living_overdue(entry_chain& chain, std::uint32_t position) noexcept {
    entry_chain kept;
    for (; !chain.empty(); position = 0) {
        chunk* c = chain.pop_front();
        const chunk copy = *c; // the chunk goes back to the pool first, so that the pushes below cannot fail
        chunks_.give(c);
        for (std::uint32_t i = position; i < copy.count; ++i) {
            const entry e = copy.entries[i];
            if (covers_overdue(e, nodes_.find(e.index)))
                kept.push(chunks_, e);
            else
                --overdue_entries_;
        }
    }
    chain = kept;
}

// Returns true if an overdue timer is pending. Drops the dead entries before it. Preconditions: no advance() is under
// way.
bool entry_wheel::overdue_pending() noexcept {
    accept_overdue();
    while (const entry* e = first_overdue()) {
        if (covers_overdue(*e, nodes_.find(e->index))) return true;
        pop_overdue();
    }
    return false;
}

// If all entries of `c`, the first chunk of ready_, are of later revolutions, moves the whole chunk back to its slot
// and returns true. So a million timers of later revolutions cost 16,000 calls per revolution.
bool entry_wheel::keep_if_all_future(chunk& c) noexcept {
    std::int32_t earliest = std::numeric_limits<std::int32_t>::max();
    for (std::uint32_t i = 0; i < c.count; ++i)
        earliest =
            std::min(earliest, static_cast<std::int32_t>(c.entries[i].tick - static_cast<std::uint32_t>(walked_)));
    if (earliest <= 0) return false;
    ready_.pop_front();
    const std::uint64_t at = walked_ + static_cast<std::uint64_t>(earliest);
    const std::size_t s = near_.wrapped(at);
    slot& to = near_.slots[s];
    if (to.entries == 0) near_.occupied.set(s);
    to.entries += c.count;
    to.low = std::min(to.low, at);
    // A handler may have armed a timer in this slot meanwhile, which leaves a chunk partly filled. Fills that chunk
    // first, because only the last chunk of a chain may have room.
    chunk* tail = to.chain.tail;
    while (tail != nullptr && tail->count < chunk::capacity && c.count != 0)
        tail->entries[tail->count++] = c.entries[--c.count];
    if (c.count != 0)
        to.chain.append(&c);
    else
        chunks_.give(&c);
    return true;
}

// Drops an entry that covers no node. If its node is not armed and counts on this entry for take-over, marks it as not
// filed.
void entry_wheel::forget(entry e, timer_node* node) noexcept {
    --entries_;
    if (node != nullptr && !node->armed() && !is_overdue(filed(*node)) &&
        static_cast<std::uint32_t>(filed(*node)) == e.tick)
        filed(*node, not_filed);
}

std::optional<tick> entry_wheel::next_due() {
    if (size_ == 0) return std::nullopt;
    if (advancing_ || !ready_.empty() || phase_ != jump_phase::none || walked_ < now_) return tick{now_};
    if (overdue_pending()) return tick{now_};
    for (std::uint32_t allowance = confirm_allowance;;) {
        std::uint64_t best = slot_ring::never;
        std::size_t best_slot = 0;
        slot_ring* best_ring = nullptr;
        for_each_ring([&](slot_ring& ring) {
            ring.search(walked_ + ring.slot_ticks, ring.size(), [&](std::size_t s, std::uint64_t start) {
                if (best < start) return false;
                if (ring.slots[s].low < best) {
                    best = ring.slots[s].low;
                    best_slot = s;
                    best_ring = &ring;
                }
                return true;
            });
        });
        COGWHEEL_ASSERT(best_ring != nullptr && "a pending timer without an entry");
        if (confirm_low(*best_ring, best_slot, allowance)) return tick{best};
    }
}

std::optional<tick> entry_wheel::occupied(tick from, tick to) const noexcept {
    std::optional<tick> found;
    const std::uint64_t first = std::max(from.value, walked_ + 1);
    const auto look = [&](const slot_ring& ring) {
        if (found || to.value < first || ring.slots.empty()) return;
        ring.search(first, ring.turned(to.value) - ring.turned(first) + 1, [&](std::size_t s, std::uint64_t) {
            const std::uint64_t low = ring.slots[s].low;
            if (low >= first && low <= to.value) found = tick{low};
            return !found;
        });
    };
    look(near_);
    for (const slot_ring& ring : outer_) look(ring);
    return found;
}

// Returns the first tick of the nearest outer slot with entries, or slot_ring::never.
std::uint64_t entry_wheel::next_cascade() const noexcept {
    std::uint64_t first = slot_ring::never;
    for (const slot_ring& ring : outer_)
        ring.search(walked_ + ring.slot_ticks, ring.size(), [&](std::size_t s, std::uint64_t start) {
            if (first <= start) return false;
            first = std::min(first, ring.start_of(ring.slots[s].low));
            return true;
        });
    return first;
}

// Returns true if the slot has a live entry at its lower bound. Otherwise drops the dead entries there, raises the
// bound and returns false. Also returns true when the allowance is spent, so that a burst of cancels does not stall a
// turn. The driver then wakes early and finds no due timer; the next call continues. The work here is not extra: it
// saves an early wake-up that would visit the same slot. next_due() may ask about one slot once for each of its ticks.
// So after half of the allowance, this function drops all dead entries that it meets, and not only those at the bound.
bool entry_wheel::confirm_low(slot_ring& ring, std::size_t slot_index, std::uint32_t& allowance) noexcept {
    slot& s = ring.slots[slot_index];
    std::uint64_t next = slot_ring::never;
    const bool all_dead = allowance < confirm_allowance / 2;
    const auto spend = [&allowance](std::uint32_t price) {
        if (allowance < price) return false;
        allowance -= price;
        return true;
    };
    if (!spend(confirm_look)) return true;
    chunk* before = nullptr;
    for (chunk* c = s.chain.head; c != nullptr;) {
        for (std::uint32_t i = 0; i < c->count;) {
            const entry e = c->entries[i];
            const std::uint64_t at = full_tick(e);
            const bool later = at > s.low && at > walked_;
            const bool unread = later && !all_dead; // an unread entry counts as live
            if (!spend(unread ? 1 : confirm_look)) return true;
            timer_node* node = unread ? nullptr : nodes_.find(e.index);
            if (unread || covers(e, node)) {
                if (!later) return true;
                next = std::min(next, at);
                ++i;
                continue;
            }
            forget(e, node);
            --s.entries;
            c->entries[i] = c->entries[--c->count];
        }
        chunk* following = c->next;
        while (before != nullptr && before->count < chunk::capacity && c->count != 0) // only the last chunk has room
            before->entries[before->count++] = c->entries[--c->count];
        if (c->count != 0) {
            before = c;
        } else {
            (before != nullptr ? before->next : s.chain.head) = following;
            if (following == nullptr) s.chain.tail = before;
            chunks_.give(c);
        }
        c = following;
    }
    s.low = next;
    if (s.entries == 0) ring.occupied.reset(slot_index);
    return false;
}

// Moves sweep_ring_ and sweep_slot_ to the next occupied slot. Returns its ring, or nullptr if no slot is occupied.
slot_ring* entry_wheel::next_to_sweep() noexcept {
    for (std::size_t visited = 0; visited <= outer_.size() + 1; ++visited) {
        slot_ring& ring = sweep_ring_ == 0 ? near_ : outer_[sweep_ring_ - 1];
        const std::size_t rest = sweep_slot_ < ring.size() ? ring.size() - sweep_slot_ : 0;
        const std::size_t skipped = rest != 0 ? ring.occupied.distance(sweep_slot_, rest) : 0;
        if (skipped != 0) sweep_left_ = 0;
        sweep_slot_ += skipped;
        if (skipped < rest) return &ring;
        sweep_ring_ = sweep_ring_ == outer_.size() ? 0 : sweep_ring_ + 1;
        sweep_slot_ = 0;
    }
    return nullptr;
}

// Sweeps two chunks: takes each out of its slot and puts its live entries back. file() calls this once per new entry
// while more than half of the entries are dead. While a jump gathers, lets it look at as many entries instead: it drops
// dead ones too. It may take an entry of the last timer of the node that is being filed for a live one: this leaves one
// more dead entry. Errors: std::bad_alloc, only while a jump gathers.
void entry_wheel::sweep() {
    ++sweeps_;
    if (gathering()) {
        work_budget two_chunks = std::int64_t{4} * chunk::capacity * work_budget::entry;
        gather(two_chunks);
        return;
    }
    for (int chunks = 0; chunks < 2; ++chunks) {
        if (sweep_left_ == 0) ++sweep_slot_;
        slot_ring* ring = next_to_sweep();
        if (ring == nullptr) return;
        slot& s = ring->slots[sweep_slot_];
        if (sweep_left_ == 0) sweep_left_ = s.entries / chunk::capacity + 1;
        --sweep_left_;
        refile_first_chunk(*ring, sweep_slot_);
    }
}

// Takes the first chunk out of a slot, and puts its live entries back. Preconditions: the slot is not empty.
void entry_wheel::refile_first_chunk(slot_ring& ring, std::size_t slot_index) noexcept {
    slot& s = ring.slots[slot_index];
    chunk* head = s.chain.pop_front();
    s.entries -= head->count;
    if (s.chain.empty()) ring.take(slot_index);
    refile_living(ring, slot_index, head);
}

// Puts the live entries of a chunk back into their slot, and drops the dead ones.
void entry_wheel::refile_living(slot_ring& ring, std::size_t s, chunk* c) noexcept {
    const chunk copy = *c; // the chunk goes back to the pool first, so that put() cannot fail
    chunks_.give(c);
    for (std::uint32_t i = 0; i < copy.count; ++i) nodes_.prefetch_node(copy.entries[i].index);
    for (std::uint32_t i = 0; i < copy.count; ++i) {
        const entry e = copy.entries[i];
        timer_node* node = nodes_.find(e.index);
        if (covers(e, node))
            ring.put(chunks_, s, e, full_tick(e));
        else
            forget(e, node);
    }
}

[[gnu::cold]] void entry_wheel::reserve(std::size_t timers) {
    if (timers == 0) return;
    for (slot_ring& ring : outer_) ring.make();
    if (!jump_) jump_ = std::make_unique<entry_jump>();
    // Dead entries double the number of entries. A slot may have two partly filled chunks: its last one, and the one in
    // which next_due() stopped. A jump that takes the slot's entries out adds a third, with new entries.
    const std::size_t most = 2 * timers + garbage_slack;
    chunks_.reserve(2 * (most / chunk::capacity) + 3 * std::min(all_slots(), most) + std::min(jump_chunks, most) + 4);
}

void entry_wheel::drop_entries() noexcept {
    for_each_ring([&](slot_ring& ring) {
        for (std::size_t s = 0; s < ring.size(); ++s) ring.take(s).give_to(chunks_);
    });
    ready_.give_to(chunks_);
    descending_.give_to(chunks_);
    drop_jump();
    overdue_.give_to(chunks_);
    overdue_new_.give_to(chunks_);
    ready_position_ = descending_position_ = overdue_position_ = 0;
    next_cascade_ = slot_ring::never;
    size_ = entries_ = overdue_entries_ = 0;
    overdue_limit_ = garbage_slack;
    walked_ = now_;
}

std::size_t entry_wheel::all_slots() const noexcept {
    std::size_t all = slots();
    for (const slot_ring& ring : outer_) all += ring.size();
    return all;
}

} // namespace cogwheel::inline v0_1::detail
