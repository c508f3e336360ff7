// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The concept of a wheel, which the binding requires, and the result type of advance().
#pragma once

#include <cogwheel/wheel/node_table.hpp>
#include <cogwheel/wheel/wheel_levels.hpp>
#include <cogwheel/wheel/work_budget.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace cogwheel::COGWHEEL_ABI {

struct advance_result {
    std::uint64_t fired = 0;
    bool more = false;  ///< work is left: call advance() again at once, with the same tick or a later one
    bool spent = false; ///< the reason for `more` is the budget
};

/// A wheel over a node_table, as basic_timer_wheel requires it. `node` is in the table; `due` is at most tick::max().
/// The wheel holds the indices of its nodes and not their addresses, because node_table::relocate() moves armed nodes.
/// The complexities are those of hashed_wheel; another wheel may have others.
template <class W>
concept timing_wheel =
    std::constructible_from<W, node_table&, std::size_t, tick> && // the table, the number of slots, the present tick
    requires(W wheel, const W& const_wheel, timer_node& node, tick due, work_budget budget, void* context) {
        // Arms a node that is not armed. A timer due at or before now() fires in the next advance(). O(1).
        // Errors: std::bad_alloc; the node stays disarmed.
        wheel.schedule(node, due);
        // Changes the deadline of an armed node. O(1). Errors: std::bad_alloc; the timer keeps its deadline.
        wheel.reschedule(node, due);
        // Disarms an armed node; its id becomes stale. O(1).
        { wheel.cancel(node) } noexcept;
        // Moves now() to `due`, but never back. Disarms the due nodes in order of their ticks, and calls the completion
        // function of each with `context`. This function may call all functions except advance(). A timer that it arms
        // fires in a later advance(). Sets `more` if the budget is spent. Errors: std::bad_alloc, and what a
        // completion function throws; the next call goes on.
        { wheel.advance(due, budget, context) } -> std::same_as<advance_result>;
        // Makes advance() return after the completion function that calls interrupt().
        { wheel.interrupt() } noexcept;
        // Returns the tick at which to call advance() next: no timer is due before it. Returns now() if a timer is due,
        // and nothing if no timer is pending.
        { wheel.next_due() } -> std::same_as<std::optional<tick>>;
        // Returns a tick of a range at which advance() looks at some timer in any case, or nothing.
        { const_wheel.occupied(due, due) } noexcept -> std::same_as<std::optional<tick>>;
        // Return the tick that advance() has reached, and the number of pending timers.
        { const_wheel.now() } noexcept -> std::same_as<tick>;
        { const_wheel.size() } noexcept -> std::same_as<std::size_t>;
        // Allocates the memory that this number of pending timers needs.
        wheel.reserve(std::size_t{});
        // Disarms all nodes, and calls the function for each.
        wheel.clear(static_cast<void (*)(timer_node&)>(nullptr));
        // Gives unused memory back to the system. Returns false and does nothing while a timer is due.
        { wheel.trim() } noexcept -> std::same_as<bool>;
    };

namespace detail {

template <class Member>
struct class_with;
template <class Class, class Type>
struct class_with<Type Class::*> : std::type_identity<Class> {};

/// A wheel with take_over() and postpone(): the short paths of schedule() and reschedule(). A class that inherits them
/// but defines its own schedule() or reschedule() does not satisfy the concept: callers would bypass these functions.
template <class W>
concept wheel_with_short_path = requires {
    requires std::same_as<typename class_with<decltype(&W::schedule)>::type,
                          typename class_with<decltype(&W::take_over)>::type>;
    requires std::same_as<typename class_with<decltype(&W::reschedule)>::type,
                          typename class_with<decltype(&W::postpone)>::type>;
};

/// A timing_wheel that can also be constructed from wheel_levels.
template <class W>
concept levelled_wheel = timing_wheel<W> && std::constructible_from<W, node_table&, const wheel_levels&, tick>;

} // namespace detail

} // namespace cogwheel::COGWHEEL_ABI
