// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A node_queue for nodes that may be far from any cache.
//
// Pushing asks the memory for the node and remembers its address; it is linked when so many others have been pushed, by which
// time it has arrived. A store into it at once would keep the store buffer from draining for as long as a load takes.
#pragma once

#include <cogwheel/wheel/node_queue.hpp>

#include <array>
#include <cstddef>

namespace cogwheel {

/// First in, first out. Owns nothing. All operations are O(1).
class far_queue {
public:
    static constexpr std::size_t distance = 16; ///< nodes that are remembered, not linked

    bool empty() const noexcept { return linked_.empty() && first_ == end_; }

    /// Preconditions: those of node_queue::push(). Does not touch the node.
    void push(timer_node& node) noexcept {
        __builtin_prefetch(&node, 1);
        if (end_ - first_ == distance) linked_.push(*pop_remembered());
        remembered_[end_++ % distance] = &node;
    }

    /// nullptr when empty.
    timer_node* pop() noexcept {
        if (timer_node* node = linked_.pop()) return node;
        return first_ == end_ ? nullptr : pop_remembered();
    }

private:
    timer_node* pop_remembered() noexcept { return remembered_[first_++ % distance]; }

    node_queue linked_; // older than those remembered
    std::array<timer_node*, distance> remembered_{};
    std::size_t first_ = 0, end_ = 0; // they only grow
};

} // namespace cogwheel
