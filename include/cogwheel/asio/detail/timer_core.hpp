// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A timer object's inside: one node in the wheel for all who wait on it, who stand in a list, in the order in which they came.
//
// The node is armed iff the list is not empty. Re-arming costs what the wheel's schedule() costs, which as a rule is a store; a
// wait costs what its handler needs. A cancellation slot knows its wait by an id, so it may outlive the object, which may move;
// other waits are not named, so that aborting the only one touches nothing but the object. The list lies right behind the node,
// where the wheel looks ahead (node_table::beside).
#pragma once

#include <cogwheel/asio/detail/cancels.hpp>
#include <cogwheel/asio/detail/payload.hpp>
#include <cogwheel/wheel/detail/exceptions.hpp>
#include <cogwheel/wheel/node_list.hpp>
#include <cogwheel/wheel/node_queue.hpp>

#include <asio/associated_cancellation_slot.hpp>

#include <cassert>

namespace cogwheel::detail {

template <class Handler>
class listed_handler : public waiting_handler<Handler> {
public:
    static constexpr bool listed = true;
    using waiting_handler<Handler>::waiting_handler;
};

template <class Engine>
class timer_core : private timer_node, private node_list {
    using lock_type = typename Engine::lock_type;
    using completion = typename Engine::completion;

public:
    explicit timer_core(Engine& engine) noexcept : engine_(&engine) {
        const lock_type lock = engine.lock();
        engine.join();
    }

    /// Takes the waits over. `other` is left without any, on the same wheel.
    timer_core(timer_core&& other) noexcept : timer_core(*other.engine_) {
        const lock_type lock = engine_->lock();
        take(other);
    }
    timer_core& operator=(timer_core&& other) noexcept {
        if (this == &other) return *this;
        leave();
        engine_ = other.engine_;
        const lock_type lock = engine_->lock();
        engine_->join();
        take(other);
        return *this;
    }

    /// Waits complete with operation_aborted.
    ~timer_core() { leave(); }

    /// Starts a wait: it completes, whatever happens. The first one arms the timer for `when`.
    template <class Handler, class When>
    void start_wait(Handler&& handler, When when) {
        using op = operation<Engine, listed_handler<std::decay_t<Handler>>>;
        auto slot = asio::get_associated_cancellation_slot(handler);
        lock_type lock = engine_->lock();
        if (engine_->is_shut_down()) return; // the handler is destroyed, as everything else is
        timer_node& wait = op::create(*engine_, std::forward<Handler>(handler), engine_->executor());
        COGWHEEL_TRY {
            if (slot.is_connected()) {
                // Before the timer can fire: after that the slot may be gone.
                const timer_id id = wait.next_id();
                lock.unlock();
                slot.template emplace<slot_cancel>(*engine_, id);
                lock.lock();
            }
            if (!enter(wait, when, slot.is_connected()) && slot.is_connected())
                slot.clear(); // the next wait in this memory has the same id
        }
        COGWHEEL_CATCH {
            if (slot.is_connected()) slot.clear();
            if (!lock.owns_lock()) lock.lock();
            completion c{*engine_, lock, outcome::destroyed};
            wait.on_expiry()(wait, &c);
            COGWHEEL_RETHROW;
        }
    }

    /// The same for a node of the caller's, whose function hears of the end as that of a listed operation does. False if the
    /// execution context is being shut down. Errors: std::bad_alloc. Both times the node is not touched again.
    template <class When>
    bool start_wait_of(timer_node& wait, When when) {
        const lock_type lock = engine_->lock();
        if (engine_->is_shut_down()) return false;
        enter(wait, when, false);
        return true;
    }

    /// Those who wait complete with operation_aborted. Returns how many.
    std::size_t cancel() {
        const lock_type lock = engine_->lock();
        if (empty()) return 0;
        engine_->request_turn_to_abort();
        return abort_all();
    }

    /// The same for the one that waits longest.
    std::size_t cancel_one() {
        const lock_type lock = engine_->lock();
        if (empty()) return 0;
        engine_->request_turn();
        engine_->defer(outcome::aborted, *pop_front());
        if (empty()) engine_->disarm(*this);
        return 1;
    }

