// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The engine: the base of a wheel's impl. It holds the lock, the core wheel, the driver, the counts, and the timers
// that have ended but are not delivered yet. It runs the turns. A node's function completes the node (operation.hpp).
// Thread safety: all public functions need the lock, except lock() and not_before_unlocked().
//
// Rules of the driver (docs/adr/0009, 0022):
// - The engine arms it only for an earlier wake-up. A turn is bounded, and at its end arms the driver for the next due
//   tick. A posted turn (for instance to abort waits) leaves a planned wake-up as it is.
// - An empty wheel arms nothing. When the last timer goes, the engine cancels the driver's wait, so that run() returns.
//   The completion of that wait serves as the turn that delivers an aborted handler.
// - If new timers came before that completion, the engine posts a turn the next time. It cancels the wait only if the
//   wheel is then still empty. So a connection that arms and cancels for each request pays no system call for each.
// - A turn comes even without memory. If the engine cannot post it, it cancels the planned wait. If no wait is planned,
//   the engine arms one in reserved memory (wheel_driver.hpp).
#pragma once

#include <cogwheel/asio/detail/clock/wheel_driver.hpp>
#include <cogwheel/asio/detail/clock/wheel_time.hpp>
#include <cogwheel/asio/detail/engine/ended_timers.hpp>
#include <cogwheel/asio/detail/engine/engine_counts.hpp>
#include <cogwheel/asio/detail/engine/operation.hpp>
#include <cogwheel/asio/detail/engine/probe.hpp>
#include <cogwheel/asio/detail/engine/turn_watch.hpp>
#include <cogwheel/asio/detail/engine/unchecked_lock.hpp>
#include <cogwheel/asio/detail/engine/wheel_extension.hpp>
#include <cogwheel/asio/detail/executor/executors.hpp>
#include <cogwheel/asio/wheel_options.hpp>
#include <cogwheel/counts/slow_turn.hpp>
#include <cogwheel/counts/wheel_stats.hpp>
#include <cogwheel/detail/assertion.hpp>
#include <cogwheel/detail/exceptions.hpp>
#include <cogwheel/detail/post_flag.hpp>
#include <cogwheel/wheel/detail/level_census.hpp>
#include <cogwheel/wheel/observed_wheel.hpp>
#include <cogwheel/wheel/timing_wheel.hpp>

#include COGWHEEL_ASIO_HEADER(require.hpp)

#include <atomic>
#include <mutex>
#include <thread>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

template <class Clock, class Locking, timing_wheel Core>
class wheel_impl;

template <class Clock, class Locking, timing_wheel Core>
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

    // For the short paths. They call functions only at their end, for the rare cases, so that they save no registers.

    /// Takes the lock, unless another thread has it or is the mutex's owner.
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
    /// Does the same after a timer was cancelled. Returns true.
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

    /// Admits a timer, or counts a refusal. `replaces`: the timer replaces an accepted one; max_pending does not apply.
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

    /// Arms the node if that takes a few stores: no wake-up to plan, no new entry. Otherwise only returns false.
    template <timer_kind Kind>
    COGWHEEL_ALWAYS_INLINE bool try_arm(timer_node& node, const due_tick& a) noexcept {
        if constexpr (wheel_with_short_path<Core>)
            if (!has_to_wake(a) && wheel_->take_over(node, a.due)) [[likely]] {
                ++counts_.of(Kind).scheduled;
                COGWHEEL_PROBE(3, schedule, this, &node, a.due.value);
                return true;
            }
        return false;
    }
    /// Does the same for rearm(). The driver may have to wake earlier even if the node's entry serves: it was armed for
    /// the deadline, and an entry that was taken over may lie before the deadline.
    COGWHEEL_ALWAYS_INLINE bool try_rearm(timer_node& node, const due_tick& a) noexcept {
        if constexpr (wheel_with_short_path<Core>)
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

    /// Does the same for a node that was disarmed with all others: see outcome::collected.
    template <timer_kind Kind>
    [[gnu::noinline]] void defer_collected(timer_node& node) noexcept { // as abort()
        note_cancel<Kind>(node);
        defer(outcome::aborted, node);
    }

    /// Leaves the completion to a later turn. Preconditions: a turn is requested or runs; node not armed, not deferred.
    void defer(outcome how, timer_node& node) noexcept { ended_.push(how, node); }
    /// Does the same for the aborted timer of a timeout(). withdraw_cancellation() undoes it.
    void defer_cancellation(pending_cancellation& c, timer_node& node) noexcept { ended_.push_cancellation(c, node); }
    void withdraw_cancellation(pending_cancellation& c) noexcept { ended_.erase_cancellation(c); }

    /// Ends a timer early (see is_early()); the caller defers the rest. Errors: if discarded, those of request_turn().
    template <timer_kind Kind>
    void end_early(outcome how, timer_node& node) {
        if (how == outcome::collected) return note_cancel<Kind>(node); // it is disarmed, and a turn will come
        request_turn();
        disarm<Kind>(node);
    }

    /// Makes sure that a turn comes soon. Errors: none if the driver can be armed without memory, else std::bad_alloc.
    void request_turn();

    /// Does the same before the caller disarms one timer. If that is the last one, cancels the driver's wait instead.
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
    /// Returns true if another thread runs a turn.
    bool in_turn_elsewhere() const noexcept { return turning_ && turn_thread_ != std::this_thread::get_id(); }

    /// Returns true if the timer that fired before this one was due at another tick. Then call begin_tick(), which
    /// records the lateness of that tick, and completes the node again.
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
        if constexpr (requires(Core& w) { w.template expired<What>(node); }) wheel_->template expired<What>(node);
        ++counts_.of(Kind).fired;
        COGWHEEL_PROBE(4, fire, this, &node, node.deadline().value, node.completion());
    }
    template <timer_kind Kind>
    void note_cancel([[maybe_unused]] const timer_node& node) noexcept {
        ++counts_.of(Kind).cancelled;
        COGWHEEL_PROBE(2, cancel, this, &node);
    }

    time_point start_of(tick t) const noexcept { return time_.start_of(t); }
    time_point not_before() noexcept { return time_.not_before(); }
    /// Does the same without the lock, on any thread that may use the wheel.
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
    template <class Extension>
    const Extension* find_extension() const noexcept {
        return extensions_.template find<Extension>();
    }

