// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The impl of a timer object: one node in the wheel, and a list of the waits in the order of their start.
//
// - The node is armed while the list is not empty. Re-arming costs a schedule() of the core wheel, usually a store.
// - A cancellation slot finds its wait by an id, so the slot may outlive the object, and the object may move. Waits
//   without a slot have no id: to abort the only wait, if it has no slot, touches only the object.
// - The list lies directly behind the node, where the wheel prefetches (node_table::adjacent).
#pragma once

#include <cogwheel/asio/detail/clock/wheel_time.hpp>
#include <cogwheel/asio/detail/engine/payload.hpp>
#include <cogwheel/asio/detail/executor/cancellation.hpp>
#include <cogwheel/asio/detail/executor/sent_handler.hpp>
#include <cogwheel/detail/assertion.hpp>
#include <cogwheel/detail/exceptions.hpp>
#include <cogwheel/wheel/detail/node_list.hpp>
#include <cogwheel/wheel/detail/node_queue.hpp>

#include COGWHEEL_ASIO_HEADER(associated_cancellation_slot.hpp)

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

template <class Handler>
class listed_handler : public waiting_handler<Handler> {
public:
    static constexpr bool listed = true;
    using waiting_handler<Handler>::waiting_handler;
};

template <class Engine>
class wheel_timer_impl : private timer_node, private node_list {
    using lock_type = typename Engine::lock_type;
    using completion_context = typename Engine::completion_context;
    using time_point = typename Engine::time_point;

public:
    explicit wheel_timer_impl(Engine& engine) noexcept : engine_(&engine) {
        const lock_type lock = engine.lock();
        engine.join();
    }

    /// Takes the waits over. `other` stays on the same wheel, without waits.
    wheel_timer_impl(wheel_timer_impl&& other) noexcept : wheel_timer_impl(*other.engine_) {
        const lock_type lock = engine_->lock();
        take(other);
    }
    wheel_timer_impl& operator=(wheel_timer_impl&& other) noexcept {
        if (this == &other) return *this;
        leave();
        engine_ = other.engine_;
        const lock_type lock = engine_->lock();
        engine_->join();
        take(other);
        return *this;
    }

    /// Cancels the waits, which complete with operation_aborted.
    ~wheel_timer_impl() { leave(); }

    /// Starts a wait, which completes in any case. The first wait arms the timer for `when`; at_once: for the next
    /// turn, also if that begins in the tick of `when`.
    /// Errors: std::bad_alloc; the handler is destroyed.
    template <class Handler>
    void start_wait(Handler&& handler, time_point when, bool at_once = false) {
        start_waiting<listed_handler<std::decay_t<Handler>>, wheel_timer_impl>(
            *engine_, this, asio::get_associated_cancellation_slot(handler), std::forward<Handler>(handler),
            begin_wait{*this, when, at_once});
    }

    /// The same with a handler that has no executor, and is called on `executor`, which is not the wheel's.
    template <class Handler, class Executor>
    void start_wait_on(const Executor& executor, Handler&& handler, time_point when, bool at_once) {
        auto slot = asio::get_associated_cancellation_slot(handler);
        start_sent(std::move(slot), sent_handler<Executor>(executor, std::forward<Handler>(handler)), when, at_once);
    }

    /// The same with a node of the caller. The node's function completes it as that of a listed operation.
    /// Returns false if the execution context is being shut down. Errors: std::bad_alloc.
    /// In both cases this function does not touch the node again.
    bool start_wait_of(timer_node& wait, time_point when) {
        const lock_type lock = engine_->lock();
        if (engine_->is_shut_down()) return false;
        enter(wait, when, false, false);
        return true;
    }

    /// Cancels the waits, which complete with operation_aborted. Returns how many.
    /// Errors: std::bad_alloc; nothing changes.
    std::size_t cancel() {
        const lock_type lock = engine_->lock();
        if (empty()) return 0;
        engine_->request_turn_to_abort();
        return abort_all();
    }

    /// The same, and sets `now` to a point that is not before the present, for a deadline.
    std::size_t cancel(time_point& now) {
        const lock_type lock = engine_->lock();
        if (!empty()) engine_->request_turn_to_abort();
        now = engine_->not_before();
        return empty() ? 0 : abort_all();
    }

    /// The same for the wait that was started first.
    std::size_t cancel_one() {
        const lock_type lock = engine_->lock();
        if (empty()) return 0;
        engine_->request_turn();
        engine_->defer(outcome::aborted, *pop_front());
        if (empty()) engine_->template disarm<timer_kind::object>(*this);
        return 1;
    }

    /// Moves the waits to `when`. Returns false if there is none. Errors: std::bad_alloc; nothing changes.
    template <class When>
    bool reschedule(When when) {
        const lock_type lock = engine_->lock();
        if (empty()) return false;
        engine_->rearm(*this, when);
        return true;
    }

