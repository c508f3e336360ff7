// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The part of an operation with a timeout that does not depend on its handler: its pins, and the signal that cancels
// it. A wheel has one such type for all handlers, so a program pays once. Only timed_actions names the handler's type.
//
// Pins keep the block while a thread is about to emit, or while the initiating function runs. A completion that arrives
// meanwhile stores its results in the block. The thread that removes the last pin delivers them. So no signal reaches
// an operation that has completed. Only one thread emits at a time, also for other threads that ask meanwhile.
//
// Handler and results stay in the block until they are on their executor. The posted function is itself a pin, so a
// failed post loses nothing. For an emission by the handler's own slot, the post comes before the emission. If a turn
// cannot bring an emission or a delivery to its executor, the next turn tries again.
#pragma once

#include <cogwheel/asio/detail/engine/ended_timers.hpp>
#include <cogwheel/asio/detail/engine/operation.hpp>
#include <cogwheel/asio/detail/engine/pin_bits.hpp>
#include <cogwheel/asio/detail/executor/cancellation.hpp>
#include <cogwheel/asio/detail/executor/executors.hpp>
#include <cogwheel/asio/detail/timed/timed_travel.hpp>
#include <cogwheel/detail/exceptions.hpp>

#include COGWHEEL_ASIO_HEADER(any_io_executor.hpp)
#include COGWHEEL_ASIO_HEADER(cancellation_signal.hpp)
#include COGWHEEL_ASIO_HEADER(cancellation_type.hpp)
#include COGWHEEL_ASIO_HEADER(detail/throw_exception.hpp)

#include <exception>
#include <memory>
#include <thread>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

template <class Engine>
class timed_state;

/// Functions that need the handler's type.
template <class Engine>
struct timed_actions {
    using state = timed_state<Engine>;

    timer_node& (*node)(state&) noexcept;
    bool (*is_on_wheel_executor)(const state&);
    void (*dispatch)(state&, operation_call&&); ///< to the handler's executor
    void (*post)(state&, operation_call&&);     ///< to the handler's executor
    pending_cancellation& (*make_pending)(state&) noexcept;
    void (*withdraw)(state&) noexcept; ///< what make_pending() made
    void (*deliver)(state&, typename Engine::lock_type&);
    void (*drop)(state&, typename Engine::lock_type&); ///< destroys the handler
};

template <class Engine>
class timed_state {
    using lock_type = typename Engine::lock_type;
    using completion_context = typename Engine::completion_context;

public:
    timed_state(const timed_state&) = delete;
    timed_state& operator=(const timed_state&) = delete;

    /// Cancels the operation, for the handler's own slot.
    static void cancel_by_slot(Engine& engine, lock_type& lock, timer_id link, asio::cancellation_type_t type) {
        auto* operation = back_link<timed_state>::follow(engine, link);
        if (operation != nullptr) operation->emit_from_outside(lock, type);
    }

    asio::cancellation_slot slot() noexcept { return signal_.slot(); }

protected:
    timed_state(Engine& engine, const timed_actions<Engine>& actions, asio::cancellation_type type,
                bool report) noexcept
        : engine_(engine), actions_(actions), type_(type), report_(report) {}

    static constexpr unsigned initiating = 1; // pin: the initiating function has not returned
    static constexpr unsigned emitting = 2;   // pin: the signal is about to be emitted
    static constexpr unsigned queued = 4;     // pin: the node waits for a turn, which emits or delivers
    static constexpr unsigned completed = 8;  // results_ wait for the last pin to go
    static constexpr unsigned abandoned = 16; // when the last pin goes, the handler is destroyed without a call
    static constexpr unsigned asked = 32;     // the thread that emits or initiates, if any, must emit wanted_
    static constexpr unsigned parked = 64;    // pin: a posted function that delivers results is on its way
    static constexpr unsigned pinned = initiating | emitting | queued | parked;
    static constexpr unsigned over = completed | abandoned;

    // Removes the initiating pin when the initiating function returns or throws.
    struct initiation {
        timed_state& self;
        int exceptions = std::uncaught_exceptions();
        ~initiation() noexcept(false) {
            if constexpr (Engine::concurrent) {
                lock_type lock = self.engine_.lock();
                if (self.pins_.clear_if_alone(initiating)) return;
                if (!self.after_initiation(lock) && std::uncaught_exceptions() == exceptions)
                    asio::detail::throw_exception(std::bad_alloc());
            }
        }
    };

