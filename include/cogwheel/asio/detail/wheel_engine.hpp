// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The engine: the base of a wheel's impl. It holds the lock, the core wheel, the driver, the counts, and the timers
// that have ended but are not delivered yet. It runs the turns. A node's function completes the node (operation.hpp).
// Thread safety: all public functions need the lock, except lock() and not_before_unlocked().
//
// Rules of the driver (docs/adr/0009, 0022):
// - The engine arms it only for an earlier wake-up. A turn is bounded, and ends by arming it for the next due tick. A
//   turn that was posted, to abort waits for example, leaves a wake-up that is planned as it is.
// - An empty wheel arms nothing. When the last timer goes, the engine cancels the driver's wait, so that run() returns.
//   The completion of that wait serves as the turn that delivers an aborted handler.
// - If new timers came before that completion, the engine posts a turn the next time, and cancels the wait only if the
//   wheel is still empty then. Otherwise a connection that arms and cancels per request pays a system call for each.
// - Out of memory a turn still comes. If the engine cannot post it, it cancels the planned wait. If no wait is planned,
//   it arms one in memory that was set aside (wheel_driver.hpp).
#pragma once

#include <cogwheel/asio/detail/ended_timers.hpp>
#include <cogwheel/asio/detail/engine_counts.hpp>
#include <cogwheel/asio/detail/executors.hpp>
#include <cogwheel/asio/detail/operation.hpp>
#include <cogwheel/asio/detail/probe.hpp>
#include <cogwheel/asio/detail/turn_watch.hpp>
#include <cogwheel/asio/detail/unchecked_lock.hpp>
#include <cogwheel/asio/detail/wheel_driver.hpp>
#include <cogwheel/asio/detail/wheel_extension.hpp>
#include <cogwheel/asio/detail/wheel_time.hpp>
#include <cogwheel/asio/wheel_options.hpp>
#include <cogwheel/counts/slow_turn.hpp>
#include <cogwheel/counts/wheel_stats.hpp>
#include <cogwheel/detail/assertion.hpp>
#include <cogwheel/detail/exceptions.hpp>
#include <cogwheel/detail/post_flag.hpp>
#include <cogwheel/wheel/level_census.hpp>
#include <cogwheel/wheel/observed_wheel.hpp>
#include <cogwheel/wheel/timing_wheel.hpp>

#include COGWHEEL_ASIO_HEADER(require.hpp)

#include <atomic>
#include <mutex>
#include <thread>

namespace cogwheel::inline v0_1::detail::inline COGWHEEL_ASIO {

template <class Clock, class Locking, timing_wheel Wheel>
class wheel_impl;

template <class Clock, class Locking, timing_wheel Wheel>
class wheel_engine : public wake_target {
public:
    using clock_type = Clock;
    static constexpr bool concurrent = Locking::concurrent;
    using lock_type = unchecked_lock<typename Locking::mutex>;
    using guard = std::lock_guard<typename Locking::mutex>; // costs less: it always has the lock
    using time_point = typename Clock::time_point;
    using nanoseconds = std::chrono::nanoseconds;
    using from_now = detail::from_now<Clock>;
    using completion_context = detail::completion_context<wheel_engine>;

    wheel_engine(const wheel_engine&) = delete;
    wheel_engine& operator=(const wheel_engine&) = delete;

    lock_type lock() { return lock_type(mutex_); }
    typename Locking::mutex& mutex() noexcept { return mutex_; }

    // For the short paths. These call functions only at their end, for the rare cases, so that they save no registers.

    /// Takes the lock, unless that takes longer: another thread has it, or is the mutex's owner.
    COGWHEEL_ALWAYS_INLINE bool try_lock() noexcept { return mutex_.try_lock(); }
    /// Releases the lock, and returns `result`.
    template <class T>
    COGWHEEL_ALWAYS_INLINE T unlock_with(T result) noexcept {
        if constexpr (requires { mutex_.release(); }) {
            if (mutex_.release()) [[unlikely]]
                return wake_one_with(result);
        } else {
            mutex_.unlock();
        }
        return result;
    }
    /// The same after a timer was cancelled. Returns true.
    COGWHEEL_ALWAYS_INLINE bool unlock_after_cancel() noexcept {
        if (wheel_->size() == 0) [[unlikely]]
            return unlock_empty();
        return unlock_with(true);
    }

