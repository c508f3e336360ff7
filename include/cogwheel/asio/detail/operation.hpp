// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How a timer of the binding ends. One function pointer in its node does that, whatever the outcome.
#pragma once

#include <cogwheel/asio/detail/block.hpp>

namespace cogwheel::detail {

enum class outcome {
    expired,
    aborted,   ///< cancelled: an async_wait still has to complete, an on-cancel callable to run
    stopped,   ///< never pending: the wheel is stopped
    rejected,  ///< never pending: max_pending
    discarded, ///< cancelled by its token, and still armed: nobody is told, but an on-cancel callable
    destroyed, ///< the execution context is shut down
    collected, ///< disarmed with all others: defer what has to be delivered, as aborted
};

/// The context that a node's function is called with. The lock is held, then and when it returns or throws.
template <class State>
struct completion {
    State& state;
    typename State::lock_type& lock;
    outcome how;
};

/// Holds the lock again when it goes.
template <class Lock>
class [[nodiscard]] locked_at_the_end {
public:
    explicit locked_at_the_end(Lock& lock) noexcept : lock_(&lock) {}
    locked_at_the_end(const locked_at_the_end&) = delete;
    locked_at_the_end& operator=(const locked_at_the_end&) = delete;
    ~locked_at_the_end() {
        if (!lock_->owns_lock()) lock_->lock();
    }

private:
    Lock* lock_;
};

/// A payload has, beside what block asks for: deliver(outcome, State&) &&, called without the lock; allocator_of(its first
/// argument); static constexpr bool silent: nothing to deliver when cancelled; and static constexpr bool listed: it waits for
/// another node (wheel_timer) and is never in the wheel itself.
template <class State, class Payload>
class operation {
    using block = detail::block<Payload>;

public:
    /// Makes a disarmed node with its payload. Preconditions: the state's lock is held.
    /// Errors: those of the allocation and of the payload's constructor; nothing changes.
    template <class First, class... Args>
    static timer_node& create(State& state, First&& first, Args&&... args) {
        timer_node& node = block::create(table(state), Payload::allocator_of(first), std::forward<First>(first),
                                         std::forward<Args>(args)...);
        node.on_expiry(&end);
        return node;
    }

    /// Ends the timer. The memory is free again before the payload hears of it.
    static void end(timer_node& node, void* context) {
        auto& c = *static_cast<completion<State>*>(context);
        if constexpr (!Payload::listed)
            if (c.how == outcome::expired) c.state.note_expiry(node);
        if (c.how == outcome::discarded) {
            if constexpr (!Payload::silent) return c.state.abort(node);
            c.state.disarm(node);
            if constexpr (block::trivial) return block::release(table(c.state), node);
        }
        if (c.how == outcome::collected) return c.state.defer(outcome::aborted, node);
        const locked_at_the_end relock(c.lock);
        {
            Payload payload =
                block::take_out(table(c.state), c.lock, node, [](Payload& p) -> Payload { return std::move(p); });
            if (c.lock.owns_lock()) c.lock.unlock();
            std::move(payload).deliver(c.how, c.state);
        } // what the payload owns is destroyed without the lock, too: it may be anything, also the wheel
        if (c.how != outcome::destroyed) c.state.heed_stop();
    }

private:
    static node_table& table(State& state) noexcept {
        if constexpr (Payload::listed)
            return state.waits;
        else
            return state.nodes;
    }
};

} // namespace cogwheel::detail