    /// Moves the waits to `delay` from now, which `at` becomes. Preconditions: delay > 0. Otherwise as reschedule().
    bool reschedule(std::chrono::nanoseconds delay, time_point& at) {
        const lock_type lock = engine_->lock();
        const auto until = point_after(engine_->not_before(), delay);
        if (!empty()) engine_->rearm(*this, until);
        at = until;
        return !empty();
    }

    /// Moves the waits to `at` if that is sooner. Preconditions: the engine's lock is held. Errors: as reschedule().
    void bring_forward(time_point at) {
        if (!empty() && at < engine_->start_of(deadline())) engine_->rearm(*this, at);
    }

    /// Cancels one wait, for its cancellation slot.
    static void cancel_by_slot(Engine& engine, lock_type&, timer_id id, asio::cancellation_type_t) {
        timer_node* wait = engine.waits.find(id);
        if (wait == nullptr) return;
        engine.request_turn();
        node_list* emptied = node_list::erase(*wait);
        engine.defer(outcome::aborted, *wait);
        if (emptied != nullptr) engine.template disarm<timer_kind::object>(*static_cast<wheel_timer_impl*>(emptied));
    }

    Engine& wheel() const noexcept { return *engine_; }

private:
    static void end(timer_node& node, void* context) {
        auto& c = *static_cast<completion_context*>(context);
        auto& self = static_cast<wheel_timer_impl&>(node);
        if (is_early(c.how)) {
            c.engine.template end_early<timer_kind::object>(c.how, node);
            while (timer_node* wait = self.pop_front()) c.engine.defer(outcome::aborted, *wait);
            return;
        }
        if (c.engine.is_first_of_tick(node)) return c.engine.begin_tick(node, context);
        c.engine.template note_expiry<timer_kind::object, wheel_timer_impl>(node);
        // First moves the waits out of the object: a handler may destroy it.
        struct expired_waits : node_queue {
            completion_context& c;
            explicit expired_waits(completion_context& context) noexcept : c(context) {}
            ~expired_waits() { // a handler threw or stopped the context: the next turn delivers the other waits
                while (timer_node* wait = pop()) c.engine.defer(outcome::expired, *wait);
            }
        } waits(c);
        while (timer_node* wait = self.pop_front()) waits.push(*wait);
        while (!c.engine.is_turn_ending()) {
            timer_node* wait = waits.pop();
            if (wait == nullptr) break;
            wait->complete(&c);
        }
    }

    // Names no handler type, so that it is the same type for all.
    struct begin_wait {
        wheel_timer_impl& self;
        time_point when;
        bool at_once;
        void operator()(timer_node& wait, bool named) const { self.enter(wait, when, at_once, named); }
    };

    template <class Slot, class Executor>
    void start_sent(Slot slot, sent_handler<Executor>&& handler, time_point when, bool at_once) {
        start_waiting<sent_handler<Executor>, wheel_timer_impl>(*engine_, this, std::move(slot), std::move(handler),
                                                                begin_wait{*this, when, at_once});
    }

    // Adds a wait. If the wheel refuses it, the next turn completes it. `named`: it gets an id.
    // always_inline: the compiler does not inline a function with several callers by itself.
    COGWHEEL_ALWAYS_INLINE void enter(timer_node& wait, time_point when, bool at_once, bool named) {
        if (empty()) {
            if (const admission how = engine_->admit(); how != admission::accepted) {
                engine_->request_turn();
                return engine_->defer(outcome_of(how), wait);
            }
            attach();
            if (at_once) [[unlikely]]
                arm_at_once(when);
            else
                engine_->template arm<timer_kind::object>(*this, when);
        }
        push_back(wait, named);
    }

    [[gnu::noinline]] void arm_at_once(time_point now) {
        engine_->template arm<timer_kind::object>(*this,
                                                  typename Engine::from_now{std::chrono::nanoseconds::zero(), now});
    }

    // Aborts all waits. Preconditions: there is one.
    std::size_t abort_all() noexcept {
        std::size_t n = 0;
        for (; timer_node* wait = pop_front(); ++n) engine_->defer(outcome::aborted, *wait);
        engine_->template disarm<timer_kind::object>(*this);
        return n;
    }

    // Gives the node an index at the first wait: a timer that never waits needs none, and a moved-from one is usable.
    void attach() {
        if (attached()) return;
        COGWHEEL_ASSERT(static_cast<void*>(static_cast<node_list*>(this)) == static_cast<timer_node*>(this) + 1);
        engine_->nodes.attach(*this);
        completion(&end);
    }
    bool attached() const noexcept { return completion() != nullptr; }

    void take(wheel_timer_impl& other) noexcept {
        if (other.attached()) engine_->nodes.relocate(other, *this);
        completion(other.completion());
        other.completion(nullptr);
        node_list::operator=(std::move(other));
    }

    void leave() noexcept {
        lock_type lock = engine_->lock();
        if (!empty()) {
            COGWHEEL_TRY { engine_->request_turn_to_abort(); }
            COGWHEEL_CATCH {
                // The next call that arms or ends a timer requests a turn.
            }
            abort_all();
        }
        if (attached()) engine_->nodes.detach(*this);
        engine_->leave(lock);
    }

    Engine* engine_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