    node_table nodes{node_table::adjacent::pointer}; // the nodes of the core wheel
    node_table waits; // nodes that are never in the core wheel: waits of a wheel_timer, back links

    const asio::any_io_executor& executor() const noexcept { return executor_; }
    bool is_shut_down() const noexcept { return shut_down_; }
    bool is_stopped() const noexcept { return stopped(); }

    // ---- timers ----

    /// Decides whether another timer may be armed, and counts a refusal. `replaces`: the timer replaces an accepted
    /// one, so max_pending does not apply.
    admission admit(bool replaces = false) noexcept {
        if (has_room()) [[likely]]
            return admission::accepted;
        return replaces && !stopped() ? admission::accepted : reject();
    }

    bool has_room() const noexcept { return wheel_->size() < room_; }

    /// Returns the tick at which a timer is due: arm() and rearm() take it too.
    template <class When>
    due_tick due_at(When when) noexcept {
        return time_.at(*wheel_, when);
    }
    /// Returns false for a delay that needs due_at().
    template <class When>
    COGWHEEL_ALWAYS_INLINE static bool is_usual(When when) noexcept {
        return wheel_time<Clock>::is_usual(when);
    }
    /// Sets `due` to what due_at() returns, or returns false: see wheel_time::try_at().
    /// Preconditions: is_usual(when).
    template <class When>
    COGWHEEL_ALWAYS_INLINE bool try_due_at(When when, due_tick& due) noexcept {
        return time_.try_at(*wheel_, when, due);
    }

    /// Does what arm() does if that takes a few stores: no wake-up to plan, no new entry. Otherwise changes nothing and
    /// returns false.
    template <timer_kind Kind>
    COGWHEEL_ALWAYS_INLINE bool try_arm(timer_node& node, const due_tick& a) noexcept {
        if constexpr (wheel_with_short_path<Wheel>)
            if (!has_to_wake(a) && wheel_->take_over(node, a.due)) [[likely]] {
                ++counts_.of(Kind).scheduled;
                COGWHEEL_PROBE(3, schedule, this, &node, a.due.value);
                return true;
            }
        return false;
    }
    /// The same for rearm(). The driver may have to wake earlier although the node's entry serves: it was armed for the
    /// deadline, and an entry that was taken over may lie before that.
    COGWHEEL_ALWAYS_INLINE bool try_rearm(timer_node& node, const due_tick& a) noexcept {
        if constexpr (wheel_with_short_path<Wheel>)
            if (!has_to_wake(a) && wheel_->postpone(node, a.due)) [[likely]] {
                COGWHEEL_PROBE(3, reschedule, this, &node, a.due.value);
                return true;
            }
        return false;
    }

    /// Arms a disarmed node. Errors: those of the core wheel, of a post, of the driver; nothing changes.
    template <timer_kind Kind, class When>
    COGWHEEL_ALWAYS_INLINE void arm(timer_node& node, When when) {
        const due_tick a = time_.at(*wheel_, when);
        wake_by(a); // first, because it may fail
        COGWHEEL_TRY { wheel_->schedule(node, a.due); }
        COGWHEEL_CATCH {
            if (wheel_->size() == 0) let_run_return(); // otherwise one more wake-up does no harm
            COGWHEEL_RETHROW;
        }
        ++counts_.of(Kind).scheduled;
        COGWHEEL_PROBE(3, schedule, this, &node, a.due.value);
    }

    /// Moves an armed node. Errors: those of arm(); nothing changes.
    template <class When>
    void rearm(timer_node& node, When when) {
        const due_tick a = time_.at(*wheel_, when);
        wake_by(a);
        wheel_->reschedule(node, a.due);
        COGWHEEL_PROBE(3, reschedule, this, &node, a.due.value);
    }

    template <timer_kind Kind>
    void disarm(timer_node& node) noexcept {
        remove<Kind>(node);
        if (wheel_->size() == 0) let_run_return();
    }

    /// The part of disarm() before unlock_after_cancel().
    template <timer_kind Kind>
    COGWHEEL_ALWAYS_INLINE void remove(timer_node& node) noexcept {
        ++counts_.of(Kind).cancelled;
        wheel_->cancel(node);                   // late: the caller reads size() next
        COGWHEEL_PROBE(2, cancel, this, &node); // at the end: after a probe, the compiler loads again what it knew
    }

