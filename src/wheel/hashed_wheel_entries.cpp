// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// hashed_wheel's housekeeping of entries: taking out, putting back, sweeping, and the search for the next due tick.
#include <cogwheel/wheel/hashed_wheel.hpp>

namespace cogwheel {

// Into the slot's last chunk, if it has room: then nothing is allocated, and the slot is known to be occupied.
inline bool hashed_wheel::push_on(timer_node& node, std::uint64_t at) noexcept {
    slot& to = slots_[at & mask_];
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
    const std::size_t s = at & mask_;
    slots_[s].chain.append(chunks_.take());
    occupied_.set(s);
    push_on(node, at);
}

// What filing is as a rule. False: there is more to do.
inline bool hashed_wheel::file_simply(timer_node& node, std::uint64_t due) noexcept {
    if (due <= now_ || due - walked_ > horizon || entries_ > 2 * size_ + garbage_slack || !push_on(node, due))
        return false;
    node.deadline_ = due;
    return true;
}

// Sets the deadline, and adds an entry that covers it.
void hashed_wheel::file(timer_node& node, std::uint64_t due) {
    if (file_simply(node, due)) return;
    if (due <= now_) return file_overdue(node);
    if (entries_ > 2 * size_ + garbage_slack) sweep();
    push(node, std::min(due, walked_ + horizon)); // not now_: ticks are read relative to walked_
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
    overdue_new_.push(chunks_, {node.index_, static_cast<std::uint32_t>(serial)});
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

void hashed_wheel::pop_overdue() noexcept { ++overdue_position_; }

// Drops the dead entries that it meets. Preconditions: not advancing.
bool hashed_wheel::overdue_pending() noexcept {
    overdue_.append(overdue_new_);
    while (const entry* e = first_overdue()) {
        if (covers_overdue(*e, nodes_.find(e->index))) return true;
        pop_overdue();
    }
    return false;
}

detail::entry_chain hashed_wheel::take(std::size_t slot_index) noexcept {
    slot& s = slots_[slot_index];
    s.low = slot{}.low;
    s.entries = 0;
    occupied_.reset(slot_index);
    return s.chain.detach();
}

// Puts an entry that is counted already back into its slot.
void hashed_wheel::keep(entry e, std::uint64_t at) {
    const std::size_t s = at & mask_;
    slot& to = slots_[s];
    to.chain.push(chunks_, e);
    if (to.entries++ == 0) occupied_.set(s);
    to.low = std::min(to.low, at);
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
    const std::size_t s = at & mask_;
    slot& to = slots_[s];
    if (to.entries == 0) occupied_.set(s);
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
    for (;;) {
        std::uint64_t best = ~std::uint64_t{0};
        std::size_t best_slot = 0;
        for (std::size_t d = 0; d < slots(); ++d) {
            d += occupied_.distance((walked_ + 1 + d) & mask_, slots() - d);
            const std::uint64_t at = walked_ + 1 + d;
            if (d >= slots() || best < at) break;
            const std::size_t s = at & mask_;
            if (slots_[s].low >= best) continue;
            best = slots_[s].low;
            best_slot = s;
        }
        assert(best != ~std::uint64_t{0} && "a pending timer without an entry");
        if (confirm_low(best_slot)) return tick{best};
    }
}

// Is there a live entry at the slot's lower bound? If not, drops the dead ones there and raises the bound. Where very
// many are dead the answer is yes, and the driver wakes for the rest: a burst of cancels must not stall a turn.
// Costs what the visit of the slot would have cost that a wake-up for nothing had made.
bool hashed_wheel::confirm_low(std::size_t slot_index) noexcept {
    slot& s = slots_[slot_index];
    std::uint64_t next = slot{}.low;
    std::uint32_t dropped = 0;
    chunk* before = nullptr;
    for (chunk* c = s.chain.head; c != nullptr;) {
        for (std::uint32_t i = 0; i < c->count;) {
            const entry e = c->entries[i];
            const std::uint64_t at = full_tick(e);
            if (at > s.low && at > walked_) {
                next = std::min(next, at);
                ++i;
                continue;
            }
            timer_node* node = nodes_.find(e.index);
            if (covers(e, node) || dropped == confirm_limit) return true;
            forget(e, node);
            ++dropped;
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
    if (s.entries == 0) occupied_.reset(slot_index);
    return false;
}

// Rotates two chunks of some slot through, without the dead. Called once per new entry while more than half are dead.
void hashed_wheel::sweep() noexcept {
    for (int chunks = 0; chunks < 2; ++chunks) {
        if (sweep_left_ == 0) ++sweep_slot_;
        const std::size_t skipped = occupied_.distance(sweep_slot_ & mask_, slots());
        if (skipped == slots()) return;
        if (sweep_left_ == 0 || skipped != 0) {
            sweep_slot_ = (sweep_slot_ + skipped) & mask_;
            sweep_left_ = slots_[sweep_slot_].entries / chunk::capacity + 1;
        }
        --sweep_left_;
        slot& s = slots_[sweep_slot_];
        chunk* head = s.chain.pop_front();
        s.entries -= head->count;
        if (s.chain.empty()) take(sweep_slot_);
        refile_living(head);
    }
}

// Back into its slot, without the dead.
void hashed_wheel::refile_living(chunk* c) noexcept {
    const chunk copy = *c; // given back first, so that putting the survivors back cannot fail
    chunks_.give(c);
    for (std::uint32_t i = 0; i < copy.count; ++i) nodes_.prefetch_node(copy.entries[i].index);
    for (std::uint32_t i = 0; i < copy.count; ++i) {
        const entry e = copy.entries[i];
        timer_node* node = nodes_.find(e.index);
        if (covers(e, node))
            keep(e, full_tick(e));
        else
            forget(e, node);
    }
}

bool hashed_wheel::trim() noexcept {
    if (advancing_) return false;
    if (size_ == 0) {
        clear([](timer_node&) {}); // a turn that ended half-way may have left more than the slots hold
    } else {
        if (!ready_.empty() || overdue_pending()) return false;
        for (std::size_t s = 0; s < slots(); ++s)
            for (detail::entry_chain all = take(s); !all.empty();) refile_living(all.pop_front());
    }
    sweep_left_ = 0;
    chunks_.trim();
    nodes_.trim();
    return true;
}

void hashed_wheel::reserve(std::size_t timers) {
    if (timers == 0) return;
    // Garbage doubles the entries; a slot may have two chunks that are partly filled, its last and the one in which
    // next_due() stopped, and one more during a jump.
    const std::size_t most = 2 * timers + garbage_slack;
    chunks_.reserve(most / chunk::capacity + 3 * std::min(slots(), most) + jump_chunks + 2);
}

void hashed_wheel::drop_entries() noexcept {
    for (std::size_t s = 0; s < slots(); ++s) take(s).give_to(chunks_);
    ready_.give_to(chunks_);
    overdue_.give_to(chunks_);
    overdue_new_.give_to(chunks_);
    ready_position_ = overdue_position_ = 0;
    size_ = entries_ = 0;
    walked_ = now_;
}

std::size_t hashed_wheel::footprint() const noexcept {
    return slots() * sizeof(slot) + slots() / 8 + chunks_.footprint();
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
    for (std::size_t s = 0; s < slots(); ++s) {
        std::uint32_t here = 0;
        slots_[s].chain.for_each([&](entry e) {
            ++here;
            const timer_node* node = nodes_.find(e.index);
            cover(e, node, false);
            expect((e.tick & mask_) == s, "an entry in a slot that is not its tick's");
            const bool matters = node != nullptr && static_cast<std::uint32_t>(node->filed_) == e.tick &&
                                 !is_overdue(node->filed_) && (node->armed() || node->filed_ > now_);
            expect(!matters || slots_[s].low <= node->filed_, "a lower bound above an entry");
            expect(!matters || node->filed_ > walked_, "a live entry that was passed by");
        });
        entries += here;
        expect(here == slots_[s].entries, "a slot that miscounts its entries");
        expect(occupied_.test(s) == (here != 0), "an occupancy bit that is wrong");
    }
    std::uint32_t position = ready_position_;
    ready_.for_each([&](entry e) {
        if (position != 0) {
            --position;
            return;
        }
        ++entries;
        cover(e, nodes_.find(e.index), false);
    });
    position = overdue_position_;
    overdue_.for_each([&](entry e) {
        if (position == 0)
            cover(e, nodes_.find(e.index), true);
        else
            --position;
    });
    overdue_new_.for_each([&](entry e) { cover(e, nodes_.find(e.index), true); });
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
    expect(entries == entries_, "entries() is not the number of entries");
    expect(walked_ <= now_, "walked beyond the present");
    return fault;
}

} // namespace cogwheel
