// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The timers that have ended and are not delivered yet. Later turns deliver them.
#pragma once

#include <cogwheel/asio/detail/engine/operation.hpp>
#include <cogwheel/detail/linked_list.hpp>
#include <cogwheel/wheel/detail/node_queue.hpp>
#include <cogwheel/wheel/timer_node.hpp>

#include <array>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// An operation with a timeout that the next turn will cancel, unless it ends before. The links are not in the node,
/// because clear() of the core wheel writes to all nodes.
struct pending_cancellation : list_links<pending_cancellation> {
    timer_node* node = nullptr;
};

/// Queues of ended timers, one for each outcome. Cancelled operations with a timeout come last.
class ended_timers {
public:
    /// Preconditions: `how` is one of `outcomes`.
    void push(outcome how, timer_node& node) noexcept { ended_[static_cast<std::size_t>(how)].push(node); }

    /// Adds an aborted timer of a timeout(). erase_cancellation() removes it.
    void push_cancellation(pending_cancellation& c, timer_node& node) noexcept {
        c.node = &node;
        cancellations_.push_back(c);
    }
    void erase_cancellation(pending_cancellation& c) noexcept { cancellations_.erase(c); }

    [[gnu::noinline]] bool empty() const noexcept { // several times in a turn
        for (const prefetching_queue& q : ended_)
            if (!q.empty()) return false;
        return cancellations_.empty();
    }

    /// Returns nullptr if there is none, else sets *how.
    timer_node* pop(outcome* how = nullptr) noexcept {
        for (const outcome o : outcomes) {
            if (timer_node* node = ended_[static_cast<std::size_t>(o)].pop()) {
                if (how != nullptr) *how = o;
                return node;
            }
        }
        const pending_cancellation* c = cancellations_.pop_front();
        if (c == nullptr) return nullptr;
        if (how != nullptr) *how = outcome::aborted;
        return c->node;
    }

private:
    // `expired` holds the other waits of a wheel_timer, after a handler threw or stopped the context.
    static constexpr std::array outcomes{outcome::expired, outcome::aborted, outcome::stopped, outcome::rejected};

    std::array<prefetching_queue, outcomes.size()> ended_;
    linked_list<pending_cancellation> cancellations_; // first in, first out
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