protected:
    // ---- life ----

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

    /// Returns true if a timer is due by the clock. May be true for a timer that was moved to a later tick.
    bool is_behind() {
        const auto due = wheel_->next_due();
        return due && *due <= time_.reached();
    }

    /// Lets run() return, now that the last timer has gone.
    void let_run_return() noexcept;

    // ---- what it has counted ----

    /// Fills `s`, except for the quantiles. The caller computes these from the returned copy, without the lock.
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
    std::optional<Core> wheel_;

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

    // Called after each change of what wake_before() reads. Not inlined: several places call it, but no short path.
    [[gnu::noinline]] void note_driver() noexcept { wake_before_ = wake_before(); }
    // While a turn runs or is coming, only the first timer before a planned wake-up matters: the turn's end plans anew.
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
        // If the clock was set forward, the driver's wait may still be on its way although its tick has passed.
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

    // ---- turns ----

    struct counted_turn;
    void run_turn(lock_type& lock, bool woken = false);
    bool turn(lock_type& lock, bool woken);
    void deliver_ended(lock_type& lock, std::uint32_t& budget);
    void end_turn(lock_type& lock, bool more);
    nanoseconds present() const noexcept { return time_.present(); }
    // Records the lateness of the timers that have fired since the last call. All were due at one tick.
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
    bool wait_is_useless_ = false;             // the context has just destroyed a wait before its time
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

// ---- life: a wheel opens, closes, ends with its context, and is recycled ----

template <class Clock, class Locking, timing_wheel Core>
[[gnu::cold]] wheel_engine<Clock, Locking, Core>::wheel_engine()
    : wake_target([](wake_target& t, std::uint64_t serial) { static_cast<wheel_engine&>(t).wait_over(serial); },
                  &wheel_engine::wait_lost) {}

template <class Clock, class Locking, timing_wheel Core>
[[gnu::cold]] void wheel_engine<Clock, Locking, Core>::start(const asio::any_io_executor& executor,
                                                             const wheel_options& options) {
    const bool coarse = options.tick >= std::chrono::milliseconds(1);
    const auto kind = options.tick_clock;
    bool counter = kind == tick_clock_kind::counter || (kind == tick_clock_kind::automatic && coarse);
    if constexpr (tick_counter<Clock>::exists) counter = tick_counter<Clock>::is_usable(counter);
    const guard lock(mutex_); // a wait of the previous wheel may still arrive
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
    time_ = wheel_time<Clock>(options.tick, Clock::now(), counter);
    room_ = options.max_pending;
    work_per_turn_ = options.work_per_turn;
    ::new (&counts_) engine_counts; // an assignment would copy 9 KB
    closed_ = false;
    note_driver();
    consider_bias();
}

