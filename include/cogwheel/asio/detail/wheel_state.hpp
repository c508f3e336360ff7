// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A wheel's body: the core, the driver that wakes it, the lock, the counts. Belongs to a service of the execution context, so
// that tokens and cancellation slots may outlive the timer_wheel they came from.
//
// The driver's rules: it is armed only for an earlier wake; turns are bounded and yield; a turn ends by arming for the next due
// tick; an empty wheel arms nothing. Cancelling the last timer brings the wake near rather than calling it off, because a
// connection that arms and cancels for every request would otherwise pay a system call for each.
#pragma once

#include <cogwheel/asio/detail/payload.hpp>
#include <cogwheel/asio/detail/wheel_driver.hpp>
#include <cogwheel/asio/timer_token.hpp>
#include <cogwheel/asio/wheel_options.hpp>
#include <cogwheel/observe/lateness_histogram.hpp>
#include <cogwheel/observe/wheel_stats.hpp>
#include <cogwheel/wheel/node_queue.hpp>
#include <cogwheel/wheel/timing_wheel.hpp>

#include <asio/post.hpp>

#include <array>
#include <mutex>

namespace cogwheel::detail {

template <class Clock, class Locking, timing_wheel Wheel>
class wheel_state final : public token_target<Clock>, public wake_target {
public:
    using lock_type = std::unique_lock<typename Locking::mutex>;
    using time_point = typename Clock::time_point;
    using nanoseconds = std::chrono::nanoseconds;

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
        try {
            wheel_.emplace(nodes, options.slots, tick{});
            wheel_->reserve(options.reserve);
            driver_.emplace(executor, *this);
        } catch (...) {
            wheel_.reset();
            owner_.recycle(*this);
            throw;
        }
        executor_.emplace(executor);
        scale_ = tick_scale(options.tick);
        options_ = options;
        origin_ = Clock::now();
        counts_ = {};
        lateness_ = {};
        stopped_ = closed_ = false;
    }

    /// The timer_wheel is gone. What is pending is aborted; then the owner gets the state back.
    void close() noexcept {
        lock_type lock(mutex_);
        if (shut_down_) return;
        closed_ = true;
        stop(lock, [](timer_node&) {});
        recycle_if_done(lock);
    }

    /// The execution context is being shut down: handlers are destroyed, not invoked. May come twice.
    void shutdown() {
        lock_type lock(mutex_);
        shut_down_ = stopped_ = true;
        driver_.reset();
        executor_.reset(); // a strand must not outlive its service, which may be younger than ours
        if (wheel_) wheel_->clear([this](timer_node& n) { queue(outcome::aborted).push(n); });
        completion<wheel_state> c{*this, lock, outcome::destroyed};
        while (timer_node* n = next_ended()) n->on_expiry()(*n, &c); // out of all lists: a handler may own the wheel
    }

    const asio::any_io_executor& executor() const noexcept { return *executor_; }

    // ---- timers ----

    /// A delay, and the clock reading that it counts from. The other way to say when is a time_point.
    struct from_now {
        nanoseconds delay;
        time_point now;
    };

    /// Starts a wait: it completes, whatever happens.
    template <class Handler, class When>
    void start_wait(Handler&& handler, When when) {
        using payload = waiting_handler<std::decay_t<Handler>>;
        using op = operation<wheel_state, payload>;
        auto slot = asio::get_associated_cancellation_slot(handler);
        lock_type lock(mutex_);
        if (shut_down_) return; // the handler is destroyed, as everything else is
        timer_node& node = op::create(*this, std::forward<Handler>(handler), executor());
        try {
            if (slot.is_connected()) {
                // Before the timer can fire: after that the slot may be gone.
                const timer_id id = node.next_id();
                lock.unlock();
                slot.template emplace<slot_cancel>(*this, id);
                lock.lock();
            }
            if (const auto how = refuse(); how != outcome::expired) {
                request_turn();
                forget_id(slot);
                queue(how).push(node);
            } else {
                arm(node, when);
            }
        } catch (...) {
            forget_id(slot);
            drop(lock, node);
            throw;
        }
    }

