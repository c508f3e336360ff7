// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The base of hashed_wheel and hierarchical_wheel: slots of contiguous entries over the nodes of a node_table. A timer
// due at tick t has an entry in slot t mod N. A timer beyond the first ring goes to an outer ring. A timer beyond the
// last ring stays there for further revolutions.
//
// - schedule, cancel, reschedule: O(1), one cache miss (the node's own line). No store needs it for its address.
// - advance: O(slots passed, at most O(slots) + entries of slots with a due entry). The budget bounds each call.
//
// An entry is only a hint to look at its node, so the wheel never unlinks an entry:
// - cancel() makes the node's generation even. The entry stays, and is dead.
// - reschedule() to a later tick writes the deadline into the node.
// - schedule() uses the entry that an earlier timer of the same node has left ("take-over").
// The invariant: *each armed node is covered by an entry at filed <= deadline*. This entry is in its slot, in a chain
// that advance() has taken out, or in the overdue queue. Duplicate and dead entries are legal; a sweep limits their
// number. An entry holds a tick and no slot, so a move to another ring does not touch its node.
// Why entries and not linked timers, with figures: docs/adr/0001. Why rings of the same entries: docs/adr/0006.
#pragma once

#include <cogwheel/detail/assertion.hpp>
#include <cogwheel/detail/platform.hpp>
#include <cogwheel/wheel/detail/entry_jump.hpp>
#include <cogwheel/wheel/detail/level_census.hpp>
#include <cogwheel/wheel/detail/slot_ring.hpp>
#include <cogwheel/wheel/detail/trim_position.hpp>
#include <cogwheel/wheel/timing_wheel.hpp>

#include <memory>
#include <vector>

namespace cogwheel::COGWHEEL_ABI {
struct wheel_access; // lets tests set counters that take long to wrap
}

namespace cogwheel::COGWHEEL_ABI::detail {

/// The functions that hashed_wheel and hierarchical_wheel share. Thread safety: none; one caller at a time.
class entry_wheel : private node_access {
public:
    static constexpr std::size_t max_slots = wheel_levels::max_slots;

    entry_wheel(const entry_wheel&) = delete;
    entry_wheel& operator=(const entry_wheel&) = delete;

    /// Returns the latest tick that advance() was given, or that of the constructor.
    tick now() const noexcept { return {now_}; }

    /// Returns the number of pending timers.
    std::size_t size() const noexcept { return size_; }

    /// Returns the number of slots of the first ring.
    std::size_t slots() const noexcept { return near_.size(); }

    /// Returns the number of rings.
    std::size_t levels() const noexcept { return 1 + outer_.size(); }

    /// Arms `node`. A timer due at or before now() is overdue: it counts as due now, and fires in the next advance().
    /// Preconditions: the node is in the node_table, and not armed; due <= tick::max(). Complexity: O(1).
    /// Errors: std::bad_alloc; then the node stays disarmed.
    COGWHEEL_ALWAYS_INLINE void schedule(timer_node& node, tick due) {
        if (take_over(node, due)) [[likely]]
            return;
        next_generation(node);
        ++size_;
        schedule_anew(node, due.value);
    }

    /// Schedules the timer if the entry of an earlier timer of the node serves; else only returns false.
    COGWHEEL_ALWAYS_INLINE bool take_over(timer_node& node, tick due) noexcept {
        COGWHEEL_ASSERT(!node.armed() && "cancel or reschedule a pending timer");
        COGWHEEL_ASSERT(due <= tick::max());
        // The entry must lie in the later half of the time to the deadline; it is then still in a slot. An entry in the
        // earlier half (a second ahead, for a timer of a minute) would cause an early wake-up.
        if (due.value <= now_ || due.value - filed(node) > (due.value - now_) / 2) [[unlikely]]
            return false;
        next_generation(node);
        ++size_;
        deadline(node, due.value);
        return true;
    }

    /// Changes the deadline of a pending timer: by a store into the node, or by a second entry if the first one is
    /// after `due`. A timer due at or before now() is overdue, as in schedule().
    /// Preconditions: armed; due <= tick::max(). Complexity: O(1). Errors: std::bad_alloc; the deadline stays.
    void reschedule(timer_node& node, tick due) {
        if (!postpone(node, due)) [[unlikely]]
            file(node, due.value);
    }

    /// Reschedules the timer if a store into the node is enough; else changes nothing and returns false.
    COGWHEEL_ALWAYS_INLINE bool postpone(timer_node& node, tick due) noexcept {
        COGWHEEL_ASSERT(node.armed() && "schedule a timer that is not pending");
        if (due.value <= now_ || filed(node) > due.value) [[unlikely]]
            return false;
        deadline(node, due.value);
        return true;
    }