    /// Disarms the node; the next turn completes it. Errors: those of request_turn(); the timer stays pending.
    template <timer_kind Kind>
    [[gnu::noinline]] void abort(timer_node& node) { // end() of each type of handler calls it last
        request_turn_to_abort();
        disarm<Kind>(node);
        defer(outcome::aborted, node);
    }

    /// The same for a node that was disarmed with all others: see outcome::collected.
    template <timer_kind Kind>
    [[gnu::noinline]] void defer_collected(timer_node& node) noexcept { // as abort()
        note_cancel<Kind>(node);
        defer(outcome::aborted, node);
    }

    /// Leaves the completion to a later turn. Preconditions: a turn is requested or running; the node is neither armed
    /// nor deferred.
    void defer(outcome how, timer_node& node) noexcept { ended_.push(how, node); }
    /// The same for the aborted timer of a timeout_after. withdraw_cancellation() undoes it.
    void defer_cancellation(pending_cancellation& c, timer_node& node) noexcept { ended_.push_cancellation(c, node); }
    void withdraw_cancellation(pending_cancellation& c) noexcept { ended_.erase_cancellation(c); }

    /// Ends a timer early (see is_early()); the caller defers what follows. Errors: if discarded, those of
    /// request_turn(); nothing changes.
    template <timer_kind Kind>
    void end_early(outcome how, timer_node& node) {
        if (how == outcome::collected) return note_cancel<Kind>(node); // it is disarmed, and a turn will come
        request_turn();
        disarm<Kind>(node);
    }

    /// Makes sure that a turn comes soon. Errors: none if the driver can be armed without memory, else std::bad_alloc.
    void request_turn();

    /// The same, before the caller disarms one timer. If that is the last one, cancels the driver's wait, posts
    /// nothing.
    void request_turn_to_abort() {
        if (wheel_->size() == 1 && planned_ != never && !rearmed_quickly_ && !turning_ && !turn_coming())
            cancel_wait();
        else
            request_turn();
    }

    /// Ends the turn if its last handler stopped the context. Complexity: takes a lock of the context.
    [[gnu::noinline]] void check_loop_stopped() noexcept { // each type of handler has a function that calls it
        if (loop_ != nullptr && loop_->stopped()) [[unlikely]] {
            loop_stopped_ = true;
            wheel_->interrupt();
        }
    }
    bool is_turn_ending() const noexcept { return loop_stopped_; }
    /// Returns whether another thread runs a turn.
    bool in_turn_elsewhere() const noexcept { return turning_ && turn_thread_ != std::this_thread::get_id(); }

    /// Returns true if the timer that fired before this one was due at another tick. Call begin_tick() then: it records
    /// the lateness of that tick, and completes the node again.
    bool is_first_of_tick(const timer_node& node) const noexcept { return node.deadline() != counts_.due(); }
    [[gnu::noinline]] void begin_tick(timer_node& node, void* context) {
        record_lateness();
        counts_.set_due(node.deadline());
        node.complete(context);
    }
    /// Counts an expired timer, and tells the observer. What: the type of the handler.
    /// Preconditions: !is_first_of_tick(node).
    template <timer_kind Kind, class What>
    void note_expiry(const timer_node& node) noexcept {
        if constexpr (requires(Wheel& w) { w.template expired<What>(node); }) wheel_->template expired<What>(node);
        ++counts_.of(Kind).fired;
        COGWHEEL_PROBE(4, fire, this, &node, node.deadline().value, node.completion());
    }
    /// Counts a timer that was collected.
    template <timer_kind Kind>
    void note_cancel([[maybe_unused]] const timer_node& node) noexcept {
        ++counts_.of(Kind).cancelled;
        COGWHEEL_PROBE(2, cancel, this, &node);
    }

    time_point start_of(tick t) const noexcept { return time_.start_of(t); }
    time_point not_before() noexcept { return time_.not_before(); }
    /// The same without the lock, on any thread that may use the wheel.
    COGWHEEL_ALWAYS_INLINE time_point not_before_unlocked() noexcept {
        time_point now;
        return time_.try_not_before_unlocked(now) ? now : not_before_slowly();
    }

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
    /// Returns nullptr if there was no such call.
    template <class Extension>
    const Extension* find_extension() const noexcept {
        return extensions_.template find<Extension>();
    }

protected:
    // ---- life (wheel_engine_life.hpp) ----

