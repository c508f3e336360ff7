// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What turns a wheel: the core, the driver that wakes it, the lock, the counts, and what ended but is not delivered yet.
//
// The driver's rules: it is armed only for an earlier wake; turns are bounded and yield; a turn ends by arming for the next due
// tick; an empty wheel arms nothing. Cancelling the last timer brings the wake near rather than calling it off, because a
// connection that arms and cancels for every request would otherwise pay a system call for each.
//
// Whoever puts a node in here answers for it through its function (operation.hpp). Everything public needs the lock.
#pragma once

#include <cogwheel/asio/detail/clock_points.hpp>
#include <cogwheel/asio/detail/ended_limits.hpp>
#include <cogwheel/asio/detail/operation.hpp>
#include <cogwheel/asio/detail/wheel_driver.hpp>
#include <cogwheel/asio/wheel_options.hpp>
#include <cogwheel/observe/lateness_histogram.hpp>
#include <cogwheel/observe/wheel_stats.hpp>
#include <cogwheel/wheel/coalescing.hpp>
#include <cogwheel/wheel/detail/exceptions.hpp>
#include <cogwheel/wheel/far_queue.hpp>
#include <cogwheel/wheel/timing_wheel.hpp>

#include <asio/post.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>

namespace cogwheel::detail {

/// A delay, and the clock reading that it counts from. The other way to say when is a time_point.
template <class Clock>
struct from_now {
    std::chrono::nanoseconds delay;
    typename Clock::time_point now;
};

/// Anywhere in between; a search for company is what it costs.
template <class Clock>
struct within {
    typename Clock::time_point earliest, latest;
};

/// A delay and the clock reading that it counts from, rounded up to a multiple of `grain`.
template <class Clock>
struct rounded {
    from_now<Clock> wanted;
    std::chrono::nanoseconds grain;
};

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
        const aim a = aim_at(when);
        wake_by(a); // first, as it may fail; a wake too many does no harm
        wheel_->schedule(node, a.due);
        ++counts_.scheduled;
    }

    /// The same for a pending one.
    template <class When>
    void rearm(timer_node& node, When when) {
        const aim a = aim_at(when);
        wake_by(a);
        wheel_->reschedule(node, a.due);
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
        defer(outcome::aborted, node);
    }

    /// A turn to come delivers it. Preconditions: a turn is requested, or this is one; the node is neither armed nor deferred.
    void defer(outcome how, timer_node& node) noexcept { ended_[static_cast<std::size_t>(how)].push(node); }
    /// The same for a limit that is aborted, until it is called off.
    void defer_limit(ended_limits::place& at, timer_node& node) noexcept { ended_limits_.push(at, node); }
    void call_off(ended_limits::place& at) noexcept { ended_limits_.erase(at); }

    /// Makes sure that there is a turn soon. Errors: those of a post.
    void request_turn() {
        if (turning_ || turn_posted_ || shut_down_) return;
        asio::post(*executor_, [this] {
            lock_type lock(mutex_);
            turn_posted_ = false;
            run_turn(lock);
        });
        turn_posted_ = true;
    }

    void note_expiry(const timer_node& node) noexcept {
        ++counts_.fired;
        lateness_.record(turn_start_ - scale_.start_of(node.deadline()));
    }

    time_point start_of(tick t) const noexcept {
        return point_after(origin_, scale_.start_of(t)); // rounded up: else a turn would come too early
    }

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
        nodes.prefer_huge_pages(options.huge_pages);
        waits.prefer_huge_pages(options.huge_pages);
        COGWHEEL_TRY {
            make_wheel(options);
            wheel_->reserve(options.reserve);
            driver_.emplace(executor, *this);
        }
        COGWHEEL_CATCH {
            wheel_.reset();
            COGWHEEL_RETHROW;
        }
        executor_.emplace(executor);
        scale_ = tick_scale(options.tick);
        options_ = options;
        origin_ = Clock::now();
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
        stop([](timer_node&) {});
        recycle_if_done(lock);
    }

    /// Everything pending is destroyed instead of delivered. May come twice.
    void shutdown(lock_type& lock) {
        shut_down_ = stopped_ = true;
        driver_.reset();
        executor_.reset(); // a strand must not outlive its service, which may be younger than ours
        completion c{*this, lock, outcome::collected};
        if (wheel_) wheel_->clear([&](timer_node& n) { n.on_expiry()(n, &c); });
        c.how = outcome::destroyed;
        while (timer_node* n = next_ended()) n->on_expiry()(*n, &c); // out of all lists: a handler may own the wheel
    }

    /// Ends all with outcome::aborted, after each(node).
    template <class F>
    std::size_t abort_all(F each) {
        const std::size_t n = wheel_->size();
        if (n == 0) return 0;
        COGWHEEL_TRY { request_turn(); }
        COGWHEEL_CATCH {
            if (planned_ == never) COGWHEEL_RETHROW; // else the planned turn delivers them: a destructor may be asking
        }
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
        stopped_ = true;
        return abort_all(each);
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

    aim aim_at(within<Clock> w) const noexcept {
        const aim first = aim_at(w.earliest);
        const tick last = scale_.now(since_origin(w.latest));
        if (first.due <= wheel_->now() || last <= first.due) return first;
        return {coalesced(*wheel_, first.due, last), false};
    }
    aim aim_at(rounded<Clock> w) const noexcept {
        const aim exact = aim_at(w.wanted);
        if (exact.at_once || w.grain <= scale_.length()) return exact;
        return {round_up(exact.due, static_cast<std::uint64_t>(w.grain / scale_.length())), false};
    }

    nanoseconds since_origin(time_point t) const noexcept {
        return saturating_add(saturate_to_ns(t.time_since_epoch()), -saturate_to_ns(origin_.time_since_epoch()));
    }
    // ---- the driver ----

    static constexpr std::uint64_t never = ~std::uint64_t{0};

    // Makes sure that a turn comes in time. The end of a turn looks for itself.
    void wake_by(const aim& a) {
        if (turning_ || turn_posted_) return;
        if (a.at_once || a.due <= wheel_->now() || (planned_ == never && wheel_->size() != 0))
            request_turn();
        else if (a.due.value < planned_)
            plan(start_of(a.due), a.due);
    }

    void plan(time_point at, tick until) {
        planned_ = never;
        COGWHEEL_TRY { driver_->arm(at, ++serial_); }
        COGWHEEL_CATCH {
            ask_for_turn(); // the wait before is lost, too: the turn plans for those who relied on it
            COGWHEEL_RETHROW;
        }
        planned_ = until.value;
        planned_near_ = false;
    }
    void plan_for(tick due) {
        if (due.value >= planned_) return;
        COGWHEEL_TRY { plan(start_of(due), due); }
        COGWHEEL_CATCH {
            if (!turn_posted_) COGWHEEL_RETHROW; // else there will be another try
        }
    }
    void ask_for_turn() noexcept {
        COGWHEEL_TRY { request_turn(); }
        COGWHEEL_CATCH {
            // Then whoever arms a timer next asks for it.
        }
    }

    // The last timer is about to go: run() is to return soon, unless another one comes.
    void bring_wake_near() noexcept {
        if (planned_near_ || planned_ == never || turning_ || turn_posted_) return;
        const time_point now = Clock::now();
        const nanoseconds soon = std::min<nanoseconds>(options_.tick, std::chrono::milliseconds(10));
        const nanoseconds at = saturating_add(since_origin(now), soon);
        COGWHEEL_TRY {
            if (scale_.due(at).value < planned_)
                plan(now + std::chrono::ceil<typename Clock::duration>(soon), scale_.due(at));
            planned_near_ = true;
        }
        COGWHEEL_CATCH {
            // Then no wake is planned at all, and none is needed.
        }
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
        COGWHEEL_TRY { more = turn(lock); }
        COGWHEEL_CATCH {
            // A handler threw: out of run() it goes, as in Asio. The rest of the batch comes with the next turn.
            if (!lock.owns_lock()) lock.lock();
            end_turn(lock, true);
            COGWHEEL_RETHROW;
        }
        end_turn(lock, more);
    }

    bool turn(lock_type& lock) {
        ++counts_.turns;
        const std::uint64_t fired_before = counts_.fired;
        std::uint32_t deliveries = options_.work_per_turn;
        deliver_ended(lock, deliveries); // who was cancelled before this turn completes before who expires in it
        completion c{*this, lock, outcome::expired};
        turn_start_ = since_origin(Clock::now());
        const auto result = wheel_->advance(scale_.now(turn_start_), work_budget::expiries(options_.work_per_turn), &c);
        deliver_ended(lock, deliveries);
        counts_.largest_turn = std::max(counts_.largest_turn, counts_.fired - fired_before);
        return result.more;
    }
    void deliver_ended(lock_type& lock, std::uint32_t& budget) {
        completion c{*this, lock, outcome::expired};
        for (; budget != 0; --budget) {
            timer_node* node = next_ended(&c.how);
            if (node == nullptr) break;
            node->on_expiry()(*node, &c);
        }
    }

    void end_turn(lock_type& lock, bool more) {
        turning_ = false;
        if (shut_down_) return;
        if (more || has_ended()) {
            COGWHEEL_TRY { request_turn(); }
            COGWHEEL_CATCH { // no memory for a post: the driver wakes us
                plan(start_of(wheel_->now() + 1), wheel_->now() + 1);
            }
        } else if (const auto due = wheel_->next_due()) {
            plan_for(*due);
        } else {
            bring_wake_near();
        }
        recycle_if_done(lock);
    }

    void recycle_if_done(lock_type& lock) noexcept {
        if (!closed_ || turning_ || turn_posted_ || has_ended() || users_ != 0 || shut_down_) return;
        closed_ = false;
        driver_.reset();
        planned_ = never;
        planned_near_ = false;
        wheel_.reset();
        annex_.reset();
        executor_.reset();
        const bool usable = nodes.release_all() && waits.release_all();
        lock.unlock();
        if (usable) recycle();
        lock.lock();
    }

    // ---- what ended and is not delivered yet ----

    // expired: what a handler that threw left of a node's waits.
    static constexpr std::array undelivered{outcome::expired, outcome::aborted, outcome::stopped, outcome::rejected};

    bool has_ended() const noexcept {
        return !ended_limits_.empty() ||
               std::any_of(ended_.begin(), ended_.end(), [](const far_queue& q) { return !q.empty(); });
    }
    timer_node* next_ended(outcome* how = nullptr) noexcept {
        for (const outcome o : undelivered) {
            if (timer_node* node = ended_[static_cast<std::size_t>(o)].pop()) {
                if (how != nullptr) *how = o;
                return node;
            }
        }
        timer_node* node = ended_limits_.pop();
        if (node != nullptr && how != nullptr) *how = outcome::aborted;
        return node;
    }

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
    std::size_t users_ = 0;
    wheel_options options_;
    wheel_stats counts_;
    nanoseconds turn_start_{};
    lateness_histogram lateness_;
    std::array<far_queue, 4> ended_;
    ended_limits ended_limits_;
    std::optional<wheel_driver<Clock>> driver_;
    std::optional<asio::any_io_executor> executor_;
    std::unique_ptr<wheel_annex> annex_;
};

} // namespace cogwheel::detail
