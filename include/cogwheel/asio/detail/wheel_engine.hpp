// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What turns a wheel: the core, the driver that wakes it, the lock, the counts, and what ended but is not delivered yet.
//
// The driver's rules: it is armed only for an earlier wake; turns are bounded and yield; a turn ends by arming for the next due
// tick; an empty wheel arms nothing. When the last timer has gone, the wait is called off, so that run() returns; its arrival
// serves as the turn that an aborted handler needs. Where timers have come back before it arrived, the next time a posted turn
// looks first: a connection that arms and cancels for every request would otherwise pay a system call for each.
//
// Out of memory a turn still comes: if it cannot be posted, the wait that is planned is called off, or one is armed in memory
// that was set aside (wheel_driver.hpp).
//
// Whoever puts a node in here answers for it through its function (operation.hpp). Everything public needs the lock.
#pragma once

#include <cogwheel/asio/detail/operation.hpp>
#include <cogwheel/asio/detail/undelivered.hpp>
#include <cogwheel/asio/detail/wheel_driver.hpp>
#include <cogwheel/asio/detail/wheel_time.hpp>
#include <cogwheel/asio/wheel_options.hpp>
#include <cogwheel/observe/lateness_histogram.hpp>
#include <cogwheel/observe/wheel_stats.hpp>
#include <cogwheel/wheel/detail/exceptions.hpp>
#include <cogwheel/wheel/timing_wheel.hpp>

#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/strand.hpp>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>

namespace cogwheel::detail {

/// The loop behind an executor; nullptr if that is no io_context's, nor the strand of one, or if there is no typeid to tell.
inline asio::io_context* loop_of([[maybe_unused]] const asio::any_io_executor& executor) noexcept {
#ifndef ASIO_NO_TYPEID
    using direct = asio::io_context::executor_type;
    if (executor.target_type() == typeid(direct)) return &executor.target<direct>()->context();
    using strand = asio::strand<direct>;
    if (executor.target_type() == typeid(strand)) return &executor.target<strand>()->get_inner_executor().context();
#endif
    return nullptr;
}

/// What the rooms above keep for a wheel.
class wheel_annex {
public:
    virtual ~wheel_annex() = default;
};

template <class Clock, class Locking, timing_wheel Wheel>
class wheel_engine : public wake_target {
public:
    using clock_type = Clock;
    static constexpr bool concurrent = Locking::concurrent;
    using lock_type = std::unique_lock<typename Locking::mutex>;
    using time_point = typename Clock::time_point;
    using nanoseconds = std::chrono::nanoseconds;
    using from_now = detail::from_now<Clock>;
    using completion = detail::completion<wheel_engine>;

    wheel_engine(const wheel_engine&) = delete;
    wheel_engine& operator=(const wheel_engine&) = delete;

    lock_type lock() { return lock_type(mutex_); }

    node_table nodes{node_table::beside::pointer}; // of what is in the wheel
    node_table waits; // of what waits for a node rather than for a tick, and so is never in the wheel

    const asio::any_io_executor& executor() const noexcept { return *executor_; }
    bool is_shut_down() const noexcept { return shut_down_; }
    bool is_stopped() const noexcept { return stopped_; }

    // ---- timers ----

    /// expired: nothing speaks against another timer. `admitted`: it stands for something that is there already, max_pending or not.
    outcome refuse(bool admitted = false) noexcept {
        if (!stopped_ && (admitted || wheel_->size() < options_.max_pending)) [[likely]]
            return outcome::expired;
        ++counts_.rejected;
        return stopped_ ? outcome::stopped : outcome::rejected;
    }

    /// Makes a disarmed node pending. Errors: those of the wheel, of a post, of the driver; nothing changes.
    template <class When>
    void arm(timer_node& node, When when) {
        const aim a = time_.at(*wheel_, when);
        wake_by(a); // first, as it may fail
        COGWHEEL_TRY { wheel_->schedule(node, a.due); }
        COGWHEEL_CATCH {
            if (wheel_->size() == 0) let_run_return(); // else a wake too many does no harm
            COGWHEEL_RETHROW;
        }
        ++counts_.scheduled;
    }

    /// The same for a pending one.
    template <class When>
    void rearm(timer_node& node, When when) {
        const aim a = time_.at(*wheel_, when);
        wake_by(a);
        wheel_->reschedule(node, a.due);
    }

    void disarm(timer_node& node) noexcept {
        wheel_->cancel(node);
        ++counts_.cancelled;
        if (wheel_->size() == 0) let_run_return();
    }

    /// Disarms, and leaves the rest to the next turn. Errors: those of request_turn(); the timer stays pending.
    void abort(timer_node& node) {
        request_turn_to_abort();
        disarm(node);
        defer(outcome::aborted, node);
    }