    /// Disarms `node`; its id becomes stale. The entry stays: the next timer of this node can take it over.
    /// Preconditions: armed. Complexity: O(1).
    void cancel(timer_node& node) noexcept {
        COGWHEEL_ASSERT(node.armed() && "only a pending timer can be cancelled");
        next_generation(node);
        --size_;
    }

    /// Moves now() to `to` (an earlier tick leaves now() as it is). Fires the due timers in order of ticks: calls each
    /// node's completion function with `context`. That function may call any function of the wheel except advance(). A
    /// timer that it arms fires in the next advance() at the earliest. After a call that spent its budget, all
    /// functions are legal, and the next call may pass a later tick.
    /// Errors: std::bad_alloc if an entry cannot be moved. Nothing is lost, and the next call tries again.
    /// Exception safety: if a completion function throws, the wheel is as if it had returned. The next call goes on.
    advance_result advance(tick to, work_budget budget = work_budget::unlimited(), void* context = nullptr);

    /// Makes advance() return after the completion function that calls interrupt(). Has no effect elsewhere.
    void interrupt() noexcept { interrupted_ = true; }

    /// Returns the tick at which to call advance() next: now() if a timer is due, and inside a completion function.
    /// Returns nothing if no timer is pending. Drops the dead entries that it meets.
    /// No pending timer is due before the tick returned. In three cases, none is due at that tick either:
    /// - A timer was moved to a later tick. This causes one early call.
    /// - A timer is more than 2^31 - 1 ticks ahead.
    /// - Many timers were cancelled. One call spends about 0.1 ms on dead entries at most; the next call continues.
    /// Complexity: O(slots) at worst; usually one look at the next occupied slot.
    std::optional<tick> next_due();

    /// Returns a tick of [from, to] at which advance() looks at a timer in any case, or nothing. That timer may be
    /// cancelled, or moved to a later tick. Complexity: O(slots of the range / 64 + occupied slots).
    std::optional<tick> occupied(tick from, tick to) const noexcept;

    /// Allocates all memory that the entries of `timers` pending timers can need. Errors: std::bad_alloc.
    void reserve(std::size_t timers);

    /// Disarms all timers, and calls f(node) for each timer that was pending. Legal inside a completion function.
    /// Preconditions: f does not use the wheel. Complexity: O(nodes of the table).
    template <class F>
    void clear(F f) {
        drop_entries();
        nodes_.for_each([&](timer_node& node) {
            filed(node, not_filed); // the entry is gone, so no timer may take it over
            if (!node.armed()) return;
            next_generation(node);
            f(node);
        });
    }

    /// Calls f(node) for each pending timer. Preconditions: f does not change the wheel. Complexity: O(all nodes).
    template <class F>
    void for_each(F f) const {
        nodes_.for_each([&](const timer_node& node) {
            if (node.armed()) f(node);
        });
    }

    /// Returns the number of entries, live and dead. Entries in slots: at most 2 x the largest size() since the wheel
    /// was empty + a constant. Entries of overdue timers: at most 2 x the largest number of them that were pending at
    /// once + the same constant.
    std::size_t entries() const noexcept { return entries_ + overdue_entries_; }

    /// Returns how many entries advance() has to look at by tick `at`: those of due timers, and of timers that were
    /// cancelled or moved to a later tick. Stops at about `limit` entries. Complexity: O(slots + limit); O(1) for a
    /// past tick.
    std::size_t due(tick at, std::size_t limit) const noexcept;

    /// Adds `count` slots of a level, from slot `first` on, to `census`. Returns false if the level has no slots beyond
    /// these. Preconditions: level < levels(). Complexity: O(count).
    bool count_slots(std::size_t level, std::size_t first, std::size_t count, level_census& census) const noexcept;

    /// Returns how many steps have removed dead entries. A step cleans two chunks.
    std::uint64_t sweeps() const noexcept { return sweeps_; }

    /// Drops all dead entries, and gives unused memory of the wheel and of the node_table back to the system, for
    /// instance after a burst. Does nothing and returns false while a timer is due: inside a completion function, or
    /// between calls of advance() that leave work.
    /// Complexity: O(slots + entries + nodes not in use + memory given back).
    bool trim() noexcept;

    /// Takes a step of trim(). Returns false after the last one, or if the first one did nothing: see at.done().
    /// Between the steps, all functions are legal. Timers that end meanwhile may stay in memory. Later steps run even
    /// while a timer is due. Legal inside a completion function, where only the first step does nothing.
    /// Complexity: that of the budget, and of next_due() for the first step.
    bool trim(trim_position& at, work_budget budget) noexcept;

