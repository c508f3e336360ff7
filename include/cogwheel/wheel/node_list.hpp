// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Nodes that wait for another node rather than for a tick: an intrusive, doubly linked list, first in, first out.
//
// A named node has an id while it is in a list, as it has while it is armed in a wheel; one that knows only the id takes the
// node out in O(1). The links live in the words that a node in a wheel uses for its ticks, so it can be in one of the two only.
#pragma once

#include <cogwheel/wheel/timer_node.hpp>

#include <cassert>
#include <type_traits>
#include <utility>

namespace cogwheel {

class node_list {
public:
    node_list() noexcept { link(end_, end_); }
    node_list(node_list&& other) noexcept : node_list() { take(other); }
    node_list& operator=(node_list&& other) noexcept {
        assert(empty() && "its nodes would be lost");
        take(other);
        return *this;
    }
    ~node_list() = default;

    bool empty() const noexcept { return next(end_) == &end_; }

    /// Preconditions: the node is neither armed nor in a list or queue. Its id is valid from here on, if it is `named`.
    void push_back(timer_node& node, bool named = true) noexcept {
        assert(!node.armed());
        link(*previous(end_), node);
        link(node, end_);
        if (!named) return;
        ++node.generation_;
        named_ = true;
    }

    /// nullptr when empty. A node that is alone and not named is not touched: it may be far from any cache.
    timer_node* pop_front() noexcept {
        if (empty()) return nullptr;
        auto* node = static_cast<timer_node*>(next(end_));
        if (!named_ && node == previous(end_))
            link(end_, end_);
        else
            erase(*node);
        return node;
    }

    /// Takes the node out of its list; its id is stale from here on. The list if that is empty now, else nullptr.
    static node_list* erase(timer_node& node) noexcept {
        node_links* before = previous(node);
        node_links* after = next(node);
        link(*before, *after);
        node.filed_ = timer_node::not_filed;
        if (node.armed()) ++node.generation_;
        if (before != after) return nullptr;
        auto* list = reinterpret_cast<node_list*>(before); // the end is its list's first member
        list->named_ = false;
        return list;
    }

private:
    static node_links* next(const node_links& n) noexcept { return reinterpret_cast<node_links*>(n.deadline_); }
    static node_links* previous(const node_links& n) noexcept { return reinterpret_cast<node_links*>(n.filed_); }
    static void link(node_links& first, node_links& second) noexcept {
        first.deadline_ = reinterpret_cast<std::uintptr_t>(&second);
        second.filed_ = reinterpret_cast<std::uintptr_t>(&first);
    }
    void take(node_list& other) noexcept {
        if (other.empty()) return;
        named_ = std::exchange(other.named_, false);
        link(end_, *next(other.end_));
        link(*previous(other.end_), end_);
        link(other.end_, other.end_);
    }

    node_links end_;
    bool named_ = false; // some of them may be
};

static_assert(std::is_standard_layout_v<node_list>, "so that the address of the end is that of the list");

} // namespace cogwheel
