// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Tells when a connection has gone quiet.
//
//     cogwheel::idle_monitor idle{wheel, socket.get_executor(), {.reader = 60s}};
//     ... idle.touch_read();                                    // after each read: a store
//     auto event = co_await idle.async_idle(asio::use_awaitable); // the peer has said nothing for a minute
//
// - Activity is a store into the monitor: no wheel operation, no lock, whatever the number of limits.
// - At most one timer in the wheel, and only while somebody waits for an event. Pushed back or not, it fires once a limit.
// - Destroyed, it never fires again, also if its timer has expired and is on its way to the executor.
// The semantics are those of Netty's IdleStateHandler; docs/net.md tells them and where ours differ.
//
// A monitor is for one thread or one strand at a time, its executor: use it there only. idle_stream does the touching by itself.
#pragma once

#include <cogwheel/asio/detail/cancels.hpp>
#include <cogwheel/asio/timeout_after.hpp>
#include <cogwheel/net/detail/far_look.hpp>
#include <cogwheel/net/detail/idle_machine.hpp>
#include <cogwheel/net/detail/idle_operation.hpp>
#include <cogwheel/net/detail/overload.hpp>
#include <cogwheel/wheel/detail/exceptions.hpp>

namespace cogwheel {

/// What lies in a connection's queues. A monitor asks only when an event would be due otherwise.
class idle_probe {
public:
    /// Is there something to read, and a read under way that will get it? Then the reader is not idle.
    virtual bool input_waits() noexcept { return false; }

    /// Is an operation under way? Then its end may be on its way already, and an event lets it pass first.
    virtual bool under_way() noexcept { return false; }

    /// While bytes wait to leave towards the peer: how many have left so far, if that is known. Any change since the last look is a
    /// sign of life of a slow peer, and counts as a completed write. An event of a peer that takes nothing then comes up to a
    /// limit later.
    virtual std::optional<std::uint64_t> output_progress() noexcept { return {}; }

protected:
    ~idle_probe() = default;
};

template <class Clock, class Locking, timing_wheel Wheel = hashed_wheel, class Executor = asio::any_io_executor>
class basic_idle_monitor {
    using state = detail::wheel_state<Clock, Locking, Wheel>;
    using engine = typename state::engine;
    using overload = detail::overload<engine>;
    using operation = detail::idle_operation<basic_idle_monitor>;
    using idle_look = detail::idle_look<basic_idle_monitor>;
    using far_look = detail::far_look<idle_look, engine>;
    friend operation;
    friend idle_look;

public:
    using clock_type = Clock;
    using time_point = typename Clock::time_point;
    using executor_type = Executor;

    /// All kinds count from now. Errors: std::invalid_argument (limits), std::bad_alloc.
    /// Lifetime: the wheel may go first (async_idle then completes with errc::stopped), its execution context may not. The
    ///   executor's, where it is another one, may go before the wheel's next turn, and before the monitor if a copy of the executor
    ///   may outlive it (a strand's may not): the handler that waits is destroyed with it, and none is called any more.
    /// Memory: none; where the executor's context is another one, a block for each async_idle that is in the wheel at once.
    template <class Other>
        requires std::constructible_from<Executor, Other>
    basic_idle_monitor(const basic_timer_wheel<Clock, Locking, Wheel, Other>& wheel, const idle_limits& limits)
        : basic_idle_monitor(wheel, Executor(wheel.get_executor()), limits) {}
    template <class Other>
    basic_idle_monitor(const basic_timer_wheel<Clock, Locking, Wheel, Other>& wheel, const Executor& executor,
                       const idle_limits& limits)
        : machine_(checked(limits), present(), seed()),
          timer_(detail::state_of::get(wheel)),
          executor_(executor),
          far_(far_look::between(executor_, timer_.wheel())) {
        const auto lock = timer_.wheel().lock();
        overload_ = &timer_.wheel().template annex<overload>();
        under_load_.timer = &timer_;
        overload_->join(under_load_);
    }

