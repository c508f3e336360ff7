// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The hashed timing wheel: scheme 6 of Varghese & Lauck ("Hashed and Hierarchical Timing Wheels", 1987), with
// contiguous slots. A timer due at tick t has an entry in slot t mod N; far timers wait there for their revolution.
//
// - schedule, cancel, reschedule: O(1), one cache miss (the node's own line), and no store whose address depends on it.
// - advance: O(slots passed + entries of slots that hold a due one); at most O(slots) to pass any number of ticks.
// - Never early; earlier ticks before later ones, also across a jump. Within a tick: deterministic, no promise.
// - size() is exact at every moment, inside handlers too.
//
// An entry is only a hint to look at its node, so nothing is unlinked: cancel flips the node's generation, a later
// deadline is a store into the node, and an entry whose node was cancelled serves the next timer that gets the node
// ("take-over"). What keeps that true: *each armed node is covered by an entry at filed_ <= deadline_*, in its slot,
// in the ready chain or in the overdue queue. Duplicates and dead entries are legal, and bounded by a sweep.
// An entry names a tick, not a slot: hierarchical_wheel, which is this wheel with further rings of slots for what is far away,
// moves entries from ring to ring and no timer notices.
// Knows no clock, no thread, no lock. Source of the rejected designs' figures: docs/adr/0001.
#pragma once

#include <cogwheel/wheel/detail/slot_ring.hpp>
#include <cogwheel/wheel/timing_wheel.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace cogwheel {

class hashed_wheel {
public:
    static constexpr std::size_t max_slots = wheel_levels::max_slots;

    /// A wheel over `nodes`, which serves this wheel alone, standing at `now`.
    /// Preconditions: 1 <= slots <= max_slots (rounded up to a power of two). Errors: std::bad_alloc.
    hashed_wheel(node_table& nodes, std::size_t slots, tick now = {});
    hashed_wheel(const hashed_wheel&) = delete;
    hashed_wheel& operator=(const hashed_wheel&) = delete;

    /// The latest tick that advance() was told.
    tick now() const noexcept { return {now_}; }

    /// Timers pending.
    std::size_t size() const noexcept { return size_; }
    std::size_t slots() const noexcept { return near_.size(); }

    /// Arms `node`. A tick at or before now() is overdue: it counts as due now, and fires in the next advance().
    /// Preconditions: the node is in the node_table, and not armed; due <= tick::max(). Complexity: O(1).
    /// Errors: std::bad_alloc; the node stays disarmed.
    void schedule(timer_node& node, tick due) {
        assert(!node.armed() && "cancel or reschedule a pending timer");
        assert(due <= tick::max());
        ++node.generation_;
        ++size_;
        // Take-over, if filed_ lies in the farther half of the way to the deadline: such an entry is neither copied out nor
        // passed by, and a timer of a minute is not looked at every second because of a second's leftovers.
        if (due.value > now_ && due.value - node.filed_ <= (due.value - now_) / 2) [[likely]]
            node.deadline_ = due.value;
        else
            schedule_anew(node, due.value);
    }

    /// Moves a pending timer. Later than its entry: a store. Earlier: a second entry.
    /// Preconditions: armed. Complexity: O(1). Errors: std::bad_alloc; the timer keeps its deadline.
    void reschedule(timer_node& node, tick due) {
        assert(node.armed() && "schedule a timer that is not pending");
        if (due.value > now_ && node.filed_ <= due.value) [[likely]]
            node.deadline_ = due.value;
        else
            file(node, due.value);
    }

    /// Disarms `node`; its id is stale from here on. The entry stays, for whoever gets the node next.
    /// Preconditions: armed. Complexity: O(1).
    void cancel(timer_node& node) noexcept {
        assert(node.armed() && "only a pending timer can be cancelled");
        ++node.generation_;
        --size_;
    }

    /// Goes to `to` (back: stays) and fires what is due, in order of ticks, through each node's expiry function.
    /// The function may call anything here but advance(); what it arms waits for the next advance(). If it throws, the
    /// wheel is as if it had returned, and the next call goes on behind it.
    /// Errors: std::bad_alloc, when an entry cannot be moved; nothing is lost, the next call tries again.
    advance_result advance(tick to, work_budget budget = work_budget::unlimited(), void* context = nullptr);

    /// The advance() under way returns when the expiry function that calls this has returned. Without one: no effect.
    void interrupt() noexcept { interrupted_ = true; }