    // Arms the timer, and connects the handler's own slot. Preconditions: pinned by initiating.
    template <class When, class Slot>
    void launch(lock_type& lock, timer_node& node, admission how, When when, Slot& outer) {
        COGWHEEL_TRY {
            if (how == admission::accepted) {
                engine_.template arm<timer_kind::timeout>(node, when);
            } else { // no timer, and no way to report an error: the next turn cancels the operation
                engine_.request_turn();
                queue_cancellation(node);
            }
            const timer_id link = outer.is_connected() ? link_.make(engine_, *this) : timer_id();
            lock.unlock();
            if (outer.is_connected())
                outer.template emplace<slot_handler<Engine, timed_state, true>>(engine_, link); // may call user code
        }
        COGWHEEL_CATCH {
            if (lock.owns_lock()) lock.unlock();
            COGWHEEL_RETHROW;
        }
    }

    // Posts the stored results of an operation that does not start, because the wheel refuses the timer. Needs no lock:
    // no other thread knows the operation. Errors: those of the post; the handler is then destroyed.
    void refuse() {
        pins_.set(completed | parked);
        actions_.post(*this, delivery()); // which may end the operation before this returns
    }

    // Ends the timer. Preconditions: those of a node's function.
    void end(timer_node& node, completion_context& c) {
        if (is_early(c.how)) c.engine.template end_early<timer_kind::timeout>(c.how, node);
        if (is_early(c.how)) return queue_cancellation(node); // c.lock may be empty
        const relock_on_exit relock(c.lock);
        switch (c.how) {
        case outcome::expired:
            timed_out_ = limit_ended_ = true;
            if (!ask(type_)) return;
            break;
        case outcome::destroyed:
            return unpin(c.lock, queued, false);
        default: { // the wheel has cancelled all timers, or an earlier turn had no memory
            if ((pins_.get() & over) != 0) {
                deliver_from_turn(c.lock);
                if (!c.lock.owns_lock()) c.lock.lock();
                return c.engine.check_loop_stopped();
            }
            limit_ended_ = true;
            const bool emits = ask(type_);
            pins_.clear(queued);
            if (!emits) return;
        }
        }
        c.lock.unlock();
        emit_on_executor();
        c.engine.check_loop_stopped();
    }

    // Disarms the timer, and withdraws a queued cancellation. The completion must not wait for a turn: the wheel's
    // context may no longer run, or the operation's context may be destroyed first. Returns the other pins.
    unsigned release_timer(timer_node& node) noexcept {
        if (node.armed()) engine_.template disarm<timer_kind::timeout>(node);
        const unsigned bits = pins_.get();
        if ((bits & queued) == 0) [[likely]]
            return bits;
        actions_.withdraw(*this);
        return pins_.clear(queued) & ~queued;
    }

    // Makes a later turn cancel the operation, unless it ends before. Preconditions: those of defer().
    void queue_cancellation(timer_node& node) noexcept {
        pins_.set(queued);
        engine_.defer_cancellation(actions_.make_pending(*this), node);
    }
    // Makes the ids stale before the block is freed, and empties the slot.
    void let_go(lock_type& lock) {
        link_.cut(engine_);
        if (!signal_.slot().has_handler()) return;
        lock.unlock(); // a destructor in the slot may use the wheel
        signal_.slot().clear();
        lock.lock();
    }
    // Leaves the engine once the block is freed, and releases the lock.
    static void leave(Engine& engine, lock_type& lock) noexcept {
        if (!lock.owns_lock()) lock.lock();
        engine.leave(lock);
        lock.unlock();
    }
    void abandon() {
        lock_type lock = engine_.lock();
        while (sender_ != nullptr && sender_->thread != std::this_thread::get_id()) {
            lock.unlock(); // another thread sends an emission, to a context that may be destroyed once we return
            std::this_thread::yield();
            lock.lock();
        }
        release_timer(actions_.node(*this));
        if ((pins_.set(abandoned) & pinned) != 0) return;
        actions_.drop(*this, lock);
    }

private:
    // Emits on the handler's executor. Errors: those of a dispatch (the next turn then tries again); those of the
    // signal's handlers. Preconditions: pinned by emitting; the lock is not held; in a turn, or pinned by more.
    void emit_on_executor() {
        lock_type lock = engine_.lock();
        if (actions_.is_on_wheel_executor(*this)) return emit(lock, true);
        timed_sending here;
        sender_ = &here;
        lock.unlock();
        struct settling {
            Engine& engine;
            timed_state& self; // may be destroyed once its emission has begun
            timed_sending& here;
            ~settling() {
                lock_type at_end = engine.lock();
                if (here.fate == timed_sending::begun) return;
                self.sender_ = nullptr;
                if (here.fate == timed_sending::dropped) self.try_again(at_end);
            }
        } const at_end{engine_, *this, here};
        actions_.dispatch(*this, emission());
    }