    /// Takes over everything, also an async_idle under way. `other` may only be destroyed or assigned to.
    basic_idle_monitor(basic_idle_monitor&& other) noexcept
        : machine_(other.machine_),
          timer_(std::move(other.timer_)),
          overload_(other.overload_),
          operation_(std::exchange(other.operation_, nullptr)),
          probe_(std::exchange(other.probe_, nullptr)),
          executor_(std::move(other.executor_)),
          far_(std::move(other.far_)) {
        const auto lock = timer_.wheel().lock();
        under_load_.timer = &timer_;
        overload_->replace(other.under_load_, under_load_);
        other.overload_ = nullptr;
        if (operation_ != nullptr) operation_->monitor = this;
    }
    basic_idle_monitor& operator=(basic_idle_monitor&& other) noexcept {
        if (this != &other) {
            this->~basic_idle_monitor();
            ::new (static_cast<void*>(this)) basic_idle_monitor(std::move(other));
        }
        return *this;
    }

    /// An async_idle under way completes with operation_aborted.
    ~basic_idle_monitor() {
        if (overload_ != nullptr) {
            const auto lock = timer_.wheel().lock();
            overload_->leave(under_load_);
        }
        withdraw();
        if (operation_ != nullptr) operation_->monitor = nullptr; // the timer's end completes it
    }

    executor_type get_executor() const noexcept { return executor_; }

    // ---- activity ----

    /// Something was read and a write completed. Complexity: a store, and a reading of the clock unless you have one at hand.
    void touch() noexcept { touch(Clock::now()); }
    void touch(time_point now) noexcept {
        touch_read(now);
        touch_write(now);
    }
    void touch_read() noexcept { touch_read(Clock::now()); }
    void touch_read(time_point now) noexcept { machine_.read(since_epoch(now)); }
    void touch_write() noexcept { touch_write(Clock::now()); }
    void touch_write(time_point now) noexcept { machine_.written(since_epoch(now)); }

    /// Between the two, what was read is still being worked on, which is no idleness. They nest.
    void begin_read() noexcept { machine_.begin_read(); }
    void end_read() noexcept { machine_.end_read(present()); }

    /// As if the connection had just begun: times and first flags.
    void reset() noexcept { machine_.reset(present()); }

    // ---- settings ----

    /// Other limits, counted from the last activity or event. Errors: std::invalid_argument, std::bad_alloc; nothing changes.
    void set_limits(const idle_limits& limits) {
        limits.validate();
        detail::idle_machine changed = machine_;
        changed.set_limits(limits);
        if (operation_ != nullptr) bring_forward(changed, overload_->factor());
        machine_ = changed;
    }

    /// Asked from now on; nullptr: nobody. Lifetime: outlives the monitor.
    void set_probe(idle_probe* probe) noexcept { probe_ = probe; }

    // ---- events ----

    /// Completes with the next event. Each kind is due a limit after its last activity or its last event, whichever is later; one
    /// that came due while nobody waited is told at once, if it still holds. Several at once come one by one.
    /// Completion signature: void(std::error_code, idle_event): success; asio::error::operation_aborted when cancelled or the
    ///   monitor is destroyed; asio::error::already_started if there is one under way; asio::error::no_memory;
    ///   errc::stopped, errc::too_many_timers. Never completes inline. With all limits off it waits for others, or a cancel.
    /// Cancellation: terminal, partial and total, through the handler's slot. Executor: the handler's associated one, else the
    ///   monitor's. Memory: the handler's associated allocator, once. Complexity: O(1).
    template <class Token = typename asio::default_completion_token<Executor>::type>
    auto async_idle(Token&& token = {}) {
        return asio::async_initiate<Token, void(std::error_code, idle_event)>(initiate_idle(*this), token);
    }

    /// The async_idle under way completes with operation_aborted. Returns how many that were: 0 or 1. Another one may follow.
    /// Errors: std::bad_alloc; nothing changes.
    std::size_t cancel() {
        if (operation_ == nullptr) return 0;
        timer_.cancel();
        std::exchange(operation_, nullptr)->monitor = nullptr; // its idle_look completes it
        return 1;
    }