template <class Clock, class Locking, timing_wheel Core>
[[gnu::cold]] void wheel_engine<Clock, Locking, Core>::make_wheel(const wheel_options& options) {
    if constexpr (levelled_wheel<Core>)
        if (!options.levels.empty()) return void(wheel_.emplace(nodes, options.levels, tick{}));
    wheel_.emplace(nodes, options.slots, tick{});
}

template <class Clock, class Locking, timing_wheel Core>
[[gnu::cold]] void wheel_engine<Clock, Locking, Core>::close(lock_type& lock) noexcept {
    if (shut_down_) return;
    closed_ = true;
    COGWHEEL_TRY {
        if (wheel_->size() != 0) request_turn();
    }
    COGWHEEL_CATCH {
        // The collected timers wait for the next turn. If none comes, the context's end destroys them.
    }
    collect_all([](timer_node&) {});
    room_ = 0;
    recycle_if_done(lock);
}

template <class Clock, class Locking, timing_wheel Core>
[[gnu::cold]] void wheel_engine<Clock, Locking, Core>::shutdown(lock_type& lock) {
    shut_down_ = true;
    room_ = 0;
    loop_ = nullptr;
    driver_.reset();
    extensions_.shut_down();
    executor_ = nullptr; // a strand must not outlive its service, which the context may destroy before ours
    completion_context c{*this, lock, outcome::collected};
    if (wheel_) wheel_->clear([&](timer_node& n) { n.complete(&c); });
    c.how = outcome::destroyed;
    if (watch_ != nullptr) watch_->drop(lock);
    while (timer_node* n = ended_.pop()) n->complete(&c); // out of all lists first: a handler may own the wheel
}

template <class Clock, class Locking, timing_wheel Core>
[[gnu::cold, gnu::noinline]] void wheel_engine<Clock, Locking, Core>::recycle_unless_used(lock_type& lock) noexcept {
    if (!turning_ && !turn_posted_.is_set() && ended_.empty() && users_ == 0 && !shut_down_) end_life(lock);
}

template <class Clock, class Locking, timing_wheel Core>
[[gnu::cold]] void wheel_engine<Clock, Locking, Core>::end_life(lock_type& lock) noexcept {
    closed_ = false;
    driver_.reset();
    ++serial_; // so that the next wheel ignores a wait that has not arrived yet
    planned_ = never;
    wait_cancelled_ = rearmed_quickly_ = armed_earlier_ = false;
    note_driver();
    wheel_.reset();
    watch_ = nullptr;
    wheel_extensions gone = std::move(extensions_);
    executor_ = nullptr;
    const bool usable = nodes.release_all() && waits.release_all();
    const relock_on_exit relock(lock);
    lock.unlock();
    gone.clear(); // without the lock: the receiver of slow turns is the user's code
    if (usable) static_cast<wheel_impl<Clock, Locking, Core>&>(*this).recycle();
}

// ---- the driver: when it is armed and called off, and what its waits and the posted turns do ----

/// A turn on its way through the executor.
template <class Clock, class Locking, timing_wheel Core>
class wheel_engine<Clock, Locking, Core>::posted_turn {
public:
    explicit posted_turn(wheel_engine& e) noexcept : engine_(&e) {}
    posted_turn(posted_turn&& other) noexcept : engine_(std::exchange(other.engine_, nullptr)) {}
    posted_turn& operator=(posted_turn&&) = delete;
    ~posted_turn() {
        if (engine_ != nullptr) engine_->turn_lost();
    }
    [[gnu::noinline]] void operator()() { // Asio calls it in two places
        wheel_engine& e = *std::exchange(engine_, nullptr);
        lock_type lock = e.lock();
        e.turn_posted_.clear();
        e.note_driver();
        e.run_turn(lock);
    }

private:
    wheel_engine* engine_;
};

template <class Clock, class Locking, timing_wheel Core>
void wheel_engine<Clock, Locking, Core>::request_turn() {
    if (turning_ || turn_coming() || shut_down_) return;
    COGWHEEL_TRY {
        turn_posted_.begin();
        asio::require(executor_, asio::execution::blocking.never).execute(posted_turn(*this));
        if (turn_posted_.succeed()) [[likely]]
            return note_driver();
    }
    COGWHEEL_CATCH { turn_posted_.clear(); }
    if (planned_ != never) return cancel_wait();
    if (!wait_is_useless_) plan(time_.reached() + 1); // not at once: memory may be available again by then
}

