// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#pragma once

#include <cogwheel/detail/which_asio.hpp>
#include <cogwheel/wheel/detail/node_list.hpp>
#include <cogwheel/wheel/node_table.hpp>

#include COGWHEEL_ASIO_HEADER(cancellation_type.hpp)

#include <new>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// Returns true if an emission cancels: cancellation_type::none does not.
inline bool cancels(asio::cancellation_type_t type) noexcept {
    return (type & asio::cancellation_type::all) != asio::cancellation_type::none;
}

/// Finds an operation for objects that may outlive it: a cancellation slot, or a timer in a wheel that runs no more
/// turns. They keep an id, which is stale once the operation is gone.
/// Thread safety: all functions need the engine's lock.
template <class Operation>
class back_link {
public:
    /// Makes the link and returns its id. Preconditions: there is no link. Errors: std::bad_alloc.
    template <class Engine>
    timer_id make(Engine& engine, Operation& operation) {
        timer_node& node = engine.waits.allocate(size);
        ::new (static_cast<void*>(&node + 1)) Operation*(&operation);
        nodes_.push_back(node);
        return node.id();
    }
    /// Makes the id stale. Does nothing if there is no link.
    template <class Engine>
    void cut(Engine& engine) noexcept {
        if (timer_node* node = nodes_.pop_front()) engine.waits.release(*node, size);
    }

    /// Returns the operation, or nullptr if it is gone.
    template <class Engine>
    static Operation* follow(Engine& engine, timer_id id) noexcept {
        timer_node* node = engine.waits.find(id);
        return node != nullptr ? *std::launder(reinterpret_cast<Operation**>(node + 1)) : nullptr;
    }

private:
    static constexpr std::size_t size = sizeof(timer_node) + sizeof(void*);

    node_list nodes_;
};

/// The function in a handler's cancellation slot. It has only an id, so it may be called after the operation has ended
/// or moved. Calls Target::cancel_by_slot(engine, lock, id, type), with the lock held. Every: also for
/// cancellation_type::none, which a timeout passes to its operation.
template <class Engine, class Target, bool Every = false>
class slot_handler {
public:
    slot_handler(Engine& engine, timer_id id) noexcept : engine_(&engine), id_(id) {}

    void operator()(asio::cancellation_type_t type) const {
        if (!Every && !cancels(type)) return;
        typename Engine::lock_type lock = engine_->lock();
        Target::cancel_by_slot(*engine_, lock, id_, type);
    }

private:
    Engine* engine_;
    timer_id id_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
