// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The tests' way to counters that would take hours to reach by use: set near their wrap, never read to assert.
#pragma once

#include <cogwheel/wheel/hierarchical_wheel.hpp>

namespace cogwheel {

struct wheel_access {
    static void set_generation(timer_node& node, std::uint32_t value) { node.generation_ = value; }
    static void set_overdue_serial(hashed_wheel& wheel, std::uint64_t value) { wheel.overdue_serial_ = value; }
    static void set_overdue_serial(hierarchical_wheel& wheel, std::uint64_t value) { wheel.overdue_serial_ = value; }
    static std::uint32_t index(const timer_node& node) { return node.index_; }
    static constexpr std::size_t garbage_slack = hashed_wheel::garbage_slack;
    static constexpr std::uint64_t horizon = hashed_wheel::horizon;
    static std::size_t all_slots(const hashed_wheel& wheel) { return wheel.all_slots(); }
    static std::size_t all_slots(const hierarchical_wheel& wheel) { return wheel.all_slots(); }
    static constexpr std::uint32_t confirm_limit = hashed_wheel::confirm_allowance / hashed_wheel::confirm_look;
};

} // namespace cogwheel