    /// Schedules a callable; an empty token and `ec` if the wheel takes none.
    template <class When, class F, class OnCancel>
    basic_timer_token<Clock> schedule(When when, F&& f, OnCancel&& on_cancel, std::error_code& ec) {
        using payload = scheduled_callable<std::decay_t<F>, std::decay_t<OnCancel>>;
        using op = operation<wheel_state, payload>;
        ec.clear();
        lock_type lock(mutex_);
        if (const auto how = refuse(); how != outcome::expired) {
            ec = how == outcome::stopped ? errc::stopped : errc::too_many_timers;
            return {};
        }
        timer_node& node = op::create(*this, std::forward<F>(f), std::forward<OnCancel>(on_cancel), executor());
        try {
            arm(node, when);
        } catch (...) {
            drop(lock, node);
            throw;
        }
        return {*this, node.id()};
    }

    bool cancel(timer_id id) override {
        lock_type lock(mutex_);
        timer_node* node = nodes.find(id);
        if (node == nullptr) return false;
        completion<wheel_state> c{*this, lock, outcome::discarded};
        node->on_expiry()(*node, &c);
        return true;
    }

    /// The O(1) end of an async_wait by its cancellation slot.
    void abort(timer_id id) {
        lock_type lock(mutex_);
        timer_node* node = nodes.find(id);
        if (node != nullptr) abort(*node);
    }

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
        return node != nullptr ? start_of(node->deadline()) : time_point::min();
    }

    // ---- all timers ----

    std::size_t pending() {
        lock_type lock(mutex_);
        return wheel_->size();
    }

    std::size_t cancel_all() {
        lock_type lock(mutex_);
        return abort_all([](timer_node&) {});
    }

    template <class Visitor>
    std::size_t stop(Visitor visit) {
        std::vector<time_point> dropped;
        std::size_t n = 0;
        {
            lock_type lock(mutex_);
            dropped.reserve(wheel_->size()); // so that nothing fails half-way
            n = stop(lock, [&](timer_node& node) { dropped.push_back(start_of(node.deadline())); });
        }
        for (const time_point& expiry : dropped) visit(expiry); // without the lock: it is the user's
        return n;
    }
    std::size_t stop() {
        lock_type lock(mutex_);
        return stop(lock, [](timer_node&) {});
    }

    wheel_stats stats() {
        lock_type lock(mutex_);
        wheel_stats s = counts_;
        s.pending = wheel_->size();
        s.lateness = {lateness_.quantile(0.5), lateness_.quantile(0.99), lateness_.max()};
        return s;
    }

    // ---- for operation ----

    node_table nodes; // under the lock

    void note_expiry(const timer_node& node) noexcept {
        ++counts_.fired;
        lateness_.record(turn_start_ - scale_.start_of(node.deadline()));
    }

    void disarm(timer_node& node) noexcept {
        if (wheel_->size() == 1) bring_wake_near();
        wheel_->cancel(node);
        ++counts_.cancelled;
    }

    /// Disarms, and leaves the rest to the next turn. Errors: those of a post; the timer stays pending.
    void abort(timer_node& node) {
        request_turn();
        disarm(node);
        queue(outcome::aborted).push(node);
    }

