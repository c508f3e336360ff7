// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Reports when a connection is idle.
//
//     cogwheel::idle_monitor idle{wheel, socket.get_executor(), {.reader = 60s}};
//     ... idle.touch_read();                                    // after each read: a store
//     auto event = co_await idle.async_idle(asio::use_awaitable); // the peer has sent nothing for a minute
//
// - Activity is a store into the monitor: no wheel operation and no lock, for any number of timeouts.
// - The monitor has at most one timer in the wheel, and only during an async_idle. Activity does not move the timer.
//   When it fires, the monitor reads the recorded times, and waits again if no event is due.
// - A destroyed monitor reports no further event, even if its timer has already expired.
// The semantics are those of Netty's IdleStateHandler; docs/net.md lists the differences. An idle_stream
// (idle_stream.hpp) has a monitor, and records the activity itself.
#pragma once

#include <cogwheel/asio/detail/on_wheel.hpp>
#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/detail/exceptions.hpp>
#include <cogwheel/net/detail/idle_machine.hpp>
#include <cogwheel/net/detail/idle_operation.hpp>
#include <cogwheel/net/detail/overload.hpp>
#include <cogwheel/net/detail/remote_idle_check.hpp>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Reports the state of a connection's queues. A monitor asks its probe when an event would be due. touch(),
/// touch_write() and reset_write() ask for the output progress, eight times a timeout at most.
/// Example:
///
///     struct my_probe final : cogwheel::idle_probe {
///         bool input_waits() noexcept override { return reading && bytes_available() != 0; }
///     } probe;
///     idle.set_probe(&probe); // an idle_stream has a probe of its own
class idle_probe {
public:
    /// Returns true if input waits and a read under way will get it. That counts as a completed read.
    virtual bool input_waits() noexcept { return false; }

    /// Returns true if a read or write is under way. Its handler may be queued already, so the monitor lets the queued
    /// handlers run before it reports an event.
    virtual bool under_way() noexcept { return false; }

    /// Returns how many bytes have left towards the peer, while more wait; nullopt: unknown, or none wait. A change
    /// since the previous call shows that a slow peer takes bytes. If the monitor sees it when an event would be due,
    /// the change counts as a write at that time. So the event for a peer that takes no more bytes is up to one timeout
    /// late. The event is on time if the peer stopped before the last touch_write() that asked.
    virtual std::optional<std::uint64_t> output_progress() noexcept { return {}; }

protected:
    ~idle_probe() = default;
};

/// Watches one connection. As a class member, write idle_monitor<>, or for instance idle_monitor<local_timer_wheel>.
/// Thread safety: one thread or strand at a time, its executor.
template <any_timer_wheel Wheel = timer_wheel, class Executor = typename Wheel::executor_type>
class idle_monitor {
    using engine = typename detail::impl_type<Wheel>::engine;
    using overload = detail::overload<engine>;
    using operation = detail::idle_operation<idle_monitor>;
    using idle_look = detail::idle_look<idle_monitor>;
    using remote_idle_check = detail::remote_idle_check<idle_look, engine>;
    friend operation;
    friend idle_look;

public:
    using clock_type = typename Wheel::clock_type;
    using time_point = typename Wheel::time_point;
    using executor_type = Executor;

    template <class Other>
    struct rebind_executor {
        using other = idle_monitor<Wheel, Other>;
    };

    /// Starts to watch. All kinds count from now.
    /// Complexity: O(1). Allocates only for the first monitor of a wheel, and if the executor has another context than
    ///   the wheel. This takes a block, and a second one if async_idle() starts while a cancelled one uses the first.
    /// Errors: std::invalid_argument (limits), std::bad_alloc.
    /// Lifetime: the wheel may be destroyed first. A waiting async_idle then completes with operation_aborted, a later
    ///   one with errc::stopped, unless an event is due. The wheel's execution context must outlive the monitor. If the
    ///   executor has another context, that context may be destroyed before the wheel's next turn. It may be destroyed
    ///   even before the monitor, if copies of the executor may outlive it (copies of a strand may not). Its shutdown
    ///   destroys the waiting handler. After that, async_idle() destroys its handler without calling it.
    idle_monitor(const Wheel& wheel, const idle_timeouts& limits)
        requires std::constructible_from<Executor, typename Wheel::executor_type>
        : idle_monitor(wheel, Executor(wheel.get_executor()), limits) {}
    idle_monitor(const Wheel& wheel, const Executor& executor, const idle_timeouts& limits)
        : machine_(checked(limits), present(), detail::fresh_seed(this, present())),
          timer_(detail::impl_of(wheel)),
          executor_(executor),
          far_(remote_idle_check::between(executor_, timer_.wheel())) {
        const auto lock = timer_.wheel().lock();
        overload_ = &timer_.wheel().template extension<overload>();
        under_load_.timer = &timer_;
        overload_->join(under_load_);
    }

