// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The node: the part of a timer that the core works with. Apart from the wheel object, most calls of schedule, cancel
// and reschedule touch only the cache line of the node.
//
// A node is embedded in the object that owns it, or it begins a block of a node_table. While an embedded node is
// attached to a node_table, only relocate() may move it: entries in the wheel's slots hold its index, which the table
// turns into its address.
#pragma once

#include <cogwheel/wheel/tick.hpp>

#include <cstdint>

namespace cogwheel::COGWHEEL_ABI {

class node_access;

/// Names a timer from the moment its node is armed until it fires or is cancelled. After that the id is stale. No later
/// timer of the table gets the same id, unless one node is armed 2^30 times without a release() or detach().
struct timer_id {
    std::uint32_t index = 0;
    std::uint32_t generation = 0; // odd; an id with generation zero names no timer

    friend constexpr bool operator==(timer_id, timer_id) = default;
};

class timer_node;

namespace detail {

/// Two words of a node. In a wheel, they hold its deadline and the tick of its entry; in a list or a queue, its links.
class node_links {
    friend node_access;
    friend timer_node;

    std::uint64_t deadline_ = 0;
    std::uint64_t filed_ = 0;
};

} // namespace detail

/// A timer, as the core sees it.
/// Lifetime: detach() or relocate() an attached node before you destroy it. A node_table owns the nodes of allocate().
///
///     struct session {
///         static void expired(cogwheel::timer_node& node, void* context);
///         cogwheel::timer_node idle{&expired};
///     };
class timer_node : private detail::node_links {
public:
    /// Completes the timer. The wheel calls this function at expiry, after it has disarmed the node. The function may
    /// schedule the node again, release its block, or detach and destroy it. `context` is the argument of advance().
    /// The owner of a node may call the function too, through complete().
    using completion_function = void (*)(timer_node&, void* context);

    explicit constexpr timer_node(completion_function f = nullptr) noexcept : completion_(f) {}
    timer_node(const timer_node&) = delete;
    timer_node& operator=(const timer_node&) = delete;

    /// Returns true while the timer is pending, or while the node is a named node of a node_list.
    constexpr bool armed() const noexcept { return (generation_ & 1) != 0; }

    /// Returns the tick for which the timer was last scheduled or rescheduled; if it was overdue, the wheel's now() at
    /// that moment. Preconditions: since then the node was not released, and was in no list or queue.
    constexpr tick deadline() const noexcept { return {deadline_}; }

    /// Returns the node's present id. Preconditions: armed().
    constexpr timer_id id() const noexcept { return {index_, generation_}; }

    /// Returns the id that the node will have when it is armed next. Preconditions: in a node_table, not armed.
    constexpr timer_id next_id() const noexcept { return {index_, generation_ + 1}; }

    /// Returns the id that the node had when it was armed last. Preconditions: in a node_table, not armed.
    constexpr timer_id last_id() const noexcept { return {index_, generation_ - 1}; }

    constexpr completion_function completion() const noexcept { return completion_; }
    constexpr void completion(completion_function f) noexcept { completion_ = f; }

    /// Calls the completion function. Preconditions: the node has one.
    void complete(void* context) { completion_(*this, context); }

private:
    friend class node_access;

    completion_function completion_;
    // Odd while armed, so that one comparison with an id also shows that the timer is pending. With 32-bit pointers,
    // alignas puts the padding before this member: a derived class would use padding at the end.
    alignas(8) std::uint32_t generation_ = 0;
    std::uint32_t index_ = 0;
};

static_assert(sizeof(timer_node) == 32, "half a cache line, so that the smallest timer with a callable is one line");

/// Gives wheels, lists, queues and tables of nodes access to the words of a node.
///
/// A wheel arms a node by next_generation() and disarms it by another next_generation(). `deadline`, the tick of
/// expiry, belongs to the wheel while the node is armed; `filed` belongs to the wheel even after that. `index` belongs
/// to the node_table, and so does `generation` while the node is not armed.
///
///     void my_wheel::cancel(timer_node& node) noexcept {
///         node_access::next_generation(node); // the id is stale from here on
///     }
class node_access {
public:
    static constexpr std::uint64_t not_filed = 0; ///< no entry covers the node: the ticks of entries start at 1

    // Setters, and not references to the words: the compiler must assume that a store through a reference changes any
    // integer of the wheel, and loads these integers again.
    static std::uint64_t deadline(const detail::node_links& n) noexcept { return n.deadline_; }
    static std::uint64_t deadline(const timer_node& n) noexcept { return n.deadline_; }
    static void deadline(detail::node_links& n, std::uint64_t value) noexcept { n.deadline_ = value; }
    static void deadline(timer_node& n, std::uint64_t value) noexcept { n.deadline_ = value; }

    /// The tick of the entry that covers the node; in entry_wheel, a serial number if the timer is overdue. The value
    /// remains after the timer has ended, so that the node's next timer can use the entry.
    static std::uint64_t filed(const detail::node_links& n) noexcept { return n.filed_; }
    static std::uint64_t filed(const timer_node& n) noexcept { return n.filed_; }
    static void filed(detail::node_links& n, std::uint64_t value) noexcept { n.filed_ = value; }
    static void filed(timer_node& n, std::uint64_t value) noexcept { n.filed_ = value; }

    static std::uint32_t generation(const timer_node& n) noexcept { return n.generation_; }
    static void generation(timer_node& n, std::uint32_t value) noexcept { n.generation_ = value; }
    static void next_generation(timer_node& n) noexcept { ++n.generation_; }

    static std::uint32_t index(const timer_node& n) noexcept { return n.index_; }
    static void index(timer_node& n, std::uint32_t value) noexcept { n.index_ = value; }

    static detail::node_links& links(timer_node& n) noexcept { return n; }
    /// Preconditions: the links belong to a node.
    static timer_node& node_of(detail::node_links& l) noexcept { return static_cast<timer_node&>(l); }
};

} // namespace cogwheel::COGWHEEL_ABI
