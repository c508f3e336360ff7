// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// hashed_wheel's housekeeping of entries: taking out, putting back, sweeping, and the search for the next due tick.
#include <cogwheel/wheel/hashed_wheel.hpp>

namespace cogwheel {

// Into the slot's last chunk, if it has room: then nothing is allocated, and the slot is known to be occupied.
inline bool hashed_wheel::push_on(timer_node& node, std::uint64_t at) noexcept {
    detail::slot& to = near_.slots[at & near_.mask];
    chunk* tail = to.chain.tail;
    if (tail == nullptr || tail->count == chunk::capacity) return false;
    tail->entries[tail->count++] = {node.index_, static_cast<std::uint32_t>(at)};
    ++to.entries;
    to.low = std::min(to.low, at);
    ++entries_;
    node.filed_ = at;
    return true;
}

void hashed_wheel::push(timer_node& node, std::uint64_t at) {
    if (push_on(node, at)) return;
    const std::size_t s = at & near_.mask;
    near_.slots[s].chain.append(chunks_.take());
    near_.occupied.set(s);
    push_on(node, at);
}

// Into the nearest ring that reaches so far from `from`; beyond all, the last one goes round.
void hashed_wheel::put_far(entry e, std::uint64_t at, std::uint64_t from) {
    auto ring = far_.begin();
    while (ring->turned(at) - ring->turned(from) > ring->size() && ring + 1 != far_.end()) ++ring;
    ring->make();
    ring->put(chunks_, ring->place(at), e, at);
    next_cascade_ = std::min(next_cascade_, ring->start_of(at));
}

// An entry that is counted already, as seen from tick `from`.
void hashed_wheel::put_anywhere(entry e, std::uint64_t at, std::uint64_t from) {
    if (at - from <= reach_)
        keep(e, at);
    else
        put_far(e, at, from);
}

void hashed_wheel::push_far(timer_node& node, std::uint64_t at, std::uint64_t from) {
    put_far({node.index_, static_cast<std::uint32_t>(at)}, at, from);
    ++entries_;
    node.filed_ = at;
}

// An entry for a timer due at `due`: there, or as far as entries go. Not from now_: ticks are read relative to walked_.
void hashed_wheel::push_for(timer_node& node, std::uint64_t due, std::uint64_t from) {
    const std::uint64_t at = std::min(due, from + horizon);
    if (at - from <= reach_)
        push(node, at);
    else
        push_far(node, at, from);
}

// What filing is as a rule. False: there is more to do.
inline bool hashed_wheel::file_simply(timer_node& node, std::uint64_t due) noexcept {
    if (due <= now_ || due - walked_ > reach_ || entries_ > 2 * size_ + garbage_slack || !push_on(node, due))
        return false;
    node.deadline_ = due;
    return true;
}

// Sets the deadline, and adds an entry that covers it.
void hashed_wheel::file(timer_node& node, std::uint64_t due) {
    if (file_simply(node, due)) return;
    if (due <= now_) return file_overdue(node);
    if (entries_ > 2 * size_ + garbage_slack) sweep();
    push_for(node, due, walked_);
    node.deadline_ = due;
}

void hashed_wheel::schedule_anew(timer_node& node, std::uint64_t due) {
    if (!file_simply(node, due)) schedule_slowly(node, due);
}

[[gnu::noinline]] void hashed_wheel::schedule_slowly(timer_node& node, std::uint64_t due) {
    try {
        file(node, due);
    } catch (...) {
        --node.generation_;
        --size_;
        throw;
    }
}

void hashed_wheel::file_overdue(timer_node& node) {
    const std::uint64_t serial = overdue_serial_ + 1;
    const entry filed{node.index_, static_cast<std::uint32_t>(serial)};
    // Instead of a dead one, as a rule: a handler may arm and cancel as often as it likes.
    entry* last = overdue_new_.last();
    if (last != nullptr && (last->index == node.index_ || !covers_overdue(*last, nodes_.find(last->index)))) {
        *last = filed;
    } else {
        if (overdue_entries_ > overdue_limit_) sweep_overdue();
        overdue_new_.push(chunks_, filed);
        ++overdue_entries_;
    }
    overdue_serial_ = serial;
    node.filed_ = timer_node::overdue_bit | serial;
    node.deadline_ = now_;
}

hashed_wheel::entry* hashed_wheel::first_overdue() noexcept {
    while (!overdue_.empty() && overdue_position_ == overdue_.head->count) {
        chunks_.give(overdue_.pop_front());
        overdue_position_ = 0;
    }
    return overdue_.empty() ? nullptr : &overdue_.head->entries[overdue_position_];
}

void hashed_wheel::pop_overdue() noexcept {
    ++overdue_position_;
    --overdue_entries_;
}

// What was armed since joins the queue. A few go into its last chunk: else each turn of few would leave a chunk almost empty.
void hashed_wheel::accept_overdue() noexcept {
    if (overdue_new_.head == nullptr || overdue_new_.head != overdue_new_.tail) return overdue_.append(overdue_new_);
    chunk* c = overdue_new_.pop_front();
    const chunk copy = *c;
    chunks_.give(c); // first, so that nothing below can fail
    for (std::uint32_t i = 0; i < copy.count; ++i) overdue_.push(chunks_, copy.entries[i]);
}

// Drops the dead ones; the order stays. As often as their number has doubled since the last time: amortised O(1) a new one.
void hashed_wheel::sweep_overdue() noexcept {
    keep_living_overdue(overdue_, std::exchange(overdue_position_, 0));
    keep_living_overdue(overdue_new_, 0);
    overdue_limit_ = 2 * overdue_entries_ + garbage_slack;
}

void hashed_wheel::keep_living_overdue(detail::entry_chain& chain, std::uint32_t position) noexcept {
    detail::entry_chain kept;
    for (; !chain.empty(); position = 0) {
        chunk* c = chain.pop_front();
        const chunk copy = *c; // given back first, so that putting the survivors back cannot fail
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

// Drops the dead entries that it meets. Preconditions: not advancing.
bool hashed_wheel::overdue_pending() noexcept {
    accept_overdue();
    while (const entry* e = first_overdue()) {
        if (covers_overdue(*e, nodes_.find(e->index))) return true;
        pop_overdue();
    }
    return false;
}

// The head of ready_, moved back whole where possible: a million far timers cost 16,000 of these a revolution.
bool hashed_wheel::keep_if_all_future(chunk& c) noexcept {
    std::int32_t earliest = std::numeric_limits<std::int32_t>::max();
    for (std::uint32_t i = 0; i < c.count; ++i)
        earliest =
            std::min(earliest, static_cast<std::int32_t>(c.entries[i].tick - static_cast<std::uint32_t>(walked_)));
    if (earliest <= 0) return false;
    ready_.pop_front();
    const std::uint64_t at = walked_ + static_cast<std::uint64_t>(earliest);
    const std::size_t s = at & near_.mask;
    detail::slot& to = near_.slots[s];
    if (to.entries == 0) near_.occupied.set(s);
    to.entries += c.count;
    to.low = std::min(to.low, at);
    // What a handler armed meanwhile may have left a chunk partly filled: only the last one of a chain stays so.
    chunk* tail = to.chain.tail;
    while (tail != nullptr && tail->count < chunk::capacity && c.count != 0)
        tail->entries[tail->count++] = c.entries[--c.count];
    if (c.count != 0)
        to.chain.append(&c);
    else
        chunks_.give(&c);
    return true;
}

// Drops an entry that covers nothing. Its node, if dead, must not be taken over through it any more.
void hashed_wheel::forget(entry e, timer_node* node) noexcept {
    --entries_;
    if (node != nullptr && !node->armed() && !is_overdue(node->filed_) &&
        static_cast<std::uint32_t>(node->filed_) == e.tick)
        node->filed_ = timer_node::not_filed;
}

std::optional<tick> hashed_wheel::next_due() {
    if (size_ == 0) return std::nullopt;
    if (advancing_ || !ready_.empty() || walked_ < now_) return tick{now_};
    if (overdue_pending()) return tick{now_};
    for (std::uint32_t allowance = confirm_allowance;;) {
        std::uint64_t best = detail::slot_ring::never;
        std::size_t best_slot = 0;
        detail::slot_ring* best_ring = nullptr;
        for_each_ring([&](detail::slot_ring& ring) {
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
        assert(best_ring != nullptr && "a pending timer without an entry");
        if (confirm_low(*best_ring, best_slot, allowance)) return tick{best};
    }
}

std::optional<tick> hashed_wheel::occupied(tick from, tick to) const noexcept {
    std::optional<tick> found;
    const std::uint64_t first = std::max(from.value, walked_ + 1);
    const auto look = [&](const detail::slot_ring& ring) {
        if (found || to.value < first || ring.slots.empty()) return;
        ring.search(first, ring.turned(to.value) - ring.turned(first) + 1, [&](std::size_t s, std::uint64_t) {
            const std::uint64_t low = ring.slots[s].low;
            if (low >= first && low <= to.value) found = tick{low};
            return !found;
        });
    };
    look(near_);
    for (const detail::slot_ring& ring : far_) look(ring);
    return found;
}

// When the first of the far slots has to be taken out.
std::uint64_t hashed_wheel::next_cascade() const noexcept {
    std::uint64_t first = detail::slot_ring::never;
    for (const detail::slot_ring& ring : far_)
        ring.search(walked_ + ring.slot_ticks, ring.size(), [&](std::size_t s, std::uint64_t start) {
            if (first <= start) return false;
            first = std::min(first, ring.start_of(ring.slots[s].low));
            return true;
        });
    return first;
}

// Is there a live entry at the slot's lower bound? If not, drops the dead ones there and raises the bound. Where that would take too
// long the answer is yes, and the driver wakes for the rest: a burst of cancels must not stall a turn. What it costs, the visit of the
// slot would have cost that a wake-up for nothing had made.
// A slot may be asked once for each of its ticks. So when half of the allowance is gone, all dead entries that are met go at once.
bool hashed_wheel::confirm_low(detail::slot_ring& ring, std::size_t slot_index, std::uint32_t& allowance) noexcept {
    detail::slot& s = ring.slots[slot_index];
    std::uint64_t next = detail::slot_ring::never;
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
            const bool unread = later && !all_dead; // counts as living
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
        while (before != nullptr && before->count < chunk::capacity && c->count != 0) // leave no holes
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

// The ring with the next slot to sweep, sweep_slot_; nullptr if there is none.
detail::slot_ring* hashed_wheel::next_to_sweep() noexcept {
    for (std::size_t visited = 0; visited <= far_.size() + 1; ++visited) {
        detail::slot_ring& ring = sweep_ring_ == 0 ? near_ : far_[sweep_ring_ - 1];
        const std::size_t rest = sweep_slot_ < ring.size() ? ring.size() - sweep_slot_ : 0;
        const std::size_t skipped = rest != 0 ? ring.occupied.distance(sweep_slot_, rest) : 0;
        if (skipped != 0) sweep_left_ = 0;
        sweep_slot_ += skipped;
        if (skipped < rest) return &ring;
        sweep_ring_ = sweep_ring_ == far_.size() ? 0 : sweep_ring_ + 1;
        sweep_slot_ = 0;
    }
    return nullptr;
}

// Rotates two chunks of some slot through, without the dead. Called once per new entry while more than half are dead.
void hashed_wheel::sweep() noexcept {
    for (int chunks = 0; chunks < 2; ++chunks) {
        if (sweep_left_ == 0) ++sweep_slot_;
        detail::slot_ring* ring = next_to_sweep();
        if (ring == nullptr) return;
        detail::slot& s = ring->slots[sweep_slot_];
        if (sweep_left_ == 0) sweep_left_ = s.entries / chunk::capacity + 1;
        --sweep_left_;
        chunk* head = s.chain.pop_front();
        s.entries -= head->count;
        if (s.chain.empty()) ring->take(sweep_slot_);
        refile_living(*ring, sweep_slot_, head);
    }
}

// Back into its slot, without the dead.
void hashed_wheel::refile_living(detail::slot_ring& ring, std::size_t s, chunk* c) noexcept {
    const chunk copy = *c; // given back first, so that putting the survivors back cannot fail
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

bool hashed_wheel::trim() noexcept {
    if (advancing_) return false;
    if (size_ == 0) {
        clear([](timer_node&) {}); // a turn that ended half-way may have left more than the slots hold
    } else {
        if (walked_ < now_ || !ready_.empty() || !descending_.empty() || overdue_pending()) return false;
        for_each_ring([&](detail::slot_ring& ring) {
            for (std::size_t s = 0; s < ring.size(); ++s)
                for (detail::entry_chain all = ring.take(s); !all.empty();) refile_living(ring, s, all.pop_front());
        });
    }
    sweep_left_ = 0;
    chunks_.trim();
    nodes_.trim();
    return true;
}

void hashed_wheel::reserve(std::size_t timers) {
    if (timers == 0) return;
    for (detail::slot_ring& ring : far_) ring.make();
    // Garbage doubles the entries; a slot may have two chunks that are partly filled, its last and the one in which
    // next_due() stopped, and one more during a jump.
    const std::size_t most = 2 * timers + garbage_slack;
    chunks_.reserve(2 * (most / chunk::capacity) + 3 * std::min(all_slots(), most) + jump_chunks + 4);
}

void hashed_wheel::drop_entries() noexcept {
    for_each_ring([&](detail::slot_ring& ring) {
        for (std::size_t s = 0; s < ring.size(); ++s) ring.take(s).give_to(chunks_);
    });
    ready_.give_to(chunks_);
    descending_.give_to(chunks_);
    overdue_.give_to(chunks_);
    overdue_new_.give_to(chunks_);
    ready_position_ = descending_position_ = overdue_position_ = 0;
    next_cascade_ = detail::slot_ring::never;
    size_ = entries_ = overdue_entries_ = 0;
    overdue_limit_ = garbage_slack;
    walked_ = now_;
}

std::size_t hashed_wheel::footprint() const noexcept {
    std::size_t bytes = near_.footprint() + chunks_.footprint();
    for (const detail::slot_ring& ring : far_) bytes += ring.footprint();
    return bytes;
}

std::size_t hashed_wheel::all_slots() const noexcept {
    std::size_t all = slots();
    for (const detail::slot_ring& ring : far_) all += ring.size();
    return all;
}

const char* hashed_wheel::check_invariants() const {
    std::vector<std::uint32_t> covered; // how often each index is
    std::size_t armed = 0, entries = 0;
    const char* fault = nullptr;
    const auto expect = [&](bool holds, const char* what) {
        if (!holds && fault == nullptr) fault = what;
    };
    const auto cover = [&](entry e, const timer_node* node, bool overdue) {
        if (node == nullptr || is_overdue(node->filed_) != overdue ||
            static_cast<std::uint32_t>(node->filed_) != e.tick)
            return;
        if (covered.size() <= e.index) covered.resize(e.index + 1);
        ++covered[e.index];
    };
    const auto check = [&](const detail::slot_ring& ring) {
        for (std::size_t s = 0; s < ring.slots.size(); ++s) {
            const detail::slot& slot = ring.slots[s];
            std::uint32_t here = 0;
            slot.chain.for_each([&](entry e) {
                ++here;
                const timer_node* node = nodes_.find(e.index);
                cover(e, node, false);
                expect(ring.place(full_tick(e)) == s, "an entry in a slot that is not its tick's");
                const bool matters = node != nullptr && static_cast<std::uint32_t>(node->filed_) == e.tick &&
                                     !is_overdue(node->filed_) && (node->armed() || node->filed_ > now_);
                expect(!matters || slot.low <= node->filed_, "a lower bound above an entry");
                expect(!matters || ring.start_of(node->filed_) > walked_, "a live entry that was passed by");
            });
            entries += here;
            expect(here == slot.entries, "a slot that miscounts its entries");
            expect(ring.occupied.test(s) == (here != 0), "an occupancy bit that is wrong");
            expect(here == 0 || &ring == &near_ || !descending_.empty() || next_cascade_ <= ring.start_of(slot.low),
                   "a far slot that nobody will take out in time");
        }
    };
    check(near_);
    for (const detail::slot_ring& ring : far_) check(ring);
    expect(next_cascade_ > walked_, "walked past a far slot");
    const auto count = [&](const detail::entry_chain& chain, std::uint32_t done) {
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
        const bool led_to = node.index_ < covered.size() && covered[node.index_] != 0;
        if (!node.armed()) {
            expect(led_to || is_overdue(node.filed_) || node.filed_ <= now_,
                   "a dead timer without the entry to take over");
            return;
        }
        ++armed;
        expect(led_to, "an armed timer that no entry covers");
        expect(is_overdue(node.filed_) || node.filed_ <= node.deadline_, "a timer filed behind its deadline");
    });
    expect(armed == size_, "size() is not the number of armed timers");
    expect(entries == entries_ && overdue == overdue_entries_, "entries() is not the number of entries");
    expect(walked_ <= now_, "walked beyond the present");
    return fault;
}

} // namespace cogwheel
