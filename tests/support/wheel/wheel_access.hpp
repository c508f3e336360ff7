// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The tests' way to counters that would take hours to reach by use, set near their wrap, and to a count that no user
// asks for.
#pragma once

#include <cogwheel/wheel/hierarchical_wheel.hpp>

namespace cogwheel::COGWHEEL_ABI {

struct wheel_access {
    static void set_generation(timer_node& node, std::uint32_t value) { node_access::generation(node, value); }
    static void set_overdue_serial(detail::entry_wheel& wheel, std::uint64_t value) { wheel.overdue_serial_ = value; }
    /// Makes jumps split buckets that have more entries than this. Preconditions: limit <= entry_chain::max_sorted.
    static void set_sort_limit(detail::entry_wheel& wheel, std::uint32_t limit) { wheel.sort_limit_ = limit; }
    static bool gathering(const detail::entry_wheel& wheel) { return wheel.gathering(); }
    static bool sorting(const detail::entry_wheel& wheel) {
        return wheel.phase_ == detail::entry_wheel::jump_phase::sorting;
    }
    static std::uint32_t index(const timer_node& node) { return node_access::index(node); }
    static constexpr std::size_t garbage_slack = detail::entry_wheel::garbage_slack;
    static std::size_t overdue_entries(const detail::entry_wheel& wheel) { return wheel.overdue_entries_; }
    static constexpr std::uint64_t horizon = detail::entry_wheel::horizon;
    static std::size_t all_slots(const detail::entry_wheel& wheel) { return wheel.all_slots(); }
    static constexpr std::uint32_t confirm_limit =
        detail::entry_wheel::confirm_allowance / detail::entry_wheel::confirm_look;
};

} // namespace cogwheel::COGWHEEL_ABI
