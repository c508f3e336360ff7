// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A list of nodes that do not wait for a tick, such as the waits of one wheel_timer: intrusive, first in, first out.
//
// push_back() can name a node. A named node is armed, and a caller that has only its id can remove it in O(1). The
// links use the words that hold ticks in a wheel, which may write to each node of its node_table. So keep the nodes of
// a list in another one.
#pragma once

#include <cogwheel/detail/assertion.hpp>
#include <cogwheel/wheel/timer_node.hpp>

#include <type_traits>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail {

/// A list of nodes. It does not own them. All operations are O(1). Lifetime: empty the list before you destroy it.
///
///     cogwheel::detail::node_list waits;
///     waits.push_back(node);
///     const cogwheel::timer_id id = node.id();
///     if (cogwheel::timer_node* n = nodes.find(id)) cogwheel::detail::node_list::erase(*n);
class node_list {
public:
    node_list() noexcept { link(end_, end_); }
    node_list(node_list&& other) noexcept : node_list() { take(other); }
    node_list& operator=(node_list&& other) noexcept {
        COGWHEEL_ASSERT(empty() && "its nodes would be lost");
        take(other);
        return *this;
    }
    ~node_list() = default;

    bool empty() const noexcept { return next(end_) == &end_; }

    /// Appends a node. If `named`, the node has an id() until it leaves the list; otherwise it has none. Preconditions:
    /// the node is neither armed nor in a list or queue. A named node is of a node_table.
    void push_back(timer_node& node, bool named = true) noexcept {
        COGWHEEL_ASSERT(!node.armed());
        node_links& links = node_access::links(node);
        link(*previous(end_), links);
        link(links, end_);
        if (!named) return;
        node_access::next_generation(node);
        named_ = true;
    }

    /// Removes and returns the first node, or returns nullptr if the list is empty. Does not touch the only node (which
    /// may not be in the cache), unless a named node has joined since the list was last empty.
    timer_node* pop_front() noexcept {
        if (empty()) return nullptr;
        node_links* first = next(end_);
        timer_node* node = &node_access::node_of(*first);
        if (!named_ && first == previous(end_))
            link(end_, end_);
        else
            erase(*node);
        return node;
    }

    /// Removes the node from its list; the node's id becomes stale. Returns the list if it is now empty, else nullptr.
    /// Preconditions: the node is in a list.
    static node_list* erase(timer_node& node) noexcept {
        const node_links& links = node_access::links(node);
        node_links* before = previous(links);
        node_links* after = next(links);
        link(*before, *after);
        node_access::filed(node, node_access::not_filed);
        if (node.armed()) node_access::next_generation(node);
        if (before != after) return nullptr;
        auto* list = reinterpret_cast<node_list*>(before); // end_ is the first member of its list
        list->named_ = false;
        return list;
    }

private:
    static node_links* next(const node_links& n) noexcept {
        return reinterpret_cast<node_links*>(node_access::deadline(n));
    }
    static node_links* previous(const node_links& n) noexcept {
        return reinterpret_cast<node_links*>(node_access::filed(n));
    }
    static void link(node_links& first, node_links& second) noexcept {
        node_access::deadline(first, reinterpret_cast<std::uintptr_t>(&second));
        node_access::filed(second, reinterpret_cast<std::uintptr_t>(&first));
    }
    void take(node_list& other) noexcept {
        if (other.empty()) return;
        named_ = std::exchange(other.named_, false);
        link(end_, *next(other.end_));
        link(*previous(other.end_), end_);
        link(other.end_, other.end_);
    }

    node_links end_;
    bool named_ = false; // true if the list may have named nodes
};

static_assert(std::is_standard_layout_v<node_list>, "so that the address of the end is that of the list");

} // namespace cogwheel::COGWHEEL_ABI::detail