    /// Returns the bytes allocated by the wheel, without those of the node_table.
    std::size_t footprint() const noexcept;

    /// Returns nullptr, or a text that names a broken invariant. For tests. Complexity: O(slots + entries + nodes).
    const char* check_invariants() const;

protected:
    /// Makes an empty wheel that stands at `now`. It rounds `slots` up to a power of two.
    /// Preconditions: 1 <= slots <= max_slots; no other wheel uses `nodes`. Errors: std::bad_alloc.
    entry_wheel(node_table& nodes, std::size_t slots, tick now);
    /// Adds the rings beyond the first one.
    /// Preconditions: the wheel is new; the slot_ticks of each ring are a multiple of the previous ring's, and at most
    /// a revolution of that ring.
    void add_outer(std::vector<slot_ring> rings) noexcept {
        outer_ = std::move(rings);
        reach_ = reach();
    }
    ~entry_wheel();

    // The farthest distance of an entry, which has 32 bits of its tick. advance() files farther timers again there.
    static constexpr std::uint64_t horizon = (std::uint64_t{1} << 31) - 1;

private:
    friend cogwheel::wheel_access;
    static constexpr std::size_t garbage_slack = 1024; // dead entries (8 kB) that stay without a sweep
    static constexpr std::size_t jump_chunks = due_buckets::bucket_count + 4; // partly filled ones
    static constexpr std::uint32_t prefetch_distance = 16;

    // How much one next_due() may spend on dead entries, in entries read: about 0.1 ms.
    static constexpr std::uint32_t confirm_allowance = 131'072;
    static constexpr std::uint32_t confirm_look = 16; // the price of a look at a node, or of another slot

    // Marks a `filed` that is a serial number in the overdue queue and not a tick.
    static constexpr std::uint64_t overdue_bit = std::uint64_t{1} << 63;
    static constexpr bool is_overdue(std::uint64_t filed) noexcept { return (filed & overdue_bit) != 0; }

    // Out of line: if inlined, they need saved registers, which make each take-over twice as slow.
    void schedule_anew(timer_node& node, std::uint64_t due);
    void schedule_slowly(timer_node& node, std::uint64_t due);
    void file(timer_node& node, std::uint64_t due);
    void file_overdue(timer_node& node);
    bool file_simply(timer_node& node, std::uint64_t due) noexcept;
    bool push_on(timer_node& node, std::uint64_t at) noexcept;
    void push(timer_node& node, std::uint64_t at);
    void push_outer(timer_node& node, std::uint64_t at, std::uint64_t from);
    void push_for(timer_node& node, std::uint64_t due, std::uint64_t from);

    // Returns true if this entry covers the node. Otherwise the entry is a duplicate, or dead.
    static bool covers(entry e, const timer_node* node) noexcept {
        return node != nullptr && node->armed() && static_cast<std::uint32_t>(filed(*node)) == e.tick &&
               !is_overdue(filed(*node));
    }
    static bool covers_overdue(entry e, const timer_node* node) noexcept {
        return node != nullptr && node->armed() && is_overdue(filed(*node)) &&
               static_cast<std::uint32_t>(filed(*node)) == e.tick;
    }

    struct turn; // the state of one advance()
    void fire_ready(turn&);
    void consume(turn&, entry);
    void fire(turn&, timer_node&);
    void walk(turn&, std::uint64_t stop);
    void cascade() noexcept;
    bool descend(turn&);
    entry* first_overdue() noexcept;
    void pop_overdue() noexcept;
    bool overdue_pending() noexcept;
    void accept_overdue() noexcept;
    void sweep_overdue() noexcept;
    void keep_living_overdue(entry_chain&, std::uint32_t position) noexcept;

    // A jump (entry_wheel.cpp). While it gathers, reach_ is zero, so that no new entry takes the fast path.
    enum class jump_phase : std::uint8_t { none, gathering, sorting };
    bool gathering() const noexcept { return phase_ == jump_phase::gathering; }
    std::uint64_t reach() const noexcept { return outer_.empty() ? horizon : near_.size(); }
    void begin_jump(std::uint64_t stop);
    bool gather(work_budget&);
    void gather_one(entry);
    bool gather_slots(work_budget&) noexcept;
    void sort_due(work_budget&);
    bool split(work_budget&);
    void put_while_gathering(entry, std::uint64_t at, std::uint64_t from);
    void take_out(slot_ring&, std::size_t slot_index) noexcept;
    void drop_jump() noexcept;
    const char* check_jump() const;

