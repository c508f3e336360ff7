// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What ended and is not delivered yet: turns to come take it from here.
#pragma once

#include <cogwheel/asio/detail/ended_limits.hpp>
#include <cogwheel/asio/detail/operation.hpp>
#include <cogwheel/wheel/far_queue.hpp>

#include <algorithm>
#include <array>

namespace cogwheel::detail {

class undelivered {
public:
    /// Preconditions: one of those below.
    void push(outcome how, timer_node& node) noexcept { ended_[static_cast<std::size_t>(how)].push(node); }

    /// A limit that is aborted, until it is called off.
    void push_limit(ended_limits::place& at, timer_node& node) noexcept { limits_.push(at, node); }
    void erase_limit(ended_limits::place& at) noexcept { limits_.erase(at); }

    bool empty() const noexcept {
        return limits_.empty() &&
               std::all_of(ended_.begin(), ended_.end(), [](const far_queue& q) { return q.empty(); });
    }

    /// nullptr when empty.
    timer_node* pop(outcome* how = nullptr) noexcept {
        for (const outcome o : outcomes) {
            if (timer_node* node = ended_[static_cast<std::size_t>(o)].pop()) {
                if (how != nullptr) *how = o;
                return node;
            }
        }
        timer_node* node = limits_.pop();
        if (node != nullptr && how != nullptr) *how = outcome::aborted;
        return node;
    }

private:
    // expired: what a handler that threw, or stopped the context, left of a node's waits.
    static constexpr std::array outcomes{outcome::expired, outcome::aborted, outcome::stopped, outcome::rejected};

    std::array<far_queue, outcomes.size()> ended_;
    ended_limits limits_;
};

} // namespace cogwheel::detail