// Not inlined: the usual cancel() saves no registers for it.
template <class Clock, class Locking, timing_wheel Core>
[[gnu::noinline]] void wheel_engine<Clock, Locking, Core>::let_run_return() noexcept {
    if (planned_ == never || turning_ || turn_coming()) return;
    if (!rearmed_quickly_) return cancel_wait();
    COGWHEEL_TRY { request_turn(); }
    COGWHEEL_CATCH { // never: while a wait is planned, request_turn() does not throw
    }
}

template <class Clock, class Locking, timing_wheel Core>
[[gnu::noinline]] void wheel_engine<Clock, Locking, Core>::wake_earlier_by(due_tick a) {
    if (turning_ || turn_coming()) {
        armed_earlier_ = true;
        return note_driver();
    }
    if (a.at_once || a.due <= wheel_->now() || (planned_ == never && (wheel_->size() != 0 || !ended_.empty())))
        request_turn();
    else if (a.due.value < planned_)
        plan(a.due);
}

// Arms the driver. Preconditions: no turn runs or is coming.
// Errors: std::bad_alloc; a replaced wait then comes as a turn. After a turn, a turn comes in any case.
template <class Clock, class Locking, timing_wheel Core>
void wheel_engine<Clock, Locking, Core>::plan(tick until, bool after_turn) {
    const std::uint64_t serial = serial_ + 1;
    COGWHEEL_TRY { driver_->arm(start_of(until), serial); }
    COGWHEEL_CATCH {
        lost_wait_ = 0;
        wait_cancelled_ = planned_ != never;
        planned_ = never;
        note_driver();
        if (after_turn) {
            if (wait_cancelled_) return;
            request_turn();
        }
        COGWHEEL_RETHROW; // after a turn out of run(): poll() would call the next one at once, again and again
    }
    serial_ = serial;
    wake_before_ = planned_ = until.value; // as note_driver(): no turn is coming
    if (lost_wait_ == serial) [[unlikely]] {
        forget_wait();
        request_turn();
    }
}

// The wait has arrived, or will never arrive.
template <class Clock, class Locking, timing_wheel Core>
void wheel_engine<Clock, Locking, Core>::forget_wait() noexcept {
    wait_cancelled_ = false;
    planned_ = never;
    note_driver();
}

template <class Clock, class Locking, timing_wheel Core>
void wheel_engine<Clock, Locking, Core>::wait_over(std::uint64_t serial) {
    lock_type lock(mutex_);
    bool woken = false;
    if (serial == serial_) {
        if (wait_cancelled_)
            rearmed_quickly_ = wheel_ && wheel_->size() != 0;
        else
            woken = true;
        forget_wait();
    } else if (planned_ != never || turn_coming()) {
        return; // another wait or turn has replaced this one
    }
    if (woken) counts_.wake_up();
    run_turn(lock, woken);
}

// The next two handle a wait or a posted turn that was destroyed without a call: the executor had no memory, or its
// context is gone. A failing post or arm() calls them with the lock held, and so may an executor that drops a function.
// So they first look without the lock whether the post or arm() is still under way.
template <class Clock, class Locking, timing_wheel Core>
[[gnu::cold]] void wheel_engine<Clock, Locking, Core>::wait_lost(wake_target& target, std::uint64_t serial) noexcept {
    wheel_engine& e = static_cast<wheel_engine&>(target);
    // plan() reads lost_wait_ after it sets serial_: one of the two sees the other's store. Earlier waits have no
    // effect.
    for (std::uint64_t last = e.lost_wait_; last < serial && !e.lost_wait_.compare_exchange_weak(last, serial);) {
    }
    if (serial != e.serial_) return;
    const guard lock(e.mutex_);
    if (serial != e.serial_) return;
    // A wait that is lost before its time went with its queue, which would destroy another wait at once, too.
    e.wait_is_useless_ = e.planned_ == never || e.planned_ > e.time_.reached().value;
    e.forget_wait();
    e.replace_lost_turn();
    e.wait_is_useless_ = false;
}

template <class Clock, class Locking, timing_wheel Core>
[[gnu::cold]] void wheel_engine<Clock, Locking, Core>::turn_lost() noexcept {
    if (!turn_posted_.lose()) return; // request_turn() continues
    const guard lock(mutex_);
    turn_posted_.clear();
    note_driver();
    replace_lost_turn();
}

