// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The timers that have ended and are not delivered yet. Later turns deliver them.
#pragma once

#include <cogwheel/asio/detail/operation.hpp>
#include <cogwheel/wheel/node_queue.hpp>
#include <cogwheel/wheel/timer_node.hpp>

#include <algorithm>
#include <array>

namespace cogwheel::detail {

/// A list of operations with a timeout that the next turn will cancel: first in, first out. An operation that ends
/// before that leaves the list. The links are in a hook, because clear() of the core wheel writes to all nodes.
/// Complexity: O(1) for each function.
class pending_cancellations {
public:
    /// The links, in each operation with a timeout.
    struct hook {
        timer_node* node = nullptr;
        hook* next = nullptr;
        hook** link = nullptr; // the pointer to this hook
    };

    pending_cancellations() = default;
    pending_cancellations(const pending_cancellations&) = delete;
    pending_cancellations& operator=(const pending_cancellations&) = delete;

    bool empty() const noexcept { return first_ == nullptr; }

    void push(hook& p, timer_node& node) noexcept {
        p = {&node, nullptr, last_};
        *last_ = &p;
        last_ = &p.next;
    }
    /// Preconditions: the hook is in the list.
    void erase(hook& p) noexcept {
        *p.link = p.next;
        (p.next != nullptr ? p.next->link : last_) = p.link;
    }
    /// Returns nullptr if the list is empty.
    timer_node* pop() noexcept {
        if (empty()) return nullptr;
        timer_node* node = first_->node;
        erase(*first_);
        return node;
    }

private:
    hook* first_ = nullptr;
    hook** last_ = &first_;
};

/// Queues of ended timers, one for each outcome. Cancelled operations with a timeout come last.
class ended_timers {
public:
    /// Preconditions: `how` is one of `outcomes`.
    void push(outcome how, timer_node& node) noexcept { ended_[static_cast<std::size_t>(how)].push(node); }

    /// Adds an aborted timer of a timeout_after. erase_cancellation() removes it.
    void push_cancellation(pending_cancellations::hook& at, timer_node& node) noexcept { limits_.push(at, node); }
    void erase_cancellation(pending_cancellations::hook& at) noexcept { limits_.erase(at); }

    bool empty() const noexcept {
        return limits_.empty() &&
               std::all_of(ended_.begin(), ended_.end(), [](const prefetching_queue& q) { return q.empty(); });
    }

    /// Returns nullptr if there is none, else sets *how.
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
    // `expired` holds the other waits of a wheel_timer, after a handler threw or stopped the context.
    static constexpr std::array outcomes{outcome::expired, outcome::aborted, outcome::stopped, outcome::rejected};

    std::array<prefetching_queue, outcomes.size()> ended_;
    pending_cancellations limits_;
};

} // namespace cogwheel::detail
