// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A wheel's body: what timer_wheel and its tokens ask for, on the engine. Belongs to a service of the execution context, so
// that tokens and cancellation slots may outlive the timer_wheel they came from.
#pragma once

#include <cogwheel/asio/detail/cancels.hpp>
#include <cogwheel/asio/detail/payload.hpp>
#include <cogwheel/asio/detail/wheel_engine.hpp>
#include <cogwheel/asio/timer_token.hpp>
#include <cogwheel/wheel/detail/exceptions.hpp>

#include <asio/associated_cancellation_slot.hpp>

namespace cogwheel::detail {

template <class Clock, class Locking, timing_wheel Wheel>
class wheel_state final : public wheel_engine<Clock, Locking, Wheel>, public token_target<Clock> {
public:
    using engine = wheel_engine<Clock, Locking, Wheel>;
    using typename engine::from_now;
    using typename engine::lock_type;
    using typename engine::nanoseconds;
    using typename engine::time_point;

    /// Told when the state is closed and has nothing left to deliver.
    class owner {
    public:
        virtual void recycle(wheel_state&) noexcept = 0;

    protected:
        ~owner() = default;
    };

    explicit wheel_state(owner& o) : owner_(o) {}

    // ---- life ----

    /// Errors: std::bad_alloc; the owner has the state back then.
    void open(const asio::any_io_executor& executor, const wheel_options& options) {
        COGWHEEL_TRY {
            if constexpr (!engine::concurrent) home_.emplace(executor);
            engine::start(executor, options);
        }
        COGWHEEL_CATCH {
            recycle();
            COGWHEEL_RETHROW;
        }
    }

    /// Of a state without a lock that is handed out again: where it was used, and its stale tokens still may be.
    bool was_at(const asio::any_io_executor& executor) const noexcept { return !home_ || *home_ == executor; }

    /// The timer_wheel is gone. What is pending is aborted; then the owner gets the state back.
    void close() noexcept {
        lock_type lock(mutex_);
        engine::close(lock);
    }

    /// The execution context is being shut down: handlers are destroyed, not invoked. May come twice.
    void shutdown() {
        lock_type lock(mutex_);
        engine::shutdown(lock);
        home_.reset();
    }

    // ---- timers ----

    /// Starts a wait: it completes, whatever happens.
    template <class Handler, class When>
    void start_wait(Handler&& handler, When when) {
        using payload = waiting_handler<std::decay_t<Handler>>;
        using op = operation<engine, payload>;
        auto slot = asio::get_associated_cancellation_slot(handler);
        lock_type lock(mutex_);
        if (this->is_shut_down()) return; // the handler is destroyed, as everything else is
        timer_node& node = op::create(*this, std::forward<Handler>(handler), this->executor());
        COGWHEEL_TRY {
            if (slot.is_connected()) {
                // Before the timer can fire: after that the slot may be gone.
                const timer_id id = node.next_id();
                lock.unlock();
                slot.template emplace<slot_cancel>(*this, id);
                lock.lock();
            }
            if (const auto how = this->refuse(); how != outcome::expired) {
                this->request_turn();
                forget_id(slot);
                this->defer(how, node);
            } else {
                this->arm(node, when);
            }
        }
        COGWHEEL_CATCH {
            forget_id(slot);
            drop(lock, node);
            COGWHEEL_RETHROW;
        }
    }

    /// Schedules a callable; an empty token and `ec` if the wheel takes none.
    template <class When, class F, class OnCancel>
    basic_timer_token<Clock> schedule(When when, F&& f, OnCancel&& on_cancel, std::error_code& ec,
                                      bool admitted = false) {
        using payload = scheduled_callable<std::decay_t<F>, std::decay_t<OnCancel>>;
        using op = operation<engine, payload>;
        ec.clear();
        lock_type lock(mutex_);
        if (const auto how = this->refuse(admitted); how != outcome::expired) {
            ec = how == outcome::stopped ? errc::stopped : errc::too_many_timers;
            return {};
        }
        timer_node& node = op::create(*this, std::forward<F>(f), std::forward<OnCancel>(on_cancel), this->executor());
        COGWHEEL_TRY { this->arm(node, when); }
        COGWHEEL_CATCH {
            drop(lock, node);
            COGWHEEL_RETHROW;
        }
        return {*this, node.id()};
    }