    wheel_engine();
    ~wheel_engine() = default;

    /// Opens the wheel. Errors: std::bad_alloc, those of the driver and of is_usable(); the wheel is not open then.
    void start(const asio::any_io_executor& executor, const wheel_options& options);

    void make_wheel(const wheel_options& options);

    void close(lock_type& lock) noexcept;

    /// Destroys all pending timers without calling their handlers. May be called twice.
    void shutdown(lock_type& lock);

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
        return n;
    }

    template <class F>
    std::size_t stop(F each) {
        const std::size_t n = abort_all(each);
        room_ = 0;
        return n;
    }

    /// Returns whether a turn has a timer to fire by the clock. May be true for a timer that has been moved to later.
    bool is_behind() {
        const auto due = wheel_->next_due();
        return due && *due <= time_.reached();
    }

    /// Lets run() return, now that the last timer has gone.
    void let_run_return() noexcept;

    // ---- what it has counted (wheel_engine_stats.hpp) ----

    /// Fills `s`, except for the quantiles: the caller reads them off the copy that this returns, without the lock.
    lateness_histogram stats(wheel_stats& s);
    /// Counts `count` slots of a level, from `first` on. Returns false if the level has no further slots.
    bool count_slots(std::size_t level, std::size_t first, std::size_t count, level_census& census) const noexcept;
    std::size_t levels() const noexcept;
    nanoseconds reach_of(std::size_t level) const noexcept;
    static void finish(wheel_stats& s, const lateness_histogram& lateness) noexcept {
        s.lateness.p50 = lateness.quantile(0.5);
        s.lateness.p99 = lateness.quantile(0.99);
        s.lateness.max = lateness.max();
    }
    level_stats level_of(const level_census& census) const noexcept;
    void watch_turns(turn_watch<lock_type>& watch) noexcept { watch_ = &watch; }
    nanoseconds time_left(nanoseconds until) const noexcept;
    std::uint64_t due(tick at) const noexcept;
    slow_turn last_turn() const noexcept;
    wheel_snapshot snapshot();

    typename Locking::mutex mutex_;
    std::optional<Wheel> wheel_;

private:
    friend turn_hooks<wheel_engine>; // uses last_turn(), present() and snapshot()

    // ---- the driver ----

    static constexpr std::uint64_t never = ~std::uint64_t{0};

    class posted_turn;

    template <class T>
    [[gnu::noinline]] T wake_one_with(T result) noexcept {
        mutex_.wake_one();
        return result;
    }
    [[gnu::noinline]] bool unlock_empty() noexcept {
        let_run_return();
        mutex_.unlock();
        return true;
    }

    [[gnu::noinline]] time_point not_before_slowly() noexcept {
        if (!time_.uses_counter()) return Clock::now();
        const guard lock(mutex_);
        return time_.not_before();
    }

    // This thread may be the only one that uses the wheel.
    void consider_bias() noexcept {
        if constexpr (requires { mutex_.consider_bias(); }) mutex_.consider_bias();
    }

    bool turn_coming() const noexcept { return turn_posted_.is_set() || wait_cancelled_; }

    // To be called after each change of what it reads. Not inlined, as what else turns and the driver's waits call in
    // several places, but no short path of a timer.
    [[gnu::noinline]] void note_driver() noexcept { wake_before_ = wake_before(); }
    // While a turn runs or is coming, only the first timer that is due before a planned wake-up matters: the end of the
    // turn then plans anew.
    std::uint64_t wake_before() const noexcept {
        return (turning_ || turn_coming()) && (planned_ == never || armed_earlier_) ? 0 : planned_;
    }

    [[gnu::noinline]] admission reject() noexcept {
        counts_.reject();
        return stopped() ? admission::stopped : admission::full;
    }