template <class Clock, class Locking, timing_wheel Core>
[[gnu::cold]] void wheel_engine<Clock, Locking, Core>::replace_lost_turn() noexcept {
    if (!wheel_ || (wheel_->size() == 0 && ended_.empty())) return;
    COGWHEEL_TRY { request_turn(); }
    COGWHEEL_CATCH {
        // The next call that arms or ends a timer requests a turn.
    }
}

// ---- turns: complete cancelled timers, fire the due ones within the budget, plan the next turn ----

template <class Clock, class Locking, timing_wheel Core>
void wheel_engine<Clock, Locking, Core>::run_turn(lock_type& lock, bool woken) {
    if (turning_ || !wheel_ || shut_down_) return; // a handler runs the context; the outer turn goes on
    turning_ = true;
    turn_thread_ = std::this_thread::get_id();
    note_driver();
    bool more = !ended_.empty();
    COGWHEEL_TRY {
        if (more || wheel_->size() != 0) {
            more = turn(lock, woken);
            if (watch_ != nullptr) [[unlikely]]
                watch_->turn_ended(lock);
        } else if (woken) {
            counts_.end_empty_wakeup();
        }
    }
    COGWHEEL_CATCH {
        // A handler threw. As in Asio, the exception leaves run(). The next turn delivers the rest of the batch.
        end_turn(lock, true);
        COGWHEEL_RETHROW;
    }
    end_turn(lock, more);
}

/// Counts a turn, also if a handler throws.
template <class Clock, class Locking, timing_wheel Core>
struct wheel_engine<Clock, Locking, Core>::counted_turn {
    wheel_engine& engine;
    bool woken;
    std::uint32_t deliveries = engine.work_per_turn_; // ended timers that the turn may still complete
    bool exhausted = false;
    nanoseconds begin = engine.time_.begin_turn();
    std::uint64_t fired_before = engine.counts_.recorded(); // between turns, all that have fired are recorded

    ~counted_turn() {
        if constexpr (requires(Core& w) { w.turn_ends(); }) engine.wheel_->turn_ends();
        engine.record_lateness();
        if (deliveries == 0 && !engine.ended_.empty()) exhausted = true;
        const nanoseconds end = engine.present();
        const nanoseconds duration = end - begin;
        const std::uint64_t fired = engine.counts_.recorded() - fired_before;
        engine.counts_.end_turn(duration, fired, end, woken, exhausted);
        COGWHEEL_PROBE(3, turn_end, &engine, fired, duration.count());
    }
};

template <class Clock, class Locking, timing_wheel Core>
bool wheel_engine<Clock, Locking, Core>::turn(lock_type& lock, bool woken) {
    counts_.begin_turn();
    if constexpr (requires(Core& w) { w.turn_begins(); }) wheel_->turn_begins();
    counted_turn counted{*this, woken};
    COGWHEEL_PROBE(3, turn_begin, this, counted.begin.count(), time_.tick_length().count());
    loop_stopped_ = false;
    deliver_ended(lock, counted.deliveries); // timers cancelled before this turn complete first
    if (loop_stopped_ || wheel_->size() == 0) return wheel_->size() != 0;
    completion_context c{*this, lock, outcome::expired};
    turn_start_ = counted.deliveries == work_per_turn_ ? counted.begin : present();
    const auto result = wheel_->advance(time_.reached(turn_start_), work_budget::expiries(work_per_turn_), &c);
    deliver_ended(lock, counted.deliveries);
    counted.exhausted = result.spent;
    return result.more;
}

template <class Clock, class Locking, timing_wheel Core>
void wheel_engine<Clock, Locking, Core>::deliver_ended(lock_type& lock, std::uint32_t& budget) {
    completion_context c{*this, lock, outcome::expired};
    for (; budget != 0 && !loop_stopped_; --budget) {
        timer_node* node = ended_.pop(&c.how);
        if (node == nullptr) break;
        node->complete(&c);
    }
}

template <class Clock, class Locking, timing_wheel Core>
void wheel_engine<Clock, Locking, Core>::end_turn(lock_type& lock, bool more) {
    turning_ = false;
    note_driver();
    consider_bias();
    if (shut_down_) return;
    if (more || !ended_.empty()) {
        request_turn();
    } else if (planned_ == never || armed_earlier_ || wheel_->size() == 0) {
        armed_earlier_ = false; // otherwise, no timer is due before the planned wake-up
        if (const auto due = wheel_->next_due()) {
            if (due->value < planned_ && !turn_coming()) plan(*due, true);
        } else {
            rearmed_quickly_ = false;
            if (planned_ != never && !turn_coming()) cancel_wait();
        }
    }
    if (watch_ != nullptr) [[unlikely]]
        watch_->driver_armed();
    recycle_if_done(lock);
}

