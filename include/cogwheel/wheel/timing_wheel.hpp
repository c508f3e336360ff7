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

/// A wheel over a node_table. Its guarantees, except complexity, must be those of hashed_wheel; detail/entry_wheel.hpp
/// documents the functions. It holds the indices of its nodes and not their addresses: node_table::relocate() moves
/// armed nodes. basic_timer_wheel runs any wheel that models this concept.
template <class W>
concept timing_wheel =
    std::constructible_from<W, node_table&, std::size_t, tick> &&
    requires(W wheel, const W& const_wheel, timer_node& node, tick t, work_budget budget, void* context) {
        wheel.schedule(node, t);
        wheel.reschedule(node, t);
        { wheel.cancel(node) } noexcept;
        { wheel.advance(t, budget, context) } -> std::same_as<advance_result>;
        { wheel.interrupt() } noexcept;
        { wheel.next_due() } -> std::same_as<std::optional<tick>>;
        { const_wheel.occupied(t, t) } noexcept -> std::same_as<std::optional<tick>>;
        { const_wheel.now() } noexcept -> std::same_as<tick>;
        { const_wheel.size() } noexcept -> std::same_as<std::size_t>;
        wheel.reserve(std::size_t{});
        wheel.clear(static_cast<void (*)(timer_node&)>(nullptr));
        { wheel.trim() } noexcept -> std::same_as<bool>;
        { const_wheel.check_invariants() } -> std::same_as<const char*>;
    };

namespace detail {

template <class Member>
struct class_with;
template <class Class, class Type>
struct class_with<Type Class::*> : std::type_identity<Class> {};

/// A wheel that has take_over() and postpone(): what schedule() and reschedule() do if that takes a few stores. A class
/// that inherits these, but has another schedule() or reschedule(), is none: callers may not pass its own by.
template <class W>
concept wheel_with_short_path = requires {
    requires std::same_as<typename class_with<decltype(&W::schedule)>::type,
                          typename class_with<decltype(&W::take_over)>::type>;
    requires std::same_as<typename class_with<decltype(&W::reschedule)>::type,
                          typename class_with<decltype(&W::postpone)>::type>;
};

} // namespace detail

/// A timing_wheel that can also be constructed from wheel_levels.
template <class W>
concept levelled_wheel = timing_wheel<W> && std::constructible_from<W, node_table&, const wheel_levels&, tick>;

} // namespace cogwheel::COGWHEEL_ABI