    /// Those who wait do so until `when` instead. False if nobody does.
    template <class When>
    bool reschedule(When when) {
        const lock_type lock = engine_->lock();
        if (empty()) return false;
        engine_->rearm(*this, when);
        return true;
    }

    /// The same if that is sooner. Preconditions: the engine's lock is held.
    void bring_forward(typename Engine::time_point at) {
        if (!empty() && at < engine_->start_of(deadline())) engine_->rearm(*this, at);
    }

    Engine& wheel() const noexcept { return *engine_; }

private:
    struct slot_cancel {
        Engine* engine;
        timer_id id;

        slot_cancel(Engine& e, timer_id i) noexcept : engine(&e), id(i) {}
        void operator()(asio::cancellation_type_t type) {
            if (!cancels(type)) return;
            const lock_type lock = engine->lock();
            timer_node* wait = engine->waits.find(id);
            if (wait == nullptr) return;
            engine->request_turn();
            node_list* emptied = node_list::erase(*wait);
            engine->defer(outcome::aborted, *wait);
            if (emptied != nullptr) engine->disarm(*static_cast<timer_core*>(emptied));
        }
    };

    static void end(timer_node& node, void* context) {
        auto& c = *static_cast<completion*>(context);
        auto& self = static_cast<timer_core&>(node);
        if (c.how == outcome::collected) {
            while (timer_node* wait = self.pop_front()) c.state.defer(outcome::aborted, *wait);
            return;
        }
        c.state.note_expiry(node);
        // Out of the object first: a handler may destroy it.
        struct expired_waits : node_queue {
            completion& c;
            explicit expired_waits(completion& context) noexcept : c(context) {}
            ~expired_waits() { // some are left when a handler threw, or stopped the context: the next turn goes on
                while (timer_node* wait = pop()) c.state.defer(outcome::expired, *wait);
            }
        } waits(c);
        while (timer_node* wait = self.pop_front()) waits.push(*wait);
        while (!c.state.is_turn_ending()) {
            timer_node* wait = waits.pop();
            if (wait == nullptr) break;
            wait->on_expiry()(*wait, &c);
        }
    }

    // False if the wheel refuses the wait, which then ends in the next turn.
    template <class When>
    bool enter(timer_node& wait, When when, bool named) {
        if (empty()) {
            if (const outcome how = engine_->refuse(); how != outcome::expired) {
                engine_->request_turn();
                engine_->defer(how, wait);
                return false;
            }
            attach();
            engine_->arm(*this, when);
        }
        push_back(wait, named);
        return true;
    }

    // Precondition: not empty.
    std::size_t abort_all() noexcept {
        std::size_t n = 0;
        for (; timer_node* wait = pop_front(); ++n) engine_->defer(outcome::aborted, *wait);
        engine_->disarm(*this);
        return n;
    }

    // Once, and late: a timer that never waits costs no index, and a moved-from one can be used again.
    void attach() {
        if (attached()) return;
        assert(static_cast<void*>(static_cast<node_list*>(this)) == static_cast<timer_node*>(this) + 1);
        engine_->nodes.attach(*this);
        on_expiry(&end);
    }
    bool attached() const noexcept { return on_expiry() != nullptr; }

    void take(timer_core& other) noexcept {
        if (other.attached()) engine_->nodes.relocate(other, *this);
        on_expiry(other.on_expiry());
        other.on_expiry(nullptr);
        node_list::operator=(std::move(other));
    }

    void leave() noexcept {
        lock_type lock = engine_->lock();
        if (!empty()) {
            COGWHEEL_TRY { engine_->request_turn_to_abort(); }
            COGWHEEL_CATCH {
                // The next call that arms or ends a timer asks for one.
            }
            abort_all();
        }
        if (attached()) engine_->nodes.detach(*this);
        engine_->leave(lock);
    }

    Engine* engine_;
};

} // namespace cogwheel::detail