    // Returns true if the slot's entries are from before the jump: relative to its base. Preconditions: gathering().
    bool ungathered(const slot_ring& ring, std::size_t slot_index) const noexcept {
        return ring.start_of(ring.slots[slot_index].low) <= walked_;
    }
    // Preconditions: the entry has not been gathered.
    std::uint64_t tick_before_jump(entry e) const noexcept {
        return jump_->base + 1 + (e.tick - static_cast<std::uint32_t>(jump_->base) - 1);
    }

    // These functions move entries. An entry has 32 bits of its tick; walked_ supplies the others.
    std::uint64_t full_tick(entry e) const noexcept {
        return walked_ + static_cast<std::uint64_t>(static_cast<std::int64_t>(
                             static_cast<std::int32_t>(e.tick - static_cast<std::uint32_t>(walked_))));
    }
    bool is_future(entry e) const noexcept {
        return static_cast<std::int32_t>(e.tick - static_cast<std::uint32_t>(walked_)) > 0;
    }
    void keep(entry e, std::uint64_t at) { near_.put(chunks_, near_.wrapped(at), e, at); }
    slot_ring& outer_for(std::uint64_t at, std::uint64_t from) noexcept;
    void put_outer(entry, std::uint64_t at, std::uint64_t from);
    void put_anywhere(entry, std::uint64_t at, std::uint64_t from);
    bool keep_if_all_future(chunk&) noexcept;
    void forget(entry, timer_node*) noexcept;
    COGWHEEL_ALWAYS_INLINE inline void prefetch_ahead(const chunk&, std::uint32_t position) const noexcept;

    bool confirm_low(slot_ring&, std::size_t slot_index, std::uint32_t& allowance) noexcept;
    slot_ring* next_to_sweep() noexcept;
    void sweep();
    void refile_first_chunk(slot_ring&, std::size_t slot_index) noexcept;
    void refile_living(slot_ring&, std::size_t slot_index, chunk*) noexcept;
    bool trim_may_begin() noexcept;
    bool drop_leftovers(work_budget&) noexcept;
    void drop_chunk(entry_chain&, std::uint32_t& position, work_budget&) noexcept;
    void drop_overdue_chunk(work_budget&) noexcept;
    bool trim_slots(trim_position&, work_budget&) noexcept;
    void drop_entries() noexcept;
    std::uint64_t next_cascade() const noexcept;
    std::size_t all_slots() const noexcept;

    template <class F>
    void for_each_ring(F f) {
        f(near_);
        for (slot_ring& ring : outer_)
            if (!ring.slots.empty()) f(ring);
    }

    node_table& nodes_;
    std::uint64_t now_;    // the latest tick given to advance()
    std::uint64_t walked_; // advance() has taken the due entries out of all slots up to this tick, or a jump does so
    std::uint64_t reach_ = horizon; // near_ takes entries up to this many ticks ahead; zero while a jump gathers
    std::size_t size_ = 0;
    std::size_t entries_ = 0; // in slots, ready_, descending_ and jump_; without the overdue entries
    slot_ring near_;          // slots of one tick
    chunk_pool chunks_;

    // The entries taken out of the slot of walked_. fire_ready() puts those of later revolutions back. No new ones
    // join.
    entry_chain ready_;
    std::uint32_t ready_position_ = 0;
    bool ready_sorted_ = false; // true during a jump: then all entries are due, and they are in order of ticks

    // The overdue timers, first in, first out. now_ only grows, so this is also the order of ticks.
    entry_chain overdue_;     // armed before this advance()
    entry_chain overdue_new_; // armed during or after it
    std::uint32_t overdue_position_ = 0;
    std::uint64_t overdue_serial_ = 0;
    std::size_t overdue_entries_ = 0;
    std::size_t overdue_limit_ = garbage_slack; // with more entries than this, file_overdue() sweeps them

    // The rings beyond reach_. advance() moves entries of an outer slot to nearer rings before the slot's first tick.
    std::vector<slot_ring> outer_;
    std::uint64_t next_cascade_ = slot_ring::never; // no outer slot with entries begins before this tick
    entry_chain descending_;                        // the entries of outer slots that begin at walked_ + 1, taken out
    std::uint32_t descending_position_ = 0;

    std::unique_ptr<entry_jump> jump_; // made by the first jump, or by reserve()
    jump_phase phase_ = jump_phase::none;
    std::uint32_t sort_limit_ = entry_chain::max_sorted; // splits buckets with more entries than this

    std::size_t sweep_ring_ = 0; // 0: near_
    std::size_t sweep_slot_ = 0;
    std::uint32_t sweep_left_ = 0; // chunks of that slot that are still to be swept
    std::uint64_t sweeps_ = 0;
    bool advancing_ = false;
    bool interrupted_ = false;
};

} // namespace cogwheel::COGWHEEL_ABI::detail
