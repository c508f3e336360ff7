// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Queues of disarmed nodes. A queue allocates nothing: its links use the word in which an armed node has its deadline.
#pragma once

#include <cogwheel/detail/assertion.hpp>
#include <cogwheel/detail/platform.hpp>
#include <cogwheel/wheel/timer_node.hpp>

#include <array>
#include <cstddef>

namespace cogwheel::COGWHEEL_ABI::detail {

/// A queue of nodes, first in, first out. It does not own them. All operations are O(1).
///
///     ended.push(node);
///     while (cogwheel::timer_node* next = ended.pop()) next->complete(context);
class node_queue {
public:
    bool empty() const noexcept { return head_ == nullptr; }

    /// Appends a node. Preconditions: the node is in no list or queue, and is not armed before it leaves this queue.
    void push(timer_node& node) noexcept {
        COGWHEEL_ASSERT(!node.armed());
        link(node, nullptr);
        if (head_ == nullptr)
            head_ = &node;
        else
            link(*tail_, &node);
        tail_ = &node;
    }

    /// Removes and returns the first node, or returns nullptr if the queue is empty.
    timer_node* pop() noexcept {
        timer_node* node = head_;
        if (node != nullptr) head_ = reinterpret_cast<timer_node*>(node_access::deadline(*node));
        return node;
    }

private:
    static void link(timer_node& node, timer_node* next) noexcept {
        node_access::deadline(node, reinterpret_cast<std::uintptr_t>(next));
    }

    timer_node* head_ = nullptr;
    timer_node* tail_ = nullptr;
};

/// Like node_queue, but for nodes that may not be in the cache.
///
/// push() prefetches the node and keeps its address. The queue links the node after `distance` further pushes, when it
/// has probably arrived in the cache. A store to it in push() would block the store buffer for a cache miss.
///
///     ended.push(node); // does not touch the node
///     while (cogwheel::timer_node* next = ended.pop()) next->complete(context);
class prefetching_queue {
public:
    static constexpr std::size_t distance = 16; ///< the largest number of nodes not linked yet

    bool empty() const noexcept { return linked_.empty() && first_ == end_; }

    /// Appends a node without touching it. Preconditions: those of node_queue::push().
    void push(timer_node& node) noexcept {
        COGWHEEL_PREFETCH(&node, 1);
        if (end_ - first_ == distance) linked_.push(*pop_remembered());
        remembered_[end_++ % distance] = &node;
    }

    /// Removes and returns the first node, or returns nullptr if the queue is empty.
    timer_node* pop() noexcept {
        if (timer_node* node = linked_.pop()) return node;
        return first_ == end_ ? nullptr : pop_remembered();
    }

private:
    timer_node* pop_remembered() noexcept { return remembered_[first_++ % distance]; }

    node_queue linked_; // the older nodes
    std::array<timer_node*, distance> remembered_{};
    std::size_t first_ = 0, end_ = 0; // both only grow; an index is taken mod `distance`
};

} // namespace cogwheel::COGWHEEL_ABI::detail