    // Makes sure that a turn comes in time. During a turn, its end arms the driver.
    // always_inline: g++ may otherwise call it from reschedule(), for 13 instructions more.
    COGWHEEL_ALWAYS_INLINE void wake_by(const due_tick& a) {
        if (has_to_wake(a)) [[unlikely]]
            wake_earlier_by(a);
    }
    COGWHEEL_ALWAYS_INLINE bool has_to_wake(const due_tick& a) const noexcept {
        COGWHEEL_ASSERT(wake_before_ == wake_before());
        // If such a clock was set forward, the driver's wait may still be on its way although its tick has passed.
        if constexpr (!Clock::is_steady)
            if (a.at_once || a.due <= wheel_->now()) return true;
        return a.due.value < wake_before_;
    }
    void wake_earlier_by(due_tick a);
    void plan(tick until, bool after_turn = false);

    // Makes the driver's wait come as a turn now. Preconditions: a wait is planned.
    [[gnu::noinline]] void cancel_wait() noexcept {
        driver_->cancel_wait();
        planned_ = never;
        wait_cancelled_ = true;
        note_driver();
    }

    void wait_over(std::uint64_t serial);
    static void wait_lost(wake_target& target, std::uint64_t serial) noexcept;
    void forget_wait() noexcept;
    void turn_lost() noexcept;
    void replace_lost_turn() noexcept;

    // ---- turns (wheel_engine_turns.hpp) ----

    struct counted_turn;
    void run_turn(lock_type& lock, bool woken = false);
    bool turn(lock_type& lock, bool woken);
    void deliver_ended(lock_type& lock, std::uint32_t& budget);
    void end_turn(lock_type& lock, bool more);
    nanoseconds present() const noexcept { return time_.present(); }
    // Records the lateness of the timers that have fired since the last call, which were due at one tick.
    [[gnu::noinline]] void record_lateness() noexcept {
        if (const std::uint64_t n = counts_.fired() - counts_.recorded(); n != 0)
            counts_.record_lateness(turn_start_ - time_.start_since_origin(counts_.due()), n);
    }

    void recycle_if_done(lock_type& lock) noexcept {
        if (closed_) [[unlikely]]
            recycle_unless_used(lock);
    }
    void recycle_unless_used(lock_type& lock) noexcept;
    void end_life(lock_type& lock) noexcept;

    wheel_time<Clock> time_{std::chrono::milliseconds(1), {}, false};
    bool stopped() const noexcept { return room_ == 0; }

    std::uint64_t wake_before_ = never;        // the driver does not wake the wheel by these ticks: see note_driver()
    std::size_t room_ = 0;                     // the most pending timers; zero: the wheel has stopped
    std::uint64_t planned_ = never;            // the tick for which the driver is armed
    std::atomic<std::uint64_t> serial_ = 0;    // the number of the driver's present wait
    std::atomic<std::uint64_t> lost_wait_ = 0; // the number of the last wait that was destroyed without a call
    bool wait_is_useless_ = false;             // the context has just destroyed one before its time
    post_flag turn_posted_;
    bool wait_cancelled_ = false;  // the driver's wait was cancelled, and will come as a turn
    bool rearmed_quickly_ = false; // the last time the wheel became empty, a new timer came before the next turn
    bool turning_ = false;
    bool armed_earlier_ = false; // a timer was armed for before planned_ while a turn ran or was coming
    std::thread::id turn_thread_;
    bool loop_stopped_ = false; // a handler of this turn stopped the context
    bool closed_ = false;
    bool shut_down_ = false;
    std::size_t users_ = 0;
    std::uint32_t work_per_turn_ = 0;
    engine_counts counts_;
    nanoseconds turn_start_{};
    turn_watch<lock_type>* watch_ = nullptr; // an extension, if a user wants to be told of turns
    ended_timers ended_;
    driver_memory driver_memory_;
    std::optional<wheel_driver<Clock>> driver_;
    asio::any_io_executor executor_;   // empty while the wheel is not open
    asio::io_context* loop_ = nullptr; // nullptr if the context is of another kind, or not known
    wheel_extensions extensions_;
};

} // namespace cogwheel::inline v0_1::detail::inline COGWHEEL_ASIO

#include <cogwheel/asio/detail/wheel_engine_driver.hpp>
#include <cogwheel/asio/detail/wheel_engine_life.hpp>
#include <cogwheel/asio/detail/wheel_engine_stats.hpp>
#include <cogwheel/asio/detail/wheel_engine_turns.hpp>