    /// The tick at which advance() has something to do: no pending timer is due before it, and a pending timer was filed
    /// there (a timer that was pushed back since causes one early call). now() when that is at once, nothing when empty.
    /// Complexity: O(slots) worst, the next occupied slot as a rule. Removes dead entries it meets.
    std::optional<tick> next_due();

    /// A tick of [from, to] for which some timer was filed: to be due there as well costs no further look. Nothing if none is known.
    /// The timer may have been cancelled since, or pushed back. Complexity: O(slots of the range / 64 + occupied ones).
    std::optional<tick> occupied(tick from, tick to) const noexcept;

    /// Room for `timers` pending timers: no entry is allocated after that. Errors: std::bad_alloc.
    void reserve(std::size_t timers);

    /// Disarms everything and calls f(node) for each timer that was pending; f must not touch the wheel.
    /// Legal inside an expiry function. Complexity: O(nodes of the table).
    template <class F>
    void clear(F f) {
        drop_entries();
        nodes_.for_each([&](timer_node& node) {
            node.filed_ = timer_node::not_filed; // the entry is gone: nothing to take over
            if (!node.armed()) return;
            ++node.generation_;
            f(node);
        });
    }

    /// Calls f(node) for each pending timer. f must not change the wheel. Complexity: O(nodes of the table).
    template <class F>
    void for_each(F f) const {
        nodes_.for_each([&](const timer_node& node) {
            if (node.armed()) f(node);
        });
    }

    /// Entries held, live and dead. Those in slots: at most 2 x the largest size() since the wheel was empty + a constant. Those of
    /// overdue timers: at most 2 x the largest number of them that were pending at once + the same constant.
    std::size_t entries() const noexcept { return entries_ + overdue_entries_; }

    /// Drops all dead entries, and gives memory that neither the wheel nor the node_table uses back to the system, as after a burst.
    /// False, and nothing done, while something is due: inside an expiry function, or as long as advance() has timers left to fire.
    /// Complexity: O(entries + nodes not in use).
    bool trim() noexcept;

    /// Bytes held, the node_table not included.
    std::size_t footprint() const noexcept;

    /// nullptr, or what is broken. For tests. Complexity: O(everything).
    const char* check_invariants() const;

protected:
    /// A ring of slots beyond the first one.
    struct far_ring {
        std::uint64_t slot_ticks; // a multiple of the previous ring's, and at most as long as that ring
        std::size_t slots;
    };
    hashed_wheel(node_table& nodes, std::size_t slots, std::span<const far_ring> far, tick now);

    std::span<const detail::slot_ring> far() const noexcept { return far_; }

    // Entries carry 32 bits of a tick, so none is filed farther away than half of that; farther timers are re-filed.
    static constexpr std::uint64_t horizon = (std::uint64_t{1} << 31) - 1;

private:
    friend struct wheel_access;
    using entry = detail::entry;
    using chunk = detail::chunk;

    static constexpr std::size_t garbage_slack = 1024; // dead entries (8 kB) that nobody sweeps
    static constexpr std::size_t jump_chunks = 520;    // that a jump needs beside one a slot, for a sort of two digits
    static constexpr std::uint32_t prefetch_distance = 16;

    // What one next_due() may spend on dead entries, in entries read: about 0.1 ms.
    static constexpr std::uint32_t confirm_allowance = 131'072;
    static constexpr std::uint32_t confirm_look = 16; // the price of looking at a node, or for another slot

    static constexpr bool is_overdue(std::uint64_t filed) noexcept { return (filed & timer_node::overdue_bit) != 0; }

    // Out of line: inlined, the registers they need saved would cost every take-over half of its time.
    void schedule_anew(timer_node& node, std::uint64_t due);
    void schedule_slowly(timer_node& node, std::uint64_t due);
    void file(timer_node& node, std::uint64_t due);
    void file_overdue(timer_node& node);
    bool file_simply(timer_node& node, std::uint64_t due) noexcept;
    bool push_on(timer_node& node, std::uint64_t at) noexcept;
    void push(timer_node& node, std::uint64_t at);
    void push_far(timer_node& node, std::uint64_t at, std::uint64_t from);
    void push_for(timer_node& node, std::uint64_t due, std::uint64_t from);