    /// Takes over the state of `other` and its async_idle. After that, `other` may only be destroyed or assigned to.
    idle_monitor(idle_monitor&& other) noexcept
        : machine_(other.machine_),
          timer_(std::move(other.timer_)),
          executor_(other.executor_),
          far_(std::move(other.far_)) {
        take_over(other);
    }
    /// Ends this monitor as its destructor does, then takes over `other`.
    idle_monitor& operator=(idle_monitor&& other) noexcept {
        if (this == &other) return *this;
        end();
        machine_ = other.machine_;
        timer_ = std::move(other.timer_);
        std::destroy_at(&executor_); // an executor may be copied, but perhaps not assigned
        std::construct_at(&executor_, other.executor_);
        far_ = std::move(other.far_);
        take_over(other);
        return *this;
    }

    /// Destroys the monitor. An async_idle under way completes with operation_aborted.
    ~idle_monitor() { end(); }

    executor_type get_executor() const noexcept { return executor_; }

    // ---- activity ----

    /// Records a read and a completed write. touch_read() and touch_write() record one of them.
    /// Parameters: `now`: a reading of the clock. Default: the wheel's tick clock, at most 0.1 ms after the present.
    /// Complexity: a store for each. With a probe, touch_write() also asks it, eight times a timeout at most.
    void touch() noexcept { touch(tick_time()); }
    void touch(time_point now) noexcept {
        touch_read(now);
        touch_write(now);
    }
    void touch_read() noexcept { touch_read(tick_time()); }
    void touch_read(time_point now) noexcept { machine_.read(since_epoch(now)); }
    void touch_write() noexcept { touch_write(tick_time()); }
    void touch_write(time_point now) noexcept {
        machine_.written(since_epoch(now));
        if (probe_ != nullptr) machine_.sample(since_epoch(now), queues{probe_});
    }

    /// Marks the start and the end of the processing of what was read. Until the end, there is no event of the kinds
    /// reader and all. end_read() counts as a read. The calls nest.
    void begin_read() noexcept { machine_.begin_read(); }
    void end_read() noexcept { machine_.end_read(present()); }

    /// Sets all recorded times to now, and forgets every begin_read(): do not call end_read() for those. The next event
    /// of each kind is a first one (idle_event::first). reset_read() and reset_write() reset one direction, as Netty's
    /// resetReadTimeout() and resetWriteTimeout().
    void reset() noexcept { machine_.reset(present()); }
    void reset_read() noexcept { machine_.reset_read(present()); }
    void reset_write() noexcept { touch_write(); }

    // ---- settings ----

    /// Sets other timeouts, also for an async_idle under way. They count from the last activity or event.
    /// Errors: std::invalid_argument, std::bad_alloc; nothing changes then.
    void set_limits(const idle_timeouts& limits) {
        limits.validate();
        detail::idle_machine changed = machine_;
        changed.set_limits(limits);
        if (operation_ != nullptr) bring_forward(changed, overload_->factor());
        machine_ = changed;
    }

    /// Sets the probe; nullptr: none. Lifetime: `probe` must outlive the monitor.
    void set_probe(idle_probe* probe) noexcept { probe_ = probe; }

    // ---- events ----

    /// Waits for the next event. Each kind is due one timeout, plus jitter, after its last activity or event, whichever
    /// is later. If an event is due at the call, the monitor reports it after a post to its executor, if it is still
    /// due then. If several events are due, each call reports one.
    /// Completion signature: void(std::error_code, idle_event). The error code is
    ///   - success: there is an event.
    ///   - asio::error::operation_aborted: cancelled; the monitor was destroyed; or the wheel's timers were cancelled.
    ///   - asio::error::already_started: another async_idle is under way.
    ///   - errc::stopped, errc::too_many_timers: the wheel takes no timer.
    ///   - asio::error::no_memory: an allocation failed after async_idle() had returned.
    ///   async_idle() never completes inline. While all timeouts are off, it waits and there is no event.
    /// Cancellation: terminal, partial and total, through the handler's slot.
    /// Executor: the handler's associated one, else the monitor's.
    /// Complexity: O(1), and one allocation from the handler's associated allocator, beside the wheel's pool.
    /// Errors: std::bad_alloc, and those of moving the handler.
    template <class Token = typename asio::default_completion_token<Executor>::type>
    auto async_idle(Token&& token = {}) {
        return asio::async_initiate<Token, void(error_code, idle_event)>(initiate_idle(*this), token);
    }

    /// Completes the async_idle under way with operation_aborted, not inline. Returns 1, or 0 if there is none. Another
    /// async_idle() may start at once. Errors: std::bad_alloc; nothing changes then.
    std::size_t cancel() {
        if (operation_ == nullptr) return 0;
        timer_.cancel();
        std::exchange(operation_, nullptr)->monitor = nullptr; // its idle_look completes it
        return 1;
    }

    /// Returns true if an async_idle is under way.
    bool waiting() const noexcept { return operation_ != nullptr; }

private:
    class initiate_idle {
    public:
        using executor_type = Executor;