    // ---- the signal ----

    // Asks for an emission. Returns true if the caller must emit; the operation is then pinned for that.
    // Preconditions: the lock is held.
    bool ask(asio::cancellation_type_t type) noexcept {
        wanted_ = wanted_ | type;
        if ((pins_.set(asked) & (initiating | emitting)) != 0) return false;
        pins_.set(emitting);
        return true;
    }
    void emit_from_outside(lock_type& lock, asio::cancellation_type_t type) {
        const auto before = wanted_;
        if (engine_.is_shut_down() || !ask(type)) return;
        // Posts first, while the caller can still repeat a failed call: the emission may end the operation.
        COGWHEEL_TRY { park(lock); }
        COGWHEEL_CATCH {
            lock.lock();
            wanted_ = before;
            if (limit_ended_) // the timer ended meanwhile, and left its emission to this thread
                wanted_ = wanted_ | type_;
            else if (wanted_ == asio::cancellation_type::none)
                pins_.clear(asked);
            try_again(lock);
            COGWHEEL_RETHROW;
        }
        emit(lock, false);
    }

    // Emits all types that are asked for, also meanwhile, and unpins. Preconditions: pinned by emitting; locked.
    void emit(lock_type& lock, bool inline_allowed) {
        while ((pins_.get() & (asked | over)) == asked) {
            const auto type = std::exchange(wanted_, asio::cancellation_type::none);
            pins_.clear(asked);
            lock.unlock();
            COGWHEEL_TRY { signal_.emit(type); }
            COGWHEEL_CATCH {
                const bool again = is_out_of_memory();
                lock.lock();
                if (again && limit_ended_) { // a caller from outside can repeat its emission; the timer cannot
                    wanted_ = wanted_ | type;
                    pins_.set(asked);
                }
                if (again)
                    try_again(lock);
                else
                    unpin(lock, emitting, false);
                COGWHEEL_RETHROW;
            }
            lock.lock();
        }
        unpin(lock, emitting, inline_allowed);
    }

    // Leaves the emission for the timer to the next turn, and unpins. Preconditions: pinned by emitting.
    void try_again(lock_type& lock) noexcept {
        if (limit_ended_ && (pins_.get() & (asked | over | queued)) == asked) {
            queue_cancellation(actions_.node(*this));
            want_turn();
        }
        unpin(lock, emitting, false);
    }
    void want_turn() noexcept {
        COGWHEEL_TRY { engine_.request_turn(); }
        COGWHEEL_CATCH {
            // The next turn that comes finds it.
        }
    }

    // ---- on the executor ----

    // These calls are pins. If an executor destroys one without a call, it removes its pin.
    operation_call emission() noexcept {
        return operation_call::of<&timed_state::emit_here, &timed_state::emission_lost>(*this);
    }
    operation_call delivery() noexcept {
        return operation_call::of<&timed_state::deliver_here, &timed_state::delivery_lost>(*this);
    }
    void emission_lost() noexcept { unpin_unheard(emitting); }
    void delivery_lost() noexcept { unpin_unheard(parked); }

    void deliver_here() {
        lock_type lock = engine_.lock();
        unpin(lock, parked, true);
    }
    void emit_here() {
        lock_type lock = engine_.lock();
        if (timed_sending* sender = std::exchange(sender_, nullptr)) sender->fate = timed_sending::begun;
        emit(lock, true);
    }

