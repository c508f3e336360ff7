// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The engine: the base of a wheel's impl. It holds the lock, the core wheel, the driver, the counts, and the timers
// that have ended but are not delivered yet. It runs the turns. A node's function completes the node (operation.hpp).
// Thread safety: all public functions need the lock, except lock().
//
// Rules of the driver (docs/adr/0009):
// - The engine arms it only for an earlier wake-up. A turn is bounded, and ends by arming it for the next due tick.
// - An empty wheel arms nothing. When the last timer goes, the engine cancels the driver's wait, so that run() returns.
//   The completion of that wait serves as the turn that delivers an aborted handler.
// - If new timers came before that completion, the engine posts a turn the next time, and cancels the wait only if the
//   wheel is still empty then. Otherwise a connection that arms and cancels per request pays a system call for each.
// - Out of memory a turn still comes. If the engine cannot post it, it cancels the planned wait. If no wait is planned,
//   it arms one in memory that was set aside (wheel_driver.hpp).
#pragma once

#include <cogwheel/asio/detail/ended_timers.hpp>
#include <cogwheel/asio/detail/operation.hpp>
#include <cogwheel/asio/detail/wheel_driver.hpp>
#include <cogwheel/asio/detail/wheel_extension.hpp>
#include <cogwheel/asio/detail/wheel_time.hpp>
#include <cogwheel/asio/wheel_options.hpp>
#include <cogwheel/detail/exceptions.hpp>
#include <cogwheel/observe/lateness_histogram.hpp>
#include <cogwheel/observe/wheel_stats.hpp>
#include <cogwheel/wheel/timing_wheel.hpp>

#include <asio/io_context.hpp>
#include <asio/require.hpp>
#include <asio/strand.hpp>

#include <atomic>
#include <mutex>

namespace cogwheel::inline v0::detail {

/// Returns the io_context of an executor, or of a strand on it. Returns nullptr for other contexts, and without typeid.
inline asio::io_context* loop_of([[maybe_unused]] const asio::any_io_executor& executor) noexcept {
#ifndef ASIO_NO_TYPEID
    using direct = asio::io_context::executor_type;
    if (executor.target_type() == typeid(direct)) return &executor.target<direct>()->context();
    using strand = asio::strand<direct>;
    if (executor.target_type() == typeid(strand)) return &executor.target<strand>()->get_inner_executor().context();
    using outer = asio::strand<asio::any_io_executor>; // of the executor of an I/O object
    if (executor.target_type() == typeid(outer)) return loop_of(executor.target<outer>()->get_inner_executor());
#endif
    return nullptr;
}

template <class Clock, class Locking, timing_wheel Wheel>
class wheel_engine : public wake_target {
public:
    using clock_type = Clock;
    static constexpr bool concurrent = Locking::concurrent;
    using lock_type = std::unique_lock<typename Locking::mutex>;
    using time_point = typename Clock::time_point;
    using nanoseconds = std::chrono::nanoseconds;
    using from_now = detail::from_now<Clock>;
    using completion_context = detail::completion_context<wheel_engine>;

    wheel_engine(const wheel_engine&) = delete;
    wheel_engine& operator=(const wheel_engine&) = delete;

    lock_type lock() {
        mutex_.lock(); // unique_lock::lock() would first check for mistakes that cannot happen here
        return lock_type(mutex_, std::adopt_lock);
    }

    node_table nodes{node_table::adjacent::pointer}; // the nodes of the core wheel
    node_table waits; // nodes that are never in the core wheel: waits of a wheel_timer, back links

    const asio::any_io_executor& executor() const noexcept { return executor_; }
    bool is_shut_down() const noexcept { return shut_down_; }
    bool is_stopped() const noexcept { return stopped_; }

    // ---- timers ----

