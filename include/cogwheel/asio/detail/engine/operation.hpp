// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The end of a timer of the binding. One function pointer in its node completes it, for every outcome.
#pragma once

#include <cogwheel/asio/detail/engine/block.hpp>
#include <cogwheel/counts/wheel_stats.hpp>

#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// The reason why a timer completes. It decides what the node's function does.
enum class outcome {
    expired,
    aborted,   ///< cancelled: complete the async_wait, or run the on_cancel callable
    stopped,   ///< never pending: the wheel is stopped
    rejected,  ///< never pending: max_pending
    discarded, ///< cancelled by a token, and still armed: disarm; abort, unless the timer is silent
    destroyed, ///< the execution context shuts down, or the start failed: destroy the payload without a call
    collected, ///< disarmed with all other timers: defer it as aborted; the context's lock may be empty
};

/// Returns true if the timer ends before it is due: with all others, or by a token.
constexpr bool is_early(outcome how) noexcept { return how == outcome::collected || how == outcome::discarded; }

enum class admission { accepted, stopped, full };

constexpr outcome outcome_of(admission a) noexcept {
    return a == admission::stopped ? outcome::stopped : outcome::rejected;
}

/// The context of a call of a node's function. The lock is held at the call, and when the function returns or throws.
/// With outcome::collected, `lock` may be empty, but the engine's lock is held.
template <class Engine>
struct completion_context {
    Engine& engine;
    typename Engine::lock_type& lock;
    outcome how;
};

template <class Lock>
class [[nodiscard]] relock_on_exit {
public:
    explicit relock_on_exit(Lock& lock) noexcept : lock_(&lock) {}
    relock_on_exit(const relock_on_exit&) = delete;
    relock_on_exit& operator=(const relock_on_exit&) = delete;
    ~relock_on_exit() {
        if (!lock_->owns_lock()) lock_->lock();
    }

private:
    Lock* lock_;
};

/// Returns how the last timer of a node ended. Preconditions: the node was an operation's, and has not been used again.
inline bool has_fired(const timer_node& node) noexcept { return node.completion() == nullptr; }

/// Owns an operation: only the owner may complete or continue it. Unless released, its destructor calls abandon().
template <class Operation>
class operation_owner {
public:
    explicit operation_owner(Operation& o) noexcept : operation_(&o) {}
    operation_owner(operation_owner&& other) noexcept : operation_(std::exchange(other.operation_, nullptr)) {}
    operation_owner& operator=(operation_owner&&) = delete;
    ~operation_owner() {
        if (operation_ != nullptr) operation_->abandon();
    }
    explicit operator bool() const noexcept { return operation_ != nullptr; }
    Operation& operator*() const noexcept { return *operation_; }
    Operation* operator->() const noexcept { return operation_; }
    Operation& release() noexcept { return *std::exchange(operation_, nullptr); }

private:
    Operation* operation_;
};

/// A node with its payload in one block. In addition to what block needs, a payload has:
/// - deliver(outcome, Engine&) &&: called without the lock;
/// - allocator_of(its first constructor argument);
/// - static constexpr bool silent: when its token cancels it, there is nothing to deliver;
/// - static constexpr bool listed: it waits for another node (wheel_timer), and is never in the core wheel;
/// - static constexpr timer_kind kind: as which kind the timer counts;
/// - what: the type of the user's handler, for an observer.
template <class Engine, class Payload>
class operation {
    using block = detail::block<Payload>;

public:
    /// Makes a disarmed node with its payload. Preconditions: the engine's lock is held.
    /// Errors: those of the allocation and of the payload's constructor; nothing changes.
    template <class First, class... Args>
    static timer_node& create(Engine& engine, First&& first, Args&&... args) {
        timer_node& node = block::create(table(engine), Payload::allocator_of(first), std::forward<First>(first),
                                         std::forward<Args>(args)...);
        node.completion(&end);
        return node;
    }

    template <class... Args>
    static constexpr bool is_pooled_noexcept = block::template is_pooled_noexcept<Args...>;

    /// Does the same with a free block, which arm(node) arms: see block::create_armed().
    template <class Arm, class... Args>
    COGWHEEL_ALWAYS_INLINE static timer_node* create_armed(Engine& engine, Arm arm, Args&&... args) noexcept {
        timer_node* node = block::create_armed(table(engine), arm, std::forward<Args>(args)...);
        if (node != nullptr) [[likely]]
            node->completion(&end);
        return node;
    }

    /// Completes the timer. Frees the block before it delivers the payload.
    static void end(timer_node& node, void* context) {
        auto& c = *static_cast<completion_context<Engine>*>(context);
        if constexpr (!Payload::listed)
            if (c.how == outcome::expired) {
                if (c.engine.is_first_of_tick(node)) [[unlikely]]
                    return c.engine.begin_tick(node, context); // a tail call: end() saves no register for it
                c.engine.template note_expiry<Payload::kind, typename Payload::what>(node);
                node.completion(nullptr); // the mark of a timer that has fired: see has_fired()
            }
        if (c.how == outcome::discarded) { // not of a marked block: see wheel_impl::cancel()
            if constexpr (!Payload::silent) {
                return c.engine.template abort<Payload::kind>(node);
            } else {
                c.engine.template disarm<Payload::kind>(node);
                if constexpr (block::trivial) return block::release(table(c.engine), node);
            }
        }
        // Never pending: the next timer of this node must not get the id that is in the cancellation slot.
        if (c.how == outcome::stopped || c.how == outcome::rejected) node_table::forget_ended(node);
        if (c.how == outcome::collected) return c.engine.template defer_collected<Payload::kind>(node);
        const relock_on_exit relock(c.lock);
        {
            Payload payload =
                block::take_out(table(c.engine), c.lock, node, [](Payload& p) -> Payload { return std::move(p); });
            if (c.lock.owns_lock()) c.lock.unlock();
            std::move(payload).deliver(c.how, c.engine);
        } // the payload is destroyed without the lock too: it may own anything, also the wheel
        if (c.how != outcome::destroyed) c.engine.check_loop_stopped();
    }

    static Payload& payload(timer_node& node) noexcept { return block::payload(node); }

private:
    static node_table& table(Engine& engine) noexcept {
        if constexpr (Payload::listed)
            return engine.waits;
        else
            return engine.nodes;
    }
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
