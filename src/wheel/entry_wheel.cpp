// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// entry_wheel: the walk over the slots and the expiry of timers, the entries, the jump, trim() and the census.
#include "prefetch_ahead.hpp"

#include <cogwheel/detail/assertion.hpp>
#include <cogwheel/detail/exceptions.hpp>
#include <cogwheel/wheel/detail/entry_wheel.hpp>

#include <algorithm>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail {

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

    now_ = std::max(now_, to.value); // if the clock steps back, the wheel stands still until the clock catches up
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

// Moves walked_ to the next slot that may hold a due entry, and takes the entries of that slot as ready_. Stops earlier
// at `stop`, or when the budget is spent.
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

// Moves the entries from cascade() to nearer rings. Reads no node. Returns false if the budget is spent.
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

// Handles the entry at ready_position_. Increments it only after success, so that a failed allocation loses nothing.
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

// ---- entries: filing, sweeping, and the search for the next due tick ----

// Adds an entry to the last chunk of the slot, without an allocation. Returns false if the slot has no chunk with room.
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

// Puts back an entry that entries_ counts already. Chooses the ring by the distance from `from`.
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

// Files the timer in the usual case. Otherwise changes nothing and returns false.
inline bool entry_wheel::file_simply(timer_node& node, std::uint64_t due) noexcept {
    if (due <= now_ || due - walked_ > reach_ || entries_ > 2 * size_ + garbage_slack || !push_on(node, due))
        return false;
    deadline(node, due);
    return true;
}

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
    // Overwrites the last entry if it is dead or of the same node: a loop that arms and cancels adds one entry only.
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

// Moves the entries of overdue_new_ to overdue_. Copies a single chunk into the last chunk of overdue_, because a turn
// with few such timers would leave an almost empty chunk.
void entry_wheel::accept_overdue() noexcept {
    if (overdue_new_.head == nullptr || overdue_new_.head != overdue_new_.tail) return overdue_.append(overdue_new_);
    chunk* c = overdue_new_.pop_front();
    const chunk copy = *c;
    chunks_.give(c); // before the pushes, so that they cannot fail
    for (std::uint32_t i = 0; i < copy.count; ++i) overdue_.push(chunks_, copy.entries[i]);
}

// Drops the dead overdue entries and keeps the order. Runs when the number of entries has doubled since the last sweep:
// amortised O(1) per new entry.
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

// Returns true if an overdue timer is pending. Drops dead entries before it. Preconditions: no advance() is under way.
bool entry_wheel::overdue_pending() noexcept {
    accept_overdue();
    while (const entry* e = first_overdue()) {
        if (covers_overdue(*e, nodes_.find(e->index))) return true;
        pop_overdue();
    }
    return false;
}

// If all entries of `c`, the first chunk of ready_, are of later revolutions, moves the chunk back to its slot and
// returns true. So a million such timers cost 16,000 calls per revolution.
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
    // Fills the slot's last chunk first, which may have room if a handler has armed a timer in this slot meanwhile:
    // only the last chunk of a chain may have room.
    chunk* tail = to.chain.tail;
    while (tail != nullptr && tail->count < chunk::capacity && c.count != 0)
        tail->entries[tail->count++] = c.entries[--c.count];
    if (c.count != 0)
        to.chain.append(&c);
    else
        chunks_.give(&c);
    return true;
}

// Drops an entry that covers no node. Marks a node that could take the entry over as not filed.
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
// bound and returns false: this saves an early wake-up that would visit the same slot. Also returns true when the
// allowance is spent, so that a burst of cancels does not stall a turn. The driver then wakes early, and the next call
// continues. next_due() may ask about one slot once for each of its ticks. So after half of the allowance, drops all
// dead entries that it meets, and not only those at the bound.
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
// while more than half of the entries are dead. While a jump gathers, lets the jump look at as many entries instead,
// because it also drops dead ones. It may take a dead entry of the node that file() is filing for a live one: this
// leaves one more dead entry. Errors: std::bad_alloc, only while a jump gathers.
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
    // which next_due() stopped. During a jump, new entries of the slot add a third.
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

// ---- the jump: an advance() by more than a revolution ----
// Takes the due entries out of all slots and puts them in order, in place of a walk for each revolution.
//
// walked_ is the end of the jump from its beginning on, so the wheel files timers as usual. But a slot may still hold
// entries from before the jump: walked_ has passed its lower bound (ungathered()). The first new entry for such a slot
// sends the old ones to jump_->taken, so the two kinds never mix in one slot. Timers that are armed meanwhile are due
// after walked_, and fire after all timers of the jump.

// Preconditions: descending_ and ready_ are empty. Errors: std::bad_alloc; then nothing changes.
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

// Phase 1: takes the entries that a jump looks at out of their slots. Returns false if the budget is spent. Errors:
// std::bad_alloc; the next call tries again.
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

// Takes the entries of the next slot that the jump looks at. Returns false if there is none, or if the budget is spent.
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

// Phase 2: moves the next due entries to ready_, in order of ticks. Ends the jump if there are none.
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

// Distributes jump_->taken, a large bucket, to the buckets of the deepest level. Returns false if the budget is spent.
// Errors: std::bad_alloc; the next call tries again.
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

// ---- trim(), in steps ----
// Drops the dead entries, then gives the memory of free chunks back, then that of nodes. All functions are legal
// between the steps, so a step relies on no more than the invariants of the wheel.

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

// If no timer is pending, drops the chains of an unfinished advance(). Returns false if the budget is spent.
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

// Drops the dead entries of the slots. Returns false if the budget is spent. A jump that is under way drops those of
// the slots that it has not reached.
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

// ---- what it holds: counts of slots and entries, and the check of the invariants ----

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

} // namespace cogwheel::COGWHEEL_ABI::detail