    /// Decides whether another timer may be armed, and counts a refusal. `replaces`: the timer replaces an accepted
    /// one, so max_pending does not apply.
    admission admit(bool replaces = false) noexcept {
        if (!stopped_ && (replaces || wheel_->size() < max_pending_)) [[likely]]
            return admission::accepted;
        ++counts_.rejected;
        return stopped_ ? admission::stopped : admission::full;
    }

    /// Arms a disarmed node. Errors: those of the core wheel, of a post, of the driver; nothing changes.
    template <class When>
    void arm(timer_node& node, When when) {
        const due_tick a = time_.at(*wheel_, when);
        wake_by(a); // first, because it may fail
        COGWHEEL_TRY { wheel_->schedule(node, a.due); }
        COGWHEEL_CATCH {
            if (wheel_->size() == 0) let_run_return(); // otherwise one more wake-up does no harm
            COGWHEEL_RETHROW;
        }
        ++counts_.scheduled;
    }

    /// Moves an armed node. Errors: those of arm(); nothing changes.
    template <class When>
    void rearm(timer_node& node, When when) {
        const due_tick a = time_.at(*wheel_, when);
        wake_by(a);
        wheel_->reschedule(node, a.due);
    }

    void disarm(timer_node& node) noexcept {
        wheel_->cancel(node);
        ++counts_.cancelled;
        if (wheel_->size() == 0) let_run_return();
    }

    /// Disarms the node; the next turn completes it. Errors: those of request_turn(); the timer stays pending.
    void abort(timer_node& node) {
        request_turn_to_abort();
        disarm(node);
        defer(outcome::aborted, node);
    }

    /// Leaves the completion to a later turn. Preconditions: a turn is requested or running; the node is neither armed
    /// nor deferred.
    void defer(outcome how, timer_node& node) noexcept { ended_.push(how, node); }
    /// The same for the aborted timer of a timeout_after. withdraw_cancellation() undoes it.
    void defer_cancellation(pending_cancellation& c, timer_node& node) noexcept { ended_.push_cancellation(c, node); }
    void withdraw_cancellation(pending_cancellation& c) noexcept { ended_.erase_cancellation(c); }

    /// Makes sure that a turn comes soon. Errors: none if the driver can be armed without memory, else std::bad_alloc.
    void request_turn() {
        if (turning_ || turn_coming() || shut_down_) return;
        COGWHEEL_TRY {
            asio::require(executor_, asio::execution::blocking.never).execute(posted_turn(*this));
            turn_posted_ = true;
        }
        COGWHEEL_CATCH {
            if (planned_ != never) return cancel_wait();
            plan(time_.reached() + 1); // not at once: memory may be available again by then
        }
    }

    /// The same, before the caller disarms one timer. If that is the last one, cancels the driver's wait, posts
    /// nothing.
    void request_turn_to_abort() {
        if (wheel_->size() == 1 && planned_ != never && !rearmed_quickly_ && !turning_ && !turn_coming())
            cancel_wait();
        else
            request_turn();
    }

    /// Ends the turn if its last handler stopped the context. Complexity: takes a lock of the context.
    void check_loop_stopped() noexcept {
        if (loop_ != nullptr && loop_->stopped()) [[unlikely]] {
            loop_stopped_ = true;
            wheel_->interrupt();
        }
    }
    bool is_turn_ending() const noexcept { return loop_stopped_; }

    void note_expiry(const timer_node& node) noexcept {
        ++counts_.fired;
        lateness_.record(turn_start_ - time_.start_since_origin(node.deadline()));
    }

    time_point start_of(tick t) const noexcept { return time_.start_of(t); }

    // ---- other users than the timer_wheel: they keep the impl from being recycled ----

    void join() noexcept { ++users_; }
    void leave(lock_type& lock) noexcept {
        --users_;
        recycle_if_done(lock);
    }

    /// Returns the extension of this type, and makes it at the first call.
    /// Errors: std::bad_alloc. Lifetime: until the wheel is closed and its last user has left.
    template <class Extension>
    Extension& extension() {
        return extensions_.template get<Extension>();
    }

protected:
    wheel_engine() = default;
    ~wheel_engine() = default;

