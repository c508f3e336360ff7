// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The intrusive half of a timer: the one cache line that schedule, cancel and reschedule touch.
//
// A node is embedded in the object that owns it, or heads a block of a node_table. It never moves while a
// node_table knows it, because entries in the wheel's slots reach it by its index.
#pragma once

#include <cogwheel/wheel/tick.hpp>

#include <cstdint>

namespace cogwheel {

class hashed_wheel;
class node_list;
class node_queue;
class node_table;

/// Names one life of one node. Stale as soon as that life ends (fired, cancelled), and never reused:
/// a node whose generations are used up is retired.
struct timer_id {
    std::uint32_t index = 0;
    std::uint32_t generation = 0; // odd; zero names nothing

    friend constexpr bool operator==(timer_id, timer_id) = default;
};

/// What lets a node stand in a node_list or a node_queue: the words that hold its ticks while it is in a wheel.
class node_links {
    friend class hashed_wheel;
    friend class node_table;
    friend class node_list;
    friend class node_queue;
    friend class timer_node;
    friend struct wheel_access; // tests set counters near their wrap through it

    static constexpr std::uint64_t not_filed = 0; // no entry leads here: ticks of entries start at 1

    std::uint64_t deadline_ = 0; // while disarmed: link of the free list, or of a node_queue
    std::uint64_t filed_ =
        not_filed; // tick of the entry that covers the node; outlives the timer's life, for take-over
};

/// A timer as the core sees it.
/// Lifetime: outlives its place in a node_table (attach .. detach, or allocate .. release); must not be moved meanwhile.
class timer_node : private node_links {
public:
    /// What the wheel calls when the timer expires. The node is disarmed already: it may be scheduled again,
    /// released or destroyed from inside. `context` is what the caller handed to advance().
    using expiry_function = void (*)(timer_node&, void* context);

    explicit constexpr timer_node(expiry_function f = nullptr) noexcept : on_expiry_(f) {}
    timer_node(const timer_node&) = delete;
    timer_node& operator=(const timer_node&) = delete;

    /// Is the timer pending?
    constexpr bool armed() const noexcept { return (generation_ & 1) != 0; }

    /// The tick at which it fires or fired. A deadline that was past when it was set reads as the present of that moment.
    constexpr tick deadline() const noexcept { return {deadline_}; }

    /// The name of the present life. Preconditions: armed().
    constexpr timer_id id() const noexcept { return {index_, generation_}; }

    /// The name that the next life will have. Preconditions: not armed.
    constexpr timer_id next_id() const noexcept { return {index_, generation_ + 1}; }

    constexpr expiry_function on_expiry() const noexcept { return on_expiry_; }
    constexpr void on_expiry(expiry_function f) noexcept { on_expiry_ = f; }

private:
    friend class hashed_wheel;
    friend class node_table;
    friend class node_list;
    friend class node_queue;
    friend struct wheel_access; // tests set counters near their wrap through it

    static constexpr std::uint64_t overdue_bit = std::uint64_t{1}
                                                 << 63; // filed in the overdue queue, under a serial number

    expiry_function on_expiry_;    // while a block is free: link of the free list
    std::uint32_t generation_ = 0; // odd while armed, so that one comparison answers "this life, and pending?"
    std::uint32_t index_ = 0;
};

static_assert(sizeof(timer_node) == 32, "half a cache line, so that the smallest timer with a callable is one line");

} // namespace cogwheel
