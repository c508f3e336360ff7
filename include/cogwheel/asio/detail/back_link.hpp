// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The way back to an operation, for what may outlive it: a cancellation slot, a timer in a wheel that does not turn any more. It is an
// id that is stale as soon as the operation is gone. Everything needs the engine's lock.
#pragma once

#include <cogwheel/wheel/node_list.hpp>
#include <cogwheel/wheel/node_table.hpp>

#include <new>

namespace cogwheel::detail {

template <class Operation>
class back_link {
public:
    /// Preconditions: there is none. Errors: std::bad_alloc.
    template <class Engine>
    timer_id make(Engine& engine, Operation& operation) {
        timer_node& node = engine.waits.allocate(size);
        ::new (static_cast<void*>(&node + 1)) Operation*(&operation);
        nodes_.push_back(node);
        return node.id();
    }
    template <class Engine>
    void cut(Engine& engine) noexcept {
        if (timer_node* node = nodes_.pop_front()) engine.waits.release(*node, size);
    }

    /// nullptr: it is gone.
    template <class Engine>
    static Operation* follow(Engine& engine, timer_id id) noexcept {
        timer_node* node = engine.waits.find(id);
        return node != nullptr ? *std::launder(reinterpret_cast<Operation**>(node + 1)) : nullptr;
    }

private:
    static constexpr std::size_t size = sizeof(timer_node) + sizeof(void*);

    node_list nodes_;
};

} // namespace cogwheel::detail