    /// Called when the wheel is closed, has delivered everything, and has no user left.
    virtual void recycle() noexcept = 0;

    // ---- life ----

    /// Opens the wheel. Errors: std::bad_alloc; the wheel is then not open.
    void start(const asio::any_io_executor& executor, const wheel_options& options) {
        const lock_type lock(mutex_); // a wait of the previous wheel may still arrive
        nodes.prefer_huge_pages(options.huge_pages);
        waits.prefer_huge_pages(options.huge_pages);
        COGWHEEL_TRY {
            make_wheel(options);
            wheel_->reserve(options.reserve);
            driver_.emplace(executor, *this, driver_memory_);
        }
        COGWHEEL_CATCH {
            wheel_.reset();
            COGWHEEL_RETHROW;
        }
        executor_ = executor;
        loop_ = loop_of(executor);
        time_ = wheel_time<Clock>(options.tick, Clock::now());
        max_pending_ = options.max_pending;
        work_per_turn_ = options.work_per_turn;
        counts_ = {};
        lateness_ = {};
        stopped_ = closed_ = false;
    }

    void make_wheel(const wheel_options& options) {
        if constexpr (levelled_wheel<Wheel>)
            if (!options.levels.empty()) return void(wheel_.emplace(nodes, options.levels, tick{}));
        wheel_.emplace(nodes, options.slots, tick{});
    }

    void close(lock_type& lock) noexcept {
        if (shut_down_) return;
        closed_ = true;
        COGWHEEL_TRY {
            if (wheel_->size() != 0) request_turn();
        }
        COGWHEEL_CATCH {
            // The collected timers wait for the next turn that comes. If none comes, the context's end destroys them.
        }
        collect_all([](timer_node&) {});
        stopped_ = true;
        recycle_if_done(lock);
    }

    /// Destroys all pending timers without calling their handlers. May be called twice.
    void shutdown(lock_type& lock) {
        shut_down_ = stopped_ = true;
        loop_ = nullptr;
        driver_.reset();
        extensions_.shut_down();
        executor_ = nullptr; // a strand must not outlive its service, which the context may destroy before ours
        completion_context c{*this, lock, outcome::collected};
        if (wheel_) wheel_->clear([&](timer_node& n) { n.complete(&c); });
        c.how = outcome::destroyed;
        while (timer_node* n = ended_.pop()) n->complete(&c); // out of all lists first: a handler may own the wheel
    }

    /// Calls each(node) for each timer and ends it as aborted. Errors: those of request_turn(); nothing changes.
    template <class F>
    std::size_t abort_all(F each) {
        if (wheel_->size() != 0) request_turn();
        return collect_all(each);
    }
    template <class F>
    std::size_t collect_all(F each) {
        const std::size_t n = wheel_->size();
        if (n == 0) return 0;
        lock_type none;
        completion_context c{*this, none, outcome::collected};
        wheel_->clear([&](timer_node& node) {
            each(node);
            node.complete(&c);
        });
        counts_.cancelled += n;
        return n;
    }

    template <class F>
    std::size_t stop(F each) {
        const std::size_t n = abort_all(each);
        stopped_ = true;
        return n;
    }

    /// Returns whether a turn has a timer to fire by the clock. May be true for a timer that has been moved to later.
    bool is_behind() {
        const auto due = wheel_->next_due();
        return due && *due <= time_.reached();
    }

    wheel_stats stats() const {
        wheel_stats s = counts_;
        s.pending = wheel_->size();
        s.lateness = {lateness_.quantile(0.5), lateness_.quantile(0.99), lateness_.max()};
        return s;
    }

    typename Locking::mutex mutex_;
    std::optional<Wheel> wheel_;

private:
    // ---- the driver ----

    static constexpr std::uint64_t never = ~std::uint64_t{0};