    /// A turn to come delivers it. Preconditions: a turn is requested, or this is one; the node is neither armed nor deferred.
    void defer(outcome how, timer_node& node) noexcept { ended_.push(how, node); }
    /// The same for a limit that is aborted, until it is called off.
    void defer_limit(ended_limits::place& at, timer_node& node) noexcept { ended_.push_limit(at, node); }
    void call_off(ended_limits::place& at) noexcept { ended_.erase_limit(at); }

    /// Makes sure that there is a turn soon. Errors: none where the driver can be armed without memory, else std::bad_alloc.
    void request_turn() {
        if (turning_ || turn_coming() || shut_down_) return;
        COGWHEEL_TRY {
            asio::post(*executor_, posted_turn(*this));
            turn_posted_ = true;
        }
        COGWHEEL_CATCH {
            if (planned_ != never) return call_off();
            const tick next = time_.reached() + 1; // not at once: memory may come back meanwhile
            plan(start_of(next), next);
        }
    }

    /// The same, before one armed timer is disarmed.
    void request_turn_to_abort() {
        if (wheel_->size() == 1 && planned_ != never && !comes_back_ && !turning_ && !turn_coming())
            call_off();
        else
            request_turn();
    }

    /// After a handler of a turn: ends the turn if the context has been stopped. Complexity: a lock of the context's.
    void heed_stop() noexcept {
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

    // ---- those who hold on to the wheel beside its timer_wheel ----

    void join() noexcept { ++users_; }
    void leave(lock_type& lock) noexcept {
        --users_;
        recycle_if_done(lock);
    }

    /// Made when first asked for; it lives until the wheel and all who hold on to it are gone. There is one kind.
    /// Errors: those of its constructor.
    template <class Annex>
    Annex& annex() {
        if (!annex_) annex_ = std::make_unique<Annex>();
        return static_cast<Annex&>(*annex_);
    }

protected:
    wheel_engine() = default;
    ~wheel_engine() = default;

    /// Closed, and nothing left to deliver, nobody left to serve.
    virtual void recycle() noexcept = 0;

    // ---- life ----

    /// Errors: std::bad_alloc; then as never opened.
    void start(const asio::any_io_executor& executor, const wheel_options& options) {
        const lock_type lock(mutex_); // a wait of the wheel before may still be on its way
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
        executor_.emplace(executor);
        loop_ = loop_of(executor);
        time_ = wheel_time<Clock>(options.tick, Clock::now());
        options_ = options;
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
            // What is collected waits for a turn that something else brings; the context's end destroys it.
        }
        collect_all([](timer_node&) {});
        stopped_ = true;
        recycle_if_done(lock);
    }

    /// Everything pending is destroyed instead of delivered. May come twice.
    void shutdown(lock_type& lock) {
        shut_down_ = stopped_ = true;
        loop_ = nullptr;
        driver_.reset();
        executor_.reset(); // a strand must not outlive its service, which may be younger than ours
        completion c{*this, lock, outcome::collected};
        if (wheel_) wheel_->clear([&](timer_node& n) { n.on_expiry()(n, &c); });
        c.how = outcome::destroyed;
        while (timer_node* n = ended_.pop()) n->on_expiry()(*n, &c); // out of all lists: a handler may own the wheel
    }

    /// Ends all with outcome::aborted, after each(node). Errors: those of request_turn(); nothing changes.
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
        completion c{*this, none, outcome::collected};
        wheel_->clear([&](timer_node& node) {
            each(node);
            node.on_expiry()(node, &c);
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

    /// Has a turn something to fire, by the clock? May be wrong for a timer that was pushed back since it was filed.
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
            lock_type lock(e.mutex_);
            e.turn_posted_ = false;
            e.run_turn(lock);
        }

    private:
        wheel_engine* engine_;
    };

    bool turn_coming() const noexcept { return turn_posted_ || called_off_; }

    // Makes sure that a turn comes in time. The end of a turn looks for itself.
    void wake_by(const aim& a) {
        if (turning_ || turn_coming()) return;
        if (a.at_once || a.due <= wheel_->now() || (planned_ == never && (wheel_->size() != 0 || !ended_.empty())))
            request_turn();
        else if (a.due.value < planned_)
            plan(start_of(a.due), a.due);
    }

    // Preconditions: no turn is coming. Errors: std::bad_alloc; the wait before, if there is one, comes as a turn.
    void plan(time_point at, tick until) {
        COGWHEEL_TRY { driver_->arm(at, serial_ + 1); }
        COGWHEEL_CATCH {
            called_off_ = planned_ != never;
            planned_ = never;
            COGWHEEL_RETHROW;
        }
        ++serial_;
        planned_ = until.value;
    }
    void plan_for(tick due) {
        if (due.value >= planned_ || turn_coming()) return;
        COGWHEEL_TRY { plan(start_of(due), due); }
        COGWHEEL_CATCH {
            if (!turn_coming()) request_turn();
        }
    }

