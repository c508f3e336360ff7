// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A queue of disarmed nodes, linked through the word that held their deadline: nothing is allocated.
#pragma once

#include <cogwheel/wheel/timer_node.hpp>

#include <cassert>

namespace cogwheel {

/// First in, first out. Owns nothing. All operations are O(1).
class node_queue {
public:
    bool empty() const noexcept { return head_ == nullptr; }

    /// Preconditions: the node is not armed, and in no queue; it is not armed while it is in this one.
    void push(timer_node& node) noexcept {
        assert(!node.armed());
        link(node, nullptr);
        if (head_ == nullptr)
            head_ = &node;
        else
            link(*tail_, &node);
        tail_ = &node;
    }

    /// nullptr when empty.
    timer_node* pop() noexcept {
        timer_node* node = head_;
        if (node != nullptr) head_ = reinterpret_cast<timer_node*>(node->deadline_);
        return node;
    }

private:
    static void link(timer_node& node, timer_node* next) noexcept {
        node.deadline_ = reinterpret_cast<std::uintptr_t>(next);
    }

    timer_node* head_ = nullptr;
    timer_node* tail_ = nullptr;
};

} // namespace cogwheel