    /// A turn on its way through the executor.
    class posted_turn {
    public:
        explicit posted_turn(wheel_engine& e) noexcept : engine_(&e) {}
        posted_turn(posted_turn&& other) noexcept : engine_(std::exchange(other.engine_, nullptr)) {}
        posted_turn& operator=(posted_turn&&) = delete;
        ~posted_turn() {
            if (engine_ != nullptr) engine_->turn_lost();
        }
        void operator()() {
            wheel_engine& e = *std::exchange(engine_, nullptr);
            lock_type lock = e.lock();
            e.turn_posted_ = false;
            e.run_turn(lock);
        }

    private:
        wheel_engine* engine_;
    };

    bool turn_coming() const noexcept { return turn_posted_ || wait_cancelled_; }

    // Makes sure that a turn comes in time. During a turn it does nothing: the end of the turn arms the driver.
    // always_inline: g++ may otherwise call it from reschedule(), for 13 instructions more.
    [[gnu::always_inline]] void wake_by(const due_tick& a) {
        if (turning_ || turn_coming()) return;
        if (a.at_once || a.due <= wheel_->now() || (planned_ == never && (wheel_->size() != 0 || !ended_.empty())))
            request_turn();
        else if (a.due.value < planned_)
            plan(a.due);
    }

    // Arms the driver. Preconditions: no turn is coming. Errors: std::bad_alloc; a replaced wait then comes as a turn.
    void plan(tick until) {
        COGWHEEL_TRY { driver_->arm(start_of(until), serial_ + 1); }
        COGWHEEL_CATCH {
            wait_cancelled_ = planned_ != never;
            planned_ = never;
            COGWHEEL_RETHROW;
        }
        ++serial_;
        planned_ = until.value;
    }
    void plan_for(tick due) {
        if (due.value >= planned_ || turn_coming()) return;
        COGWHEEL_TRY { plan(due); }
        COGWHEEL_CATCH {
            if (!turn_coming()) request_turn();
        }
    }

    // Makes the driver's wait come as a turn now. Preconditions: a wait is planned.
    void cancel_wait() noexcept {
        driver_->cancel_wait();
        planned_ = never;
        wait_cancelled_ = true;
    }

    // Lets run() return, now that the last timer has gone.
    void let_run_return() noexcept {
        if (planned_ == never || turning_ || turn_coming()) return;
        if (!rearmed_quickly_) return cancel_wait();
        COGWHEEL_TRY { request_turn(); }
        COGWHEEL_CATCH { // never: while a wait is planned, request_turn() does not throw
        }
    }

    void wake(std::uint64_t serial) override {
        lock_type lock(mutex_);
        if (serial == serial_) {
            if (wait_cancelled_)
                rearmed_quickly_ = wheel_ && wheel_->size() != 0;
            else
                ++counts_.wakeups;
            wait_cancelled_ = false;
            planned_ = never;
        } else if (planned_ != never || turn_coming()) {
            return; // another wait or turn has replaced this one
        }
        run_turn(lock);
    }

    // A wait or a posted turn was destroyed without a call: the executor had no memory, or its context is gone.
    // A failing post or arm() calls these two with the lock held. So they check serial_ and turn_posted_ without the
    // lock: the engine sets both only after the post or arm() has succeeded.
    void wake_lost(std::uint64_t serial) noexcept override {
        if (serial != serial_) return;
        lock_type lock(mutex_);
        wait_cancelled_ = false;
        planned_ = never;
        replace_lost_turn();
    }
    void turn_lost() noexcept {
        if (!turn_posted_) return;
        lock_type lock(mutex_);
        turn_posted_ = false;
        replace_lost_turn();
    }
    void replace_lost_turn() noexcept {
        if (!wheel_ || (wheel_->size() == 0 && ended_.empty())) return;
        COGWHEEL_TRY { request_turn(); }
        COGWHEEL_CATCH {
            // The next call that arms or ends a timer requests a turn.
        }
    }