        explicit initiate_idle(idle_monitor& monitor) noexcept : monitor_(&monitor) {}
        executor_type get_executor() const noexcept { return monitor_->executor_; }

        template <class Handler>
        void operator()(Handler&& handler) const {
            monitor_->start(std::forward<Handler>(handler));
        }

    private:
        idle_monitor* monitor_;
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
        if (far_ != nullptr && far_->is_shut_down()) return; // the context's shutdown destroys all handlers
        if (operation_ != nullptr) {
            using results = std::tuple<error_code, idle_event>;
            detail::handler_with_results<handler_type, results> bound{std::forward<Handler>(handler),
                                                                      results(asio::error::already_started, {})};
            return detail::post_to_its_own(executor_, std::move(bound));
        }
        if (far_ != nullptr && far_->is_away()) far_ = far_->another(); // a cancelled wait still uses the old one
        auto slot = asio::get_associated_cancellation_slot(handler);
        operation_ =
            &detail::idle_operation_of<idle_monitor, handler_type>::create(*this, std::forward<Handler>(handler));
        COGWHEEL_TRY {
            if (slot.is_connected()) slot.template emplace<cancel_by_slot>(operation_);
        }
        COGWHEEL_CATCH {
            operation_->abandon();
            COGWHEEL_RETHROW;
        }
        // A due event is reported after a hop through the executor, and only if it still holds then.
        const double factor = overload_->factor();
        if (machine_.look_at(factor) <= present())
            hop(true);
        else
            wait(factor, true);
    }

    // Takes the operation's next step: reports an event, or waits until there may be one.
    void look(bool after_hop) {
        const double factor = overload_->factor();
        const std::chrono::nanoseconds now = present();
        if (!after_hop && machine_.look_at(factor) <= now && probe_ != nullptr && probe_->under_way())
            return hop(false);
        if (const auto step = machine_.next(now, factor, queues{probe_}); step.event) {
            overload_->count(step.event->kind);
            operation_->complete({}, *step.event);
        } else {
            wait(factor, false);
        }
    }

    // Posts a look, so the functions that are already queued on the executor run first.
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
            // The factor fell after this function had read it. The walk of overload.hpp may have passed this monitor.
            bring_forward(machine_, overload_->factor());
        }
        COGWHEEL_CATCH {
            // No memory: the timer keeps its old time.
        }
    }

    void start_wait(idle_look look, time_point until) {
        if (far_ == nullptr)
            timer_.start_wait(std::move(look), until);
        else
            far_->depart(std::move(look), [&](timer_node& node) { return timer_.start_wait_of(node, until); });
    }

    // Starts an idle_look by f. Returns false if the operation is over; then the monitor may be destroyed, too. If f
    // throws in the first step, the exception leaves async_idle(); later, the operation completes with no_memory.
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

    // Moves the wait under way forward to the machine's next look, if that is earlier.
    void bring_forward(const detail::idle_machine& machine, double factor) {
        if (operation_->soon) return;
        const std::chrono::nanoseconds until = machine.look_at(factor), now = present();
        {
            const auto lock = timer_.wheel().lock();
            timer_.bring_forward(point(until > now ? until : now));
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
            // No memory for a turn: the turn that is planned for the timer serves instead.
        }
    }

    void take_over(idle_monitor& other) noexcept {
        operation_ = std::exchange(other.operation_, nullptr);
        probe_ = std::exchange(other.probe_, nullptr);
        overload_ = std::exchange(other.overload_, nullptr);
        const auto lock = timer_.wheel().lock();
        under_load_.timer = &timer_;
        overload_->replace(other.under_load_, under_load_);
        if (operation_ != nullptr) operation_->monitor = this;
    }
    void end() noexcept {
        if (overload_ != nullptr) {
            const auto lock = timer_.wheel().lock();
            overload_->leave(under_load_);
        }
        withdraw();
        if (operation_ != nullptr) operation_->monitor = nullptr; // the timer's end completes it
    }
    void forget(const operation&) noexcept { operation_ = nullptr; }

    static const idle_timeouts& checked(const idle_timeouts& limits) {
        limits.validate();
        return limits;
    }
    time_point tick_time() noexcept { return timer_.wheel().not_before_unlocked(); }
    static std::chrono::nanoseconds since_epoch(time_point t) noexcept {
        return detail::saturate_to_ns(t.time_since_epoch());
    }
    static time_point point(std::chrono::nanoseconds at) noexcept { return detail::point_after(time_point(), at); }
    static std::chrono::nanoseconds present() noexcept { return detail::present<clock_type>(); }

    detail::idle_machine machine_;
    detail::wheel_timer_impl<engine> timer_;
    overload* overload_ = nullptr;
    typename overload::member under_load_;
    operation* operation_ = nullptr;
    idle_probe* probe_ = nullptr;
    Executor executor_;
    std::shared_ptr<remote_idle_check> far_; // nullptr: the executor's context is the wheel's
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
