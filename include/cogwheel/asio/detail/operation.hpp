// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How a timer of the binding lies in memory and how it ends: a node, then its payload (a callable, or a handler that waits).
//
// By default both are one block of the wheel's node_table; a payload that is too large for that, or has an allocator of its
// own, brings its memory and attaches the node. One function pointer in the node ends the timer, whatever the outcome.
#pragma once

#include <cogwheel/wheel/node_table.hpp>

#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace cogwheel::detail {

enum class outcome {
    expired,
    aborted,   ///< cancelled: an async_wait still has to complete, an on-cancel callable to run
    stopped,   ///< never pending: the wheel is stopped
    rejected,  ///< never pending: max_pending
    discarded, ///< cancelled by its token, and still armed: nobody is told, but an on-cancel callable
    destroyed, ///< the execution context is shut down
};

/// The context that a node's function is called with. The lock is held, then and when it returns; if it throws, it is not.
template <class State>
struct completion {
    State& state;
    typename State::lock_type& lock;
    outcome how;
};

/// A payload has: deliver(outcome, State&) &&, called without the lock; allocator_type (node_table's own: void);
/// and static constexpr bool silent: nothing to deliver when cancelled.
template <class State, class Payload>
class operation {
    using allocator = typename Payload::allocator_type;
    static constexpr bool pooled = std::is_void_v<allocator> &&
                                   sizeof(timer_node) + sizeof(Payload) <= node_table::max_block &&
                                   alignof(Payload) <= node_table::block_alignment;

    struct own_block {
        timer_node node;
        Payload payload;
    };
    using own_allocator =
        typename std::allocator_traits<std::conditional_t<std::is_void_v<allocator>, std::allocator<void>,
                                                          allocator>>::template rebind_alloc<own_block>;
    using own_traits = std::allocator_traits<own_allocator>;

public:
    /// Makes a disarmed node with its payload. Preconditions: the state's lock is held.
    /// Errors: those of the allocation and of the payload's constructor; nothing changes.
    template <class... Args>
    static timer_node& create(State& state, Args&&... args) {
        timer_node* node;
        if constexpr (pooled) {
            node = &state.nodes.allocate(block_size);
            undo_release undo{state, node};
            ::new (static_cast<void*>(node + 1)) Payload(std::forward<Args>(args)...);
            undo.node = nullptr;
        } else {
            Payload payload(std::forward<Args>(args)...);
            own_allocator a = payload.template allocator_for<own_block>();
            own_block* block = own_traits::allocate(a, 1);
            try {
                ::new (static_cast<void*>(block)) own_block{timer_node{}, std::move(payload)};
                try {
                    state.nodes.attach(block->node);
                } catch (...) {
                    block->~own_block();
                    throw;
                }
            } catch (...) {
                own_traits::deallocate(a, block, 1);
                throw;
            }
            node = &block->node;
        }
        node->on_expiry(&end);
        return *node;
    }

    /// Ends the timer. The memory is free again before the payload hears of it.
    static void end(timer_node& node, void* context) {
        auto& c = *static_cast<completion<State>*>(context);
        if (c.how == outcome::expired) c.state.note_expiry(node);
        if (c.how == outcome::discarded) {
            if constexpr (!Payload::silent) return c.state.abort(node);
            c.state.disarm(node);
            if constexpr (pooled && std::is_trivially_destructible_v<Payload>)
                return c.state.nodes.release(node, block_size);
        }
        {
            Payload payload = extract(c, node);
            if (c.lock.owns_lock()) c.lock.unlock();
            std::move(payload).deliver(c.how, c.state);
        } // what the payload owns is destroyed without the lock, too: it may be anything, also the wheel
        c.lock.lock();
    }

private:
    static constexpr std::size_t block_size = sizeof(timer_node) + sizeof(Payload);

    struct undo_release {
        State& state;
        timer_node* node;
        ~undo_release() {
            if (node != nullptr) state.nodes.release(*node, block_size);
        }
    };

    static Payload extract(completion<State>& c, timer_node& node) {
        if constexpr (pooled) {
            struct take {
                State& state;
                timer_node& node;
                Payload& payload;
                ~take() {
                    payload.~Payload();
                    state.nodes.release(node, block_size);
                }
            } const taken{c.state, node, *std::launder(reinterpret_cast<Payload*>(&node + 1))};
            return std::move(taken.payload);
        } else {
            c.state.nodes.detach(node);
            c.lock.unlock(); // the allocator is the user's
            struct take {
                own_block& block;
                own_allocator allocator;
                ~take() {
                    block.~own_block();
                    own_traits::deallocate(allocator, &block, 1);
                }
            };
            auto& block = reinterpret_cast<own_block&>(node); // its first member
            take taken{block, block.payload.template allocator_for<own_block>()};
            return std::move(block.payload);
        }
    }
};

} // namespace cogwheel::detail
