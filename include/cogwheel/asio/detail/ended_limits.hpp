// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Limits whose operations the next turn is to cancel, first in, first out; one whose operation is over by then leaves. All is O(1).
// Their nodes are in no list: clear() of the wheel writes to all nodes of the table.
#pragma once

#include <cogwheel/wheel/timer_node.hpp>

namespace cogwheel::detail {

class ended_limits {
public:
    /// In each operation with a limit.
    struct place {
        timer_node* node = nullptr;
        place* next = nullptr;
        place** link = nullptr; // what points here
    };

    ended_limits() = default;
    ended_limits(const ended_limits&) = delete;
    ended_limits& operator=(const ended_limits&) = delete;

    bool empty() const noexcept { return first_ == nullptr; }

    void push(place& p, timer_node& node) noexcept {
        p = {&node, nullptr, last_};
        *last_ = &p;
        last_ = &p.next;
    }
    /// Preconditions: it is in here.
    void erase(place& p) noexcept {
        *p.link = p.next;
        (p.next != nullptr ? p.next->link : last_) = p.link;
    }
    /// nullptr when empty.
    timer_node* pop() noexcept {
        if (empty()) return nullptr;
        timer_node* node = first_->node;
        erase(*first_);
        return node;
    }

private:
    place* first_ = nullptr;
    place** last_ = &first_;
};

} // namespace cogwheel::detail
