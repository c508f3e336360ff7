// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The concept of a wheel, which the binding requires, and the argument and result types of advance().
#pragma once

#include <cogwheel/wheel/node_table.hpp>
#include <cogwheel/wheel/wheel_levels.hpp>

#include <concepts>
#include <cstdint>
#include <optional>

namespace cogwheel::inline v0 {

/// How much work one advance() may do before it returns. The last item may exceed the budget. When advance() passes
/// more than one revolution of the first ring, the budget does not limit the collection and sort of the due entries.
/// The weights follow measured costs: about 1 ns for `slot`, 5-20 ns for `entry` (a cache miss), 30 ns plus the handler
/// for `expiry`.
///
///     const auto result = wheel.advance(now, cogwheel::work_budget::expiries(1024));
///     if (result.more) call_again_soon();
struct work_budget {
    static constexpr std::int64_t slot = 1;    ///< a step over empty slots, or an entry moved without reading its node
    static constexpr std::int64_t entry = 4;   ///< a look at a node that does not expire, or up to 62 entries put back
    static constexpr std::int64_t expiry = 32; ///< a timer that fires

    std::int64_t units;

    constexpr work_budget(std::int64_t u) noexcept : units(u) {}

    /// Returns a budget for at most `n` expiries.
    static constexpr work_budget expiries(std::uint32_t n) noexcept { return work_budget(expiry * n); }
    static constexpr work_budget unlimited() noexcept { return work_budget(std::int64_t{1} << 62); }

    constexpr bool spent() const noexcept { return units <= 0; }
    constexpr void charge(std::int64_t cost) noexcept { units -= cost; }
    constexpr void spend_all() noexcept { units = 0; }
};

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
        wheel.clear([](timer_node&) {});
        { wheel.trim() } noexcept -> std::same_as<bool>;
        { const_wheel.check_invariants() } -> std::same_as<const char*>;
    };

/// A timing_wheel that can also be constructed from wheel_levels.
template <class W>
concept levelled_wheel = timing_wheel<W> && std::constructible_from<W, node_table&, const wheel_levels&, tick>;

} // namespace cogwheel::inline v0