    bool cancel(timer_id id) override {
        lock_type lock(mutex_);
        timer_node* node = nodes.find(id);
        if (node == nullptr) return false;
        typename engine::completion c{*this, lock, outcome::discarded};
        node->on_expiry()(*node, &c);
        return true;
    }

    /// The O(1) end of an async_wait by its cancellation slot.
    void abort(timer_id id) {
        lock_type lock(mutex_);
        timer_node* node = nodes.find(id);
        if (node != nullptr) engine::abort(*node);
    }

    bool reschedule(timer_id id, nanoseconds delay) override { return reschedule(id, delay, Clock::now()); }
    bool reschedule(timer_id id, nanoseconds delay, time_point now) override {
        return reschedule_to(id, from_now{delay, now});
    }
    bool reschedule_at(timer_id id, time_point at) override { return reschedule_to(id, at); }

    bool pending(timer_id id) override {
        lock_type lock(mutex_);
        return nodes.find(id) != nullptr;
    }

    time_point expiry(timer_id id) override {
        lock_type lock(mutex_);
        const timer_node* node = nodes.find(id);
        return node != nullptr ? this->start_of(node->deadline()) : time_point::min();
    }

    // ---- all timers ----

    std::size_t pending() {
        lock_type lock(mutex_);
        return wheel_->size();
    }

    std::size_t cancel_all() {
        lock_type lock(mutex_);
        return engine::abort_all([](timer_node&) {});
    }

    bool trim() {
        lock_type lock(mutex_);
        if (this->is_behind() || !wheel_->trim()) return false;
        this->waits.trim();
        return true;
    }

    template <class Visitor>
    std::size_t stop(Visitor visit) {
        std::vector<time_point> dropped;
        std::size_t n = 0;
        {
            lock_type lock(mutex_);
            dropped.reserve(wheel_->size()); // so that nothing fails half-way
            n = engine::stop([&](timer_node& node) { dropped.push_back(this->start_of(node.deadline())); });
        }
        for (const time_point& expiry : dropped) visit(expiry); // without the lock: it is the user's
        return n;
    }
    std::size_t stop() {
        lock_type lock(mutex_);
        return engine::stop([](timer_node&) {});
    }

    wheel_stats stats() {
        lock_type lock(mutex_);
        return engine::stats();
    }

private:
    using engine::mutex_;
    using engine::nodes;
    using engine::wheel_;

    struct slot_cancel {
        wheel_state* state;
        timer_id id;

        slot_cancel(wheel_state& s, timer_id i) noexcept : state(&s), id(i) {}
        void operator()(asio::cancellation_type_t type) {
            if (cancels(type)) state->abort(id);
        }
    };

    // A wait that was never armed leaves no id behind: the next timer that gets its node has the same.
    template <class Slot>
    static void forget_id(Slot slot) noexcept {
        if (slot.is_connected()) slot.clear();
    }

    void drop(lock_type& lock, timer_node& node) {
        if (!lock.owns_lock()) lock.lock();
        typename engine::completion c{*this, lock, outcome::destroyed};
        node.on_expiry()(node, &c);
    }

    template <class When>
    bool reschedule_to(timer_id id, When when) {
        lock_type lock(mutex_);
        timer_node* node = nodes.find(id);
        if (node == nullptr) return false;
        this->rearm(*node, when);
        return true;
    }

    void recycle() noexcept override { owner_.recycle(*this); }

    owner& owner_;
    std::optional<asio::any_io_executor> home_; // kept without a lock only
};

} // namespace cogwheel::detail