// ---- what those who watch it may ask; all need the lock ----

/// How many entries a look for due timers reads under the lock: about 30 us.
inline constexpr std::size_t look_for_due = 32'768;

template <class Clock, class Locking, timing_wheel Core>
std::chrono::nanoseconds wheel_engine<Clock, Locking, Core>::time_left(nanoseconds until) const noexcept {
    const nanoseconds now = present();
    return until > now ? until - now : nanoseconds::zero();
}

/// Returns how many timers are due at `at` or before, counted by their entries. While the driver waits, returns 0, and
/// counts no entries of cancelled timers: no timer is due before the next wake-up.
template <class Clock, class Locking, timing_wheel Core>
std::uint64_t wheel_engine<Clock, Locking, Core>::due(tick at) const noexcept {
    if constexpr (counted_wheel<Core>) {
        const bool in_time = planned_ != never && at.value < planned_ && !turning_ && !turn_coming();
        if (in_time || wheel_->size() == 0) return 0;
        const std::size_t entries = wheel_->due(at, look_for_due);
        return entries < wheel_->size() ? entries : wheel_->size();
    }
    return 0;
}

template <class Clock, class Locking, timing_wheel Core>
lateness_histogram wheel_engine<Clock, Locking, Core>::stats(wheel_stats& s) {
    record_lateness();
    counts_.read(s, present());
    s.pending = wheel_->size();
    if (s.pending != 0 && (turning_ || turn_coming()))
        s.next_due = nanoseconds::zero();
    else if (s.pending != 0 && planned_ != never)
        s.next_due = time_left(time_.start_since_origin({planned_}));
    if constexpr (requires(const Core& w) { w.take_overs(); }) s.take_overs = wheel_->take_overs();
    if constexpr (counted_wheel<Core>) {
        s.due = due(time_.reached());
        s.entries = wheel_->entries();
        s.dead_entries = s.entries - s.pending;
        s.sweeps = wheel_->sweeps();
        s.bytes = wheel_->footprint() + nodes.footprint() + waits.footprint();
    }
    return counts_.quantiles();
}

template <class Clock, class Locking, timing_wheel Core>
std::size_t wheel_engine<Clock, Locking, Core>::levels() const noexcept {
    if constexpr (counted_wheel<Core>)
        return wheel_->levels();
    else
        return 0;
}

template <class Clock, class Locking, timing_wheel Core>
bool wheel_engine<Clock, Locking, Core>::count_slots(std::size_t level, std::size_t first, std::size_t count,
                                                     level_census& census) const noexcept {
    if constexpr (counted_wheel<Core>)
        return level < wheel_->levels() && wheel_->count_slots(level, first, count, census);
    else
        return false;
}

/// Returns how far ahead the slots of a level reach. Preconditions: level < levels().
template <class Clock, class Locking, timing_wheel Core>
std::chrono::nanoseconds wheel_engine<Clock, Locking, Core>::reach_of(std::size_t level) const noexcept {
    level_census census;
    count_slots(level, 0, 0, census);
    return time_.start_since_origin({census.reach});
}

template <class Clock, class Locking, timing_wheel Core>
level_stats wheel_engine<Clock, Locking, Core>::level_of(const level_census& census) const noexcept {
    return {.slot = time_.start_since_origin({census.slot_ticks}),
            .slots = census.slots,
            .occupied_slots = census.occupied,
            .fullest_slot = census.fullest,
            .entries = census.entries,
            .cascades = census.cascades,
            .hand = census.slots == 0 ? 0 : time_.reached().value / census.slot_ticks % census.slots};
}

/// Returns the counts and the slots, under one lock. Errors: std::bad_alloc.
template <class Clock, class Locking, timing_wheel Core>
wheel_snapshot wheel_engine<Clock, Locking, Core>::snapshot() {
    wheel_snapshot s;
    finish(s, stats(s));
    for (std::size_t level = 0; level < levels(); ++level) {
        level_census census;
        count_slots(level, 0, wheel_levels::max_slots, census);
        s.levels.push_back(level_of(census));
    }
    return s;
}

template <class Clock, class Locking, timing_wheel Core>
slow_turn wheel_engine<Clock, Locking, Core>::last_turn() const noexcept {
    const auto [took, fired] = counts_.last_turn();
    return {.took = took, .fired = fired, .waiting = due(wheel_->now()), .skipped = 0};
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