private:
    struct slot_cancel {
        wheel_state* state;
        timer_id id;

        slot_cancel(wheel_state& s, timer_id i) noexcept : state(&s), id(i) {}
        void operator()(asio::cancellation_type_t type) {
            if ((type & asio::cancellation_type::all) != asio::cancellation_type::none) state->abort(id);
        }
    };

    // A wait that was never armed leaves no id behind: the next timer that gets its node has the same.
    template <class Slot>
    static void forget_id(Slot slot) noexcept {
        if (slot.is_connected()) slot.clear();
    }

    struct aim {
        tick due;
        bool at_once; // overdue when it was set
    };
    // A clock that was turned back counts as standing still at the wheel's present: nothing is early.
    aim aim_at(from_now w) const noexcept {
        nanoseconds now = since_origin(w.now);
        if constexpr (!Clock::is_steady) now = std::max(now, scale_.start_of(wheel_->now()));
        if (w.delay <= nanoseconds::zero()) return {scale_.now(now), true};
        return {scale_.due(saturating_add(now, w.delay)), false};
    }
    aim aim_at(time_point at) const noexcept {
        const tick due = scale_.due(since_origin(at));
        if constexpr (!Clock::is_steady)
            if (due <= wheel_->now() && at > Clock::now()) return {wheel_->now() + 1, false};
        return {due, false};
    }

    nanoseconds since_origin(time_point t) const noexcept {
        return saturating_add(saturate_to_ns(t.time_since_epoch()), -saturate_to_ns(origin_.time_since_epoch()));
    }
    time_point start_of(tick t) const noexcept {
        const nanoseconds at = saturating_add(saturate_to_ns(origin_.time_since_epoch()), scale_.start_of(t));
        return time_point(std::chrono::ceil<typename Clock::duration>(at)); // rounded down, a turn would come too early
    }

    // expired: nothing speaks against another timer.
    outcome refuse() noexcept {
        if (!stopped_ && wheel_->size() < options_.max_pending) [[likely]]
            return outcome::expired;
        ++counts_.rejected;
        return stopped_ ? outcome::stopped : outcome::rejected;
    }

    template <class When>
    void arm(timer_node& node, When when) {
        const aim a = aim_at(when);
        wheel_->schedule(node, a.due);
        try {
            if (planned_ == never && wheel_->size() > 1)
                request_turn(); // an earlier plan() failed: the turn looks for itself
            else
                wake_by(a.due, a.at_once);
        } catch (...) {
            wheel_->cancel(node);
            throw;
        }
        ++counts_.scheduled;
    }

    void drop(lock_type& lock, timer_node& node) {
        if (!lock.owns_lock()) lock.lock();
        completion<wheel_state> c{*this, lock, outcome::destroyed};
        node.on_expiry()(node, &c);
    }

    template <class When>
    bool reschedule_to(timer_id id, When when) {
        lock_type lock(mutex_);
        timer_node* node = nodes.find(id);
        if (node == nullptr) return false;
        const aim a = aim_at(when);
        wheel_->reschedule(*node, a.due);
        wake_by(a.due, a.at_once);
        return true;
    }

    template <class F>
    std::size_t abort_all(F each) {
        const std::size_t n = wheel_->size();
        if (n == 0) return 0;
        try {
            request_turn();
        } catch (...) {
            if (planned_ == never) throw; // else the planned turn delivers them: a destructor may be asking
        }
        wheel_->clear([&](timer_node& node) {
            each(node);
            queue(outcome::aborted).push(node);
        });
        counts_.cancelled += n;
        return n;
    }

    template <class F>
    std::size_t stop(lock_type&, F each) {
        stopped_ = true;
        return abort_all(each);
    }

    // ---- the driver ----

    static constexpr std::uint64_t never = ~std::uint64_t{0};

    // Makes sure that a turn comes by `due`. The end of a turn looks for itself.
    void wake_by(tick due, bool at_once = false) {
        if (turning_ || turn_posted_) return;
        if (at_once || due <= wheel_->now())
            request_turn();
        else if (due.value < planned_)
            plan(start_of(due), due);
    }

    void plan(time_point at, tick until) {
        planned_ = never; // if arming fails, the wait before is lost, too
        driver_->arm(at, ++serial_);
        planned_ = until.value;
        planned_near_ = false;
    }

    // The last timer is about to go: run() is to return soon, unless another one comes.
    void bring_wake_near() noexcept {
        if (planned_near_ || planned_ == never || turning_ || turn_posted_) return;
        const time_point now = Clock::now();
        const nanoseconds soon = std::min<nanoseconds>(options_.tick, std::chrono::milliseconds(10));
        const nanoseconds at = saturating_add(since_origin(now), soon);
        try {
            if (scale_.due(at).value < planned_)
                plan(now + std::chrono::ceil<typename Clock::duration>(soon), scale_.due(at));
            planned_near_ = true;
        } catch (...) {
            // Then no wake is planned at all, and none is needed.
        }
    }

    void request_turn() {
        if (turning_ || turn_posted_ || shut_down_) return;
        asio::post(*executor_, [this] {
            lock_type lock(mutex_);
            turn_posted_ = false;
            run_turn(lock);
        });
        turn_posted_ = true;
    }

    void wake(std::uint64_t serial) override {
        lock_type lock(mutex_);
        if (serial != serial_ || planned_ == never) return;
        planned_ = never;
        planned_near_ = false;
        ++counts_.wakeups;
        run_turn(lock);
    }

    void run_turn(lock_type& lock) {
        if (turning_ || !wheel_ || shut_down_) return; // inside a handler that runs the context: the outer turn goes on
        turning_ = true;
        bool more = true;
        try {
            more = turn(lock);
        } catch (...) {
            // A handler threw: out of run() it goes, as in Asio. The rest of the batch comes with the next turn.
            if (!lock.owns_lock()) lock.lock();
            end_turn(lock, true);
            throw;
        }
        end_turn(lock, more);
    }

    bool turn(lock_type& lock) {
        ++counts_.turns;
        const std::uint64_t fired_before = counts_.fired;
        completion<wheel_state> c{*this, lock, outcome::expired};
        turn_start_ = since_origin(Clock::now());
        const auto result = wheel_->advance(scale_.now(turn_start_), work_budget::expiries(options_.work_per_turn), &c);
        for (std::uint32_t n = 0; n < options_.work_per_turn; ++n) {
            timer_node* node = next_ended(&c.how);
            if (node == nullptr) break;
            node->on_expiry()(*node, &c);
        }
        counts_.largest_turn = std::max(counts_.largest_turn, counts_.fired - fired_before);
        return result.more;
    }

    void end_turn(lock_type& lock, bool more) {
        turning_ = false;
        if (shut_down_) return;
        if (more || has_ended()) {
            request_turn();
        } else if (const auto due = wheel_->next_due()) {
            wake_by(*due);
        } else {
            bring_wake_near();
        }
        recycle_if_done(lock);
    }

    void recycle_if_done(lock_type& lock) {
        if (!closed_ || turning_ || turn_posted_ || has_ended()) return;
        closed_ = false;
        driver_.reset();
        planned_ = never;
        planned_near_ = false;
        wheel_.reset();
        executor_.reset();
        const bool usable = nodes.release_all();
        lock.unlock();
        if (usable) owner_.recycle(*this);
        lock.lock();
    }

    // ---- what ended and is not delivered yet ----

    static constexpr std::array undelivered{outcome::aborted, outcome::stopped, outcome::rejected};

    node_queue& queue(outcome how) noexcept { return ended_[static_cast<std::size_t>(how)]; }

    bool has_ended() noexcept {
        return std::any_of(undelivered.begin(), undelivered.end(), [this](outcome o) { return !queue(o).empty(); });
    }
    timer_node* next_ended(outcome* how = nullptr) noexcept {
        for (const outcome o : undelivered) {
            if (timer_node* node = queue(o).pop()) {
                if (how != nullptr) *how = o;
                return node;
            }
        }
        return nullptr;
    }

    owner& owner_;
    typename Locking::mutex mutex_;
    std::optional<Wheel> wheel_;
    tick_scale scale_{std::chrono::milliseconds(1)};
    time_point origin_{};
    std::uint64_t planned_ = never; // the tick by which the driver wakes us
    std::uint64_t serial_ = 0;      // of the driver's present wait
    bool planned_near_ = false;
    bool turn_posted_ = false;
    bool turning_ = false;
    bool stopped_ = true;
    bool closed_ = false;
    bool shut_down_ = false;
    wheel_options options_;
    wheel_stats counts_;
    nanoseconds turn_start_{};
    lateness_histogram lateness_;
    std::array<node_queue, 4> ended_;
    std::optional<wheel_driver<Clock>> driver_;
    std::optional<asio::any_io_executor> executor_;
};

} // namespace cogwheel::detail