    /// Is an async_idle under way?
    bool waiting() const noexcept { return operation_ != nullptr; }

private:
    class initiate_idle {
    public:
        using executor_type = Executor;

        explicit initiate_idle(basic_idle_monitor& monitor) noexcept : monitor_(&monitor) {}
        executor_type get_executor() const noexcept { return monitor_->executor_; }

        template <class Handler>
        void operator()(Handler&& handler) const {
            monitor_->start(std::forward<Handler>(handler));
        }

    private:
        basic_idle_monitor* monitor_;
    };

    struct cancel_by_slot {
        operation* op;

        explicit cancel_by_slot(operation* o) noexcept : op(o) {}
        void operator()(asio::cancellation_type_t type) const {
            if (!detail::cancels(type)) return;
            if (op->monitor != nullptr) op->monitor->cancel();
        }
    };

    struct queues {
        idle_probe* probe;
        bool input_waits() const noexcept { return probe != nullptr && probe->input_waits(); }
        std::optional<std::uint64_t> output_progress() const noexcept {
            return probe != nullptr ? probe->output_progress() : std::nullopt;
        }
    };

    template <class Handler>
    void start(Handler&& handler) {
        using handler_type = std::decay_t<Handler>;
        if (far_ != nullptr && far_->is_shut_down()) return; // the handler is destroyed, as everything else is
        if (operation_ != nullptr) {
            using results = std::tuple<std::error_code, idle_event>;
            detail::handler_with_results<handler_type, results> bound{std::forward<Handler>(handler),
                                                                      results(asio::error::already_started, {})};
            return detail::post_to_its_own(executor_, std::move(bound));
        }
        if (far_ != nullptr && far_->is_away()) far_ = far_->another(); // with one that was cancelled
        auto slot = asio::get_associated_cancellation_slot(handler);
        operation_ =
            &detail::idle_operation_of<basic_idle_monitor, handler_type>::create(*this, std::forward<Handler>(handler));
        COGWHEEL_TRY {
            if (slot.is_connected()) slot.template emplace<cancel_by_slot>(operation_);
        }
        COGWHEEL_CATCH {
            operation_->abandon();
            COGWHEEL_RETHROW;
        }
        // An event that is due is told behind a hop, and only if it holds then.
        const double factor = overload_->factor();
        if (machine_.look_at(factor) <= present())
            hop(true);
        else
            wait(factor, true);
    }

    // The operation's next step: an event, or a wait until there may be one.
    void look(bool after_hop) {
        const double factor = overload_->factor();
        const std::chrono::nanoseconds now = present();
        if (!after_hop && machine_.look_at(factor) <= now && probe_ != nullptr && probe_->under_way())
            return hop(false);
        if (const auto step = machine_.next(now, factor, queues{probe_}); step.event)
            operation_->complete({}, *step.event);
        else
            wait(factor, false);
    }

    // Behind all that is on its way to the executor already.
    void hop(bool first) {
        begin(first, true,
              [this](idle_look look) { asio::post(executor_, detail::bare_handler<idle_look>{std::move(look)}); });
    }
    void wait(double factor, bool first) {
        const std::chrono::nanoseconds until = machine_.look_at(factor);
        note_wait(until, machine_.longest_period(), factor);
        if (!begin(first, false, [&](idle_look look) { start_wait(std::move(look), point(until)); })) return;
        if (overload_->factor() >= factor) return;
        COGWHEEL_TRY {
            bring_forward(machine_, overload_->factor()); // it fell after we had asked, and its walk may have passed us
        }
        COGWHEEL_CATCH {
            // No memory for it: then at the old time.
        }
    }

    void start_wait(idle_look look, time_point until) {
        if (far_ == nullptr)
            timer_.start_wait(std::move(look), until);
        else
            far_->depart(std::move(look), [&](timer_node& node) { return timer_.start_wait_of(node, until); });
    }

