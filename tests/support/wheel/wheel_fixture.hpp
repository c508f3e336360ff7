// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A wheel with timers that write down when they fire, for tests that say in three lines what happens.
#pragma once

#include "support/wheel/wheels_under_test.hpp"

#include <deque>
#include <functional>
#include <vector>

namespace cogwheel_tests {

/// An embedded timer with a number.
struct numbered_timer {
    struct node_type : cogwheel::timer_node {
        using timer_node::timer_node;
        numbered_timer* owner = nullptr;
    };

    node_type node;
    int number = 0;
    std::vector<int>* fired = nullptr;
    std::function<void()> then = [] {};

    static void expired(cogwheel::timer_node& node, void*) {
        numbered_timer& self = *static_cast<node_type&>(node).owner;
        self.fired->push_back(self.number);
        self.then();
    }
};

template <class Wheel>
struct basic_wheel_fixture {
    cogwheel::node_table nodes;
    Wheel wheel;
    std::deque<numbered_timer> timers;
    std::vector<int> fired; ///< the numbers, in order

    explicit basic_wheel_fixture(std::size_t slots, std::uint64_t now = 0) : wheel(nodes, slots, cogwheel::tick{now}) {}

    ~basic_wheel_fixture() {
        for (numbered_timer& t : timers) {
            if (t.node.armed()) wheel.cancel(t.node);
            nodes.detach(t.node);
        }
    }
    basic_wheel_fixture(const basic_wheel_fixture&) = delete;
    basic_wheel_fixture& operator=(const basic_wheel_fixture&) = delete;

    /// A new timer, not armed. Numbers count from 0.
    numbered_timer& make() {
        numbered_timer& t = timers.emplace_back();
        t.node.owner = &t;
        t.node.completion(&numbered_timer::expired);
        t.number = static_cast<int>(timers.size() - 1);
        t.fired = &fired;
        nodes.attach(t.node);
        return t;
    }

    numbered_timer& schedule(std::uint64_t deadline) {
        numbered_timer& t = make();
        wheel.schedule(t.node, cogwheel::tick{deadline});
        return t;
    }

    cogwheel::advance_result advance(std::uint64_t to,
                                     cogwheel::work_budget budget = cogwheel::work_budget::unlimited()) {
        return wheel.advance(cogwheel::tick{to}, budget);
    }

    /// What fired since the last call, in order.
    std::vector<int> take_fired() { return std::exchange(fired, {}); }

    /// ~0 if nothing is pending.
    std::uint64_t next_due() {
        const auto next = wheel.next_due();
        return next ? next->value : ~std::uint64_t{0};
    }
};

using wheel_fixture = basic_wheel_fixture<cogwheel::hashed_wheel>;

/// For timers whose end does not matter.
inline void ignore_expiry(cogwheel::timer_node&, void*) {}

} // namespace cogwheel_tests