    // ---- the end ----

    // Removes a pin. The last one delivers the results, here or by a post, or destroys the handler.
    void unpin(lock_type& lock, unsigned pin, bool inline_allowed) {
        inline_allowed = inline_allowed && !engine_.is_shut_down();
        while (!inline_allowed && (pins_.get() & (pinned | over)) == (pin | completed) && !engine_.is_shut_down()) {
            COGWHEEL_TRY { park(lock); }
            COGWHEEL_CATCH { // no memory: leave the delivery to a turn
                lock.lock();
                if ((pins_.get() & pinned) != pin) continue;
                pins_.set(queued);
                engine_.defer(outcome::aborted, actions_.node(*this));
                want_turn();
            }
        }
        const unsigned bits = pins_.clear(pin) & ~pin;
        if ((bits & pinned) != 0) return;
        if ((bits & over) == 0) return;
        if ((bits & abandoned) == 0 && inline_allowed)
            actions_.deliver(*this, lock);
        else
            actions_.drop(*this, lock);
    }
    // Removes the pin of a function that was destroyed without a call: its context shuts down, or its executor had no
    // memory. In the second case, the thread that sent an emission tries again.
    void unpin_unheard(unsigned pin) noexcept {
        lock_type lock = engine_.lock();
        if (pin == emitting && sender_ != nullptr) {
            sender_->fate = timed_sending::dropped;
            return;
        }
        const unsigned bits = pins_.clear(pin) & ~pin;
        if ((bits & pinned) == 0 && (bits & over) != 0) actions_.drop(*this, lock);
    }
    // Pins by parked, and posts a function that removes this pin. Preconditions: pinned.
    // Errors: those of the post; then the lock is not held, and nothing changes.
    void park(lock_type& lock) {
        if ((pins_.set(parked) & parked) != 0) return;
        lock.unlock();
        actions_.post(*this, delivery());
        lock.lock();
    }
    // Delivers results that could not be posted earlier.
    void deliver_from_turn(lock_type& lock) {
        if (actions_.is_on_wheel_executor(*this)) {
            unpin(lock, queued, true);
        } else {
            // The queued pin stays until the delivery is on its way.
            pins_.set(parked);
            lock.unlock();
            COGWHEEL_TRY { actions_.dispatch(*this, delivery()); }
            COGWHEEL_CATCH {
                lock.lock();
                engine_.defer(outcome::aborted, actions_.node(*this));
                lock.unlock();
                COGWHEEL_RETHROW;
            }
            lock.lock();
            unpin(lock, queued, false);
        }
    }

    // Emits the types that are asked for, posts stored results. Returns false if lack of memory destroys the handler.
    bool after_initiation(lock_type& lock) {
        for (bool failed = false; !failed && (pins_.get() & (asked | over | emitting | queued)) == asked;) {
            pins_.set(emitting);
            lock.unlock();
            COGWHEEL_TRY { emit_on_executor(); }
            COGWHEEL_CATCH {
                failed = true; // no rethrow: the operation goes on and will call its handler
            }
            lock.lock();
        }
        while ((pins_.get() & (pinned | over)) == (initiating | completed) && !engine_.is_shut_down()) {
            COGWHEEL_TRY {
                const auto kept = std::move(running_);
                park(lock);
            }
            COGWHEEL_CATCH {
                lock.lock();
                pins_.set(abandoned);
                unpin(lock, initiating, false);
                return false;
            }
        }
        unpin(lock, initiating, false);
        return true;
    }

protected:
    Engine& engine_;
    const timed_actions<Engine>& actions_;
    asio::cancellation_signal signal_;
    back_link<timed_state> link_; // from the handler's own slot
    asio::cancellation_type type_;
    asio::cancellation_type wanted_ = asio::cancellation_type::none;
    bool report_, timed_out_ = false;
    bool limit_ended_ = false; // the timer expired, or the wheel cancelled it
    pin_bits<false> pins_;     // the lock guards them
    std::unique_ptr<kept_work> running_;
    timed_sending* sender_ = nullptr; // of the emission that a thread hands to an executor
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