    void run_turn(lock_type& lock) {
        if (turning_ || !wheel_ || shut_down_) return; // a handler runs the context: the outer turn goes on
        turning_ = true;
        bool more = !ended_.empty();
        COGWHEEL_TRY {
            if (more || wheel_->size() != 0) more = turn(lock);
        }
        COGWHEEL_CATCH {
            // A handler threw. As in Asio, the exception leaves run(). The next turn delivers the rest of the batch.
            end_turn(lock, true);
            COGWHEEL_RETHROW;
        }
        end_turn(lock, more);
    }

    bool turn(lock_type& lock) {
        ++counts_.turns;
        loop_stopped_ = false;
        const std::uint64_t fired_before = counts_.fired;
        std::uint32_t deliveries = work_per_turn_;
        deliver_ended(lock, deliveries); // timers cancelled before this turn complete first
        if (loop_stopped_ || wheel_->size() == 0) return wheel_->size() != 0;
        completion_context c{*this, lock, outcome::expired};
        turn_start_ = time_.since_origin(Clock::now());
        const auto result = wheel_->advance(time_.reached(turn_start_), work_budget::expiries(work_per_turn_), &c);
        deliver_ended(lock, deliveries);
        if (const std::uint64_t n = counts_.fired - fired_before; n > counts_.largest_turn) counts_.largest_turn = n;
        return result.more;
    }
    void deliver_ended(lock_type& lock, std::uint32_t& budget) {
        completion_context c{*this, lock, outcome::expired};
        for (; budget != 0 && !loop_stopped_; --budget) {
            timer_node* node = ended_.pop(&c.how);
            if (node == nullptr) break;
            node->complete(&c);
        }
    }

    void end_turn(lock_type& lock, bool more) {
        turning_ = false;
        if (shut_down_) return;
        if (more || !ended_.empty()) {
            request_turn();
        } else if (const auto due = wheel_->next_due()) {
            plan_for(*due);
        } else {
            rearmed_quickly_ = false;
            if (planned_ != never && !turn_coming()) cancel_wait();
        }
        recycle_if_done(lock);
    }

    void recycle_if_done(lock_type& lock) noexcept {
        if (!closed_ || turning_ || turn_posted_ || !ended_.empty() || users_ != 0 || shut_down_) return;
        closed_ = false;
        driver_.reset();
        ++serial_; // so that the next wheel ignores a wait that has not arrived yet
        planned_ = never;
        wait_cancelled_ = rearmed_quickly_ = false;
        wheel_.reset();
        extensions_.clear();
        executor_ = nullptr;
        const bool usable = nodes.release_all() && waits.release_all();
        lock.unlock();
        if (usable) recycle();
        lock.lock();
    }

    wheel_time<Clock> time_{std::chrono::milliseconds(1), {}};
    std::uint64_t planned_ = never;         // the tick for which the driver is armed
    std::atomic<std::uint64_t> serial_ = 0; // the number of the driver's present wait
    std::atomic<bool> turn_posted_ = false;
    bool wait_cancelled_ = false;  // the driver's wait was cancelled, and will come as a turn
    bool rearmed_quickly_ = false; // the last time the wheel became empty, a new timer came before the next turn
    bool turning_ = false;
    bool loop_stopped_ = false; // a handler of this turn stopped the context
    bool stopped_ = true;
    bool closed_ = false;
    bool shut_down_ = false;
    std::size_t users_ = 0;
    std::size_t max_pending_ = 0;
    std::uint32_t work_per_turn_ = 0;
    wheel_stats counts_;
    nanoseconds turn_start_{};
    lateness_histogram lateness_;
    ended_timers ended_;
    driver_memory driver_memory_;
    std::optional<wheel_driver<Clock>> driver_;
    asio::any_io_executor executor_;   // empty while the wheel is not open
    asio::io_context* loop_ = nullptr; // nullptr if the context is of another kind, or not known
    wheel_extensions extensions_;
};

} // namespace cogwheel::inline v0::detail