    // f starts an idle_look. False if the operation is over, and with it perhaps the monitor. What the first one throws comes out
    // of async_idle().
    template <class F>
    bool begin(bool first, bool hops, F f) {
        operation& op = *operation_;
        op.starting = true;
        COGWHEEL_TRY { f(idle_look(op, hops)); }
        COGWHEEL_CATCH {
            if (first) {
                op.leave_slot();
                op.abandon();
                COGWHEEL_RETHROW;
            }
            op.complete(asio::error::no_memory, {});
            return false;
        }
        op.starting = false;
        if (op.out) return true;
        op.leave_slot();
        op.abandon(); // the execution context is being shut down
        return false;
    }

    // The wait under way ends in time for the machine's next look, if that is sooner than it would.
    void bring_forward(const detail::idle_machine& machine, double factor) {
        if (operation_->soon) return;
        const std::chrono::nanoseconds until = machine.look_at(factor), now = present();
        {
            const auto lock = timer_.wheel().lock();
            timer_.bring_forward(point(std::max(until, now)));
        }
        note_wait(until, machine.longest_period(), factor);
        operation_->soon = until <= now;
    }

    void note_wait(std::chrono::nanoseconds until, std::chrono::nanoseconds period, double factor) {
        const auto lock = timer_.wheel().lock();
        under_load_.until = until;
        under_load_.period = period;
        under_load_.factor = factor;
    }

    void withdraw() noexcept {
        COGWHEEL_TRY { timer_.cancel(); }
        COGWHEEL_CATCH {
            // No memory for a turn of the wheel's: the one that is planned for the timer comes instead.
        }
    }

    void forget(const operation&) noexcept { operation_ = nullptr; }

    static const idle_limits& checked(const idle_limits& limits) {
        limits.validate();
        return limits;
    }
    static std::chrono::nanoseconds since_epoch(time_point t) noexcept { return saturate_to_ns(t.time_since_epoch()); }
    static time_point point(std::chrono::nanoseconds at) noexcept { return detail::point_after(time_point(), at); }
    static std::chrono::nanoseconds present() noexcept { return detail::present<Clock>(); }

    // Differs from that of any monitor at the same time, and as a rule from its predecessor's in the same place.
    std::uint64_t seed() const noexcept {
        return static_cast<std::uint64_t>(present().count()) * 0x9e3779b97f4a7c15 +
               reinterpret_cast<std::uintptr_t>(this);
    }

    detail::idle_machine machine_;
    detail::timer_core<engine> timer_;
    overload* overload_ = nullptr;
    typename overload::member under_load_;
    operation* operation_ = nullptr;
    idle_probe* probe_ = nullptr;
    Executor executor_;
    std::shared_ptr<far_look> far_; // nullptr: the executor's context is the wheel's
};

template <class Clock, class Locking, timing_wheel Wheel, class Executor>
basic_idle_monitor(const basic_timer_wheel<Clock, Locking, Wheel, Executor>&, const idle_limits&)
    -> basic_idle_monitor<Clock, Locking, Wheel, Executor>;
template <class Clock, class Locking, timing_wheel Wheel, class Other, class Executor>
basic_idle_monitor(const basic_timer_wheel<Clock, Locking, Wheel, Other>&, const Executor&, const idle_limits&)
    -> basic_idle_monitor<Clock, Locking, Wheel, Executor>;

namespace detail {

template <class Wheel, class Executor>
struct idle_monitor_for;
template <class Clock, class Locking, class Wheel, class Other, class Executor>
struct idle_monitor_for<basic_timer_wheel<Clock, Locking, Wheel, Other>, Executor> {
    using type = basic_idle_monitor<Clock, Locking, Wheel, Executor>;
};

} // namespace detail

/// On a timer_wheel.
using idle_monitor = basic_idle_monitor<std::chrono::steady_clock, multi_threaded>;

/// On a local_timer_wheel: for its one thread or strand.
using local_idle_monitor = basic_idle_monitor<std::chrono::steady_clock, single_threaded>;

} // namespace cogwheel