    // Preconditions: a wait is planned.
    void call_off() noexcept {
        driver_->call_off();
        planned_ = never;
        called_off_ = true;
    }

    // The last timer has gone.
    void let_run_return() noexcept {
        if (planned_ == never || turning_ || turn_coming()) return;
        if (!comes_back_) return call_off();
        COGWHEEL_TRY { request_turn(); }
        COGWHEEL_CATCH { // not while a wait is planned
        }
    }

    void wake(std::uint64_t serial) override {
        lock_type lock(mutex_);
        if (serial == serial_) {
            if (called_off_)
                comes_back_ = wheel_ && wheel_->size() != 0;
            else
                ++counts_.wakeups;
            called_off_ = false;
            planned_ = never;
        } else if (planned_ != never || turn_coming()) {
            return; // replaced by another
        }
        run_turn(lock);
    }

    // Something that was to bring a turn was destroyed: the executor had no memory, or there is no context any more.
    // Not under the lock: that a wait or a post fails at once is told by these values, which are set after it succeeded.
    void wake_lost(std::uint64_t serial) noexcept override {
        if (serial != serial_) return;
        lock_type lock(mutex_);
        called_off_ = false;
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
            // Then the next call that arms or ends a timer asks for one.
        }
    }

    void run_turn(lock_type& lock) {
        if (turning_ || !wheel_ || shut_down_) return; // inside a handler that runs the context: the outer turn goes on
        turning_ = true;
        bool more = !ended_.empty();
        COGWHEEL_TRY {
            if (more || wheel_->size() != 0) more = turn(lock);
        }
        COGWHEEL_CATCH {
            // A handler threw: out of run() it goes, as in Asio. The rest of the batch comes with the next turn.
            end_turn(lock, true);
            COGWHEEL_RETHROW;
        }
        end_turn(lock, more);
    }

    bool turn(lock_type& lock) {
        ++counts_.turns;
        loop_stopped_ = false;
        const std::uint64_t fired_before = counts_.fired;
        std::uint32_t deliveries = options_.work_per_turn;
        deliver_ended(lock, deliveries); // who was cancelled before this turn completes before who expires in it
        if (loop_stopped_ || wheel_->size() == 0) return wheel_->size() != 0;
        completion c{*this, lock, outcome::expired};
        turn_start_ = time_.since_origin(Clock::now());
        const auto result =
            wheel_->advance(time_.reached(turn_start_), work_budget::expiries(options_.work_per_turn), &c);
        deliver_ended(lock, deliveries);
        counts_.largest_turn = std::max(counts_.largest_turn, counts_.fired - fired_before);
        return result.more;
    }
    void deliver_ended(lock_type& lock, std::uint32_t& budget) {
        completion c{*this, lock, outcome::expired};
        for (; budget != 0 && !loop_stopped_; --budget) {
            timer_node* node = ended_.pop(&c.how);
            if (node == nullptr) break;
            node->on_expiry()(*node, &c);
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
            comes_back_ = false;
            if (planned_ != never && !turn_coming()) call_off();
        }
        recycle_if_done(lock);
    }

    void recycle_if_done(lock_type& lock) noexcept {
        if (!closed_ || turning_ || turn_posted_ || !ended_.empty() || users_ != 0 || shut_down_) return;
        closed_ = false;
        driver_.reset();
        ++serial_; // a wait that is still on its way is none of the next wheel's
        planned_ = never;
        called_off_ = comes_back_ = false;
        wheel_.reset();
        annex_.reset();
        executor_.reset();
        const bool usable = nodes.release_all() && waits.release_all();
        lock.unlock();
        if (usable) recycle();
        lock.lock();
    }

    wheel_time<Clock> time_{std::chrono::milliseconds(1), {}};
    std::uint64_t planned_ = never;         // the tick by which the driver wakes us
    std::atomic<std::uint64_t> serial_ = 0; // of the driver's present wait
    std::atomic<bool> turn_posted_ = false;
    bool called_off_ = false; // the driver's wait is on its way, and serves as a turn
    bool comes_back_ = false; // when the last timer went the last time, another one came before the turn
    bool turning_ = false;
    bool loop_stopped_ = false; // by a handler of this turn
    bool stopped_ = true;
    bool closed_ = false;
    bool shut_down_ = false;
    std::size_t users_ = 0;
    wheel_options options_;
    wheel_stats counts_;
    nanoseconds turn_start_{};
    lateness_histogram lateness_;
    undelivered ended_;
    driver_memory driver_memory_;
    std::optional<wheel_driver<Clock>> driver_;
    std::optional<asio::any_io_executor> executor_;
    asio::io_context* loop_ = nullptr; // nullptr: another kind of context
    std::unique_ptr<wheel_annex> annex_;
};

} // namespace cogwheel::detail