    // Does this entry cover the node? Everything else is a duplicate or dead.
    static bool covers(entry e, const timer_node* node) noexcept {
        return node != nullptr && node->armed() && static_cast<std::uint32_t>(node->filed_) == e.tick &&
               !is_overdue(node->filed_);
    }
    static bool covers_overdue(entry e, const timer_node* node) noexcept {
        return node != nullptr && node->armed() && is_overdue(node->filed_) &&
               static_cast<std::uint32_t>(node->filed_) == e.tick;
    }

    struct turn; // one advance()
    void fire_ready(turn&);
    void consume(turn&, entry);
    void fire(turn&, timer_node&);
    void walk(turn&, std::uint64_t stop);
    void jump(std::uint64_t stop);
    void cascade() noexcept;
    bool descend(turn&);
    entry* first_overdue() noexcept;
    void pop_overdue() noexcept;
    bool overdue_pending() noexcept;
    void accept_overdue() noexcept;
    void sweep_overdue() noexcept;
    void keep_living_overdue(detail::entry_chain&, std::uint32_t position) noexcept;

    // Moving entries about. A tick is read relative to walked_.
    std::uint64_t full_tick(entry e) const noexcept {
        return walked_ + static_cast<std::uint64_t>(static_cast<std::int64_t>(
                             static_cast<std::int32_t>(e.tick - static_cast<std::uint32_t>(walked_))));
    }
    bool is_future(entry e) const noexcept {
        return static_cast<std::int32_t>(e.tick - static_cast<std::uint32_t>(walked_)) > 0;
    }
    void keep(entry e, std::uint64_t at) { near_.put(chunks_, at & near_.mask, e, at); }
    void put_far(entry, std::uint64_t at, std::uint64_t from);
    void put_anywhere(entry, std::uint64_t at, std::uint64_t from);
    bool keep_if_all_future(chunk&) noexcept;
    void forget(entry, timer_node*) noexcept;
    [[gnu::always_inline]] inline void prefetch_ahead(const chunk&, std::uint32_t position) const noexcept;

    bool confirm_low(detail::slot_ring&, std::size_t slot_index, std::uint32_t& allowance) noexcept;
    detail::slot_ring* next_to_sweep() noexcept;
    void sweep() noexcept;
    void refile_living(detail::slot_ring&, std::size_t slot_index, chunk*) noexcept;
    void drop_entries() noexcept;
    std::uint64_t next_cascade() const noexcept;
    std::size_t all_slots() const noexcept;

    template <class F>
    void for_each_ring(F f) {
        f(near_);
        for (detail::slot_ring& ring : far_)
            if (!ring.slots.empty()) f(ring);
    }

    node_table& nodes_;
    std::uint64_t now_;    // told
    std::uint64_t walked_; // every slot up to this tick has been emptied of what was due; <= now_
    std::uint64_t reach_;  // how far ahead the near ring takes entries
    std::size_t size_ = 0;
    std::size_t entries_ = 0; // in slots, ready_, descending_ and sorted chains; not the overdue ones
    detail::slot_ring near_;  // slots of one tick
    detail::chunk_pool chunks_;

    // The slot of tick walked_, taken out; entries of later revolutions go back as they are met. New entries never join.
    detail::entry_chain ready_;
    std::uint32_t ready_position_ = 0;
    bool ready_sorted_ = false; // by jump(): all due

    // First in, first out; as now_ only grows, that is the order of ticks too.
    detail::entry_chain overdue_;     // armed before this advance()
    detail::entry_chain overdue_new_; // armed since
    std::uint32_t overdue_position_ = 0;
    std::uint64_t overdue_serial_ = 0;
    std::size_t overdue_entries_ = 0;
    std::size_t overdue_limit_ = garbage_slack; // more than this: they are swept

    // What is beyond reach_. A slot there is emptied into nearer rings before its first tick; the last ring has revolutions.
    std::vector<detail::slot_ring> far_;
    std::uint64_t next_cascade_ = detail::slot_ring::never; // no far slot with entries begins before this tick
    detail::entry_chain descending_;                        // the slots that begin at walked_ + 1, taken out
    std::uint32_t descending_position_ = 0;

    std::size_t sweep_ring_ = 0; // 0: near_
    std::size_t sweep_slot_ = 0;
    std::uint32_t sweep_left_ = 0; // chunks of that slot
    bool advancing_ = false;
    bool interrupted_ = false;
};

static_assert(timing_wheel<hashed_wheel>);

} // namespace cogwheel
