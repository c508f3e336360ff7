// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The node: the part of a timer that the core works with. Most calls of schedule, cancel and reschedule touch only its
// cache line.
//
// A node is embedded in the object that owns it, or it begins a block of a node_table. It must not move while it is in
// a node_table, because the entries in the wheel's slots find it by its index.
#pragma once

#include <cogwheel/wheel/tick.hpp>

#include <cstdint>

namespace cogwheel {

class node_access;

/// Names one life of one node. The id becomes stale when that life ends: when the timer fires or is cancelled. No later
/// timer gets the same id: the table retires a node whose generations are used up.
struct timer_id {
    std::uint32_t index = 0;
    std::uint32_t generation = 0; // odd; an id with generation zero names no timer

    friend constexpr bool operator==(timer_id, timer_id) = default;
};

/// Two words of a node. In a wheel they hold its ticks, in a list or a queue its links.
class node_links {
    friend class node_access;
    friend class timer_node;

    std::uint64_t deadline_ = 0;
    std::uint64_t filed_ = 0;
};

/// A timer, as the core sees it.
/// Lifetime: the node lives at least as long as it is in a node_table: from attach() to detach(), or from allocate() to
/// release(). It must not move meanwhile.
///
///     struct session {
///         static void expired(cogwheel::timer_node& node, void* context);
///         cogwheel::timer_node idle{&expired};
///     };
class timer_node : private node_links {
public:
    /// Completes the timer. The wheel calls this function at expiry, after it has disarmed the node. The function may
    /// schedule the node again, release it or destroy it. `context` is the argument of advance(). The owner of a node
    /// may call the function too, through complete().
    using completion_function = void (*)(timer_node&, void* context);

    explicit constexpr timer_node(completion_function f = nullptr) noexcept : completion_(f) {}
    timer_node(const timer_node&) = delete;
    timer_node& operator=(const timer_node&) = delete;

    /// Returns true while the timer is pending.
    constexpr bool armed() const noexcept { return (generation_ & 1) != 0; }

    /// Returns the tick at which the timer fires or fired. For a timer that was overdue when it was armed, this is the
    /// wheel's now() of that moment. Preconditions: since then the node has been in no list or queue, and was not
    /// released.
    constexpr tick deadline() const noexcept { return {deadline_}; }

    /// Returns the id of the present life. Preconditions: armed().
    constexpr timer_id id() const noexcept { return {index_, generation_}; }

    /// Returns the id that the next life will have. Preconditions: not armed.
    constexpr timer_id next_id() const noexcept { return {index_, generation_ + 1}; }

    constexpr completion_function completion() const noexcept { return completion_; }
    constexpr void completion(completion_function f) noexcept { completion_ = f; }

    /// Calls the completion function. Preconditions: the node has one.
    void complete(void* context) { completion_(*this, context); }

private:
    friend class node_access;

    completion_function completion_;
    std::uint32_t generation_ = 0; // odd while armed, so that one comparison finds "this life, and still pending"
    std::uint32_t index_ = 0;
};

static_assert(sizeof(timer_node) == 32, "half a cache line, so that the smallest timer with a callable is one line");

/// Gives access to the words of a node. Only the code of a wheel, a list or a table of nodes needs it.
///
/// A wheel arms a node by ++generation and disarms it by another ++generation. While the node is armed, the wheel owns
/// `deadline` and `filed`, and `deadline` holds the tick at which the timer expires. At all other times `index` and
/// `generation` belong to the node_table.
///
///     void my_wheel::cancel(timer_node& node) noexcept {
///         ++node_access::generation(node); // the id is stale from here on
///     }
class node_access {
public:
    static constexpr std::uint64_t not_filed = 0; ///< no entry covers the node: the ticks of entries start at 1

    static std::uint64_t& deadline(node_links& n) noexcept { return n.deadline_; }
    static std::uint64_t deadline(const node_links& n) noexcept { return n.deadline_; }
    static std::uint64_t& deadline(timer_node& n) noexcept { return n.deadline_; }
    static std::uint64_t deadline(const timer_node& n) noexcept { return n.deadline_; }

    /// Returns the tick of the entry that covers the node. The value stays after the timer has ended, for take-over.
    static std::uint64_t& filed(node_links& n) noexcept { return n.filed_; }
    static std::uint64_t filed(const node_links& n) noexcept { return n.filed_; }
    static std::uint64_t& filed(timer_node& n) noexcept { return n.filed_; }
    static std::uint64_t filed(const timer_node& n) noexcept { return n.filed_; }

    static std::uint32_t& generation(timer_node& n) noexcept { return n.generation_; }
    static std::uint32_t generation(const timer_node& n) noexcept { return n.generation_; }

    static std::uint32_t& index(timer_node& n) noexcept { return n.index_; }
    static std::uint32_t index(const timer_node& n) noexcept { return n.index_; }

    static node_links& links(timer_node& n) noexcept { return n; }
    /// Preconditions: the links belong to a node.
    static timer_node& node_of(node_links& l) noexcept { return static_cast<timer_node&>(l); }
};

} // namespace cogwheel
