// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A timer with its callable in one object, like libev's ev_timer, folly's HHWheelTimer::Callback and Seastar's timer.
// The cheapest timer of a timer_wheel, for a connection that starts and stops the same timer again and again.
//
//     struct session {
//         void timed_out();
//         cogwheel::callback_timer<cogwheel::member_call<&session::timed_out>> idle;
//         explicit session(cogwheel::timer_wheel& wheel) : idle(wheel, {this}) {}
//         void read() { idle.schedule(30s); } // starts it, or pushes it back: usually one store
//     };
//
// On a local_timer_wheel: callback_timer<member_call<&session::timed_out>, local_timer_wheel>.
// - The object is the timer: no block of memory, no handle, no type-erased function. With a callable of two words, it
//   has 56 bytes. If the timer begins a cache line, a call touches no other line of the timer.
// - The callable stays in the object. It runs once for each schedule(), unless another schedule() follows in time.
// - Nothing runs after cancel() has returned true, nor after the timer is destroyed.
// Prefer a timer_token if the owner of the timer should not hold an object; a wheel_timer for waits with error codes,
// for coroutines, and for code that was written for steady_timer.
#pragma once

#include <cogwheel/asio/detail/executor/callback_arrival.hpp>
#include <cogwheel/asio/timer_wheel.hpp>
#include <cogwheel/detail/assertion.hpp>
#include <cogwheel/detail/platform.hpp>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// A callable of one word that calls a member function of an object.
template <auto Function>
struct member_call;
template <class T, bool Noexcept, void (T::*Function)() noexcept(Noexcept)>
struct member_call<Function> {
    T* object;
    void operator()() const noexcept(Noexcept) { (object->*Function)(); }
};

// The type of a deleted function, so that the compiler says what to write: callback_timer<F, local_timer_wheel>.
namespace mistake {
struct name_the_wheel_as_in_callback_timer_function_wheel {};
} // namespace mistake

/// A timer that runs `F` on its associated executor, or in a turn of the wheel if F has none.
///
/// Executor: use, move and destroy the timer on the executor on which F runs: in its strand, or on the one thread of
///   its context. Without an associated executor, F runs on the wheel's executor; then no other thread may run a turn
///   meanwhile (debug builds check this). With one (asio::bind_executor), turns of a wheel with a lock may run on any
///   thread: a turn sends the call to the executor. This timer can still cancel that call; cancel_all(), stop() and the
///   wheel's destructor cannot.
/// F may use, move and destroy its timer. After a move or destruction, F must not use its own captures, unless F is
/// trivially copyable and callable as const: then a copy of F runs.
/// Lifetime: the wheel may be destroyed first; then schedule() returns false. The execution contexts of the wheel and
///   of F's executor must outlive the timer. The wheel's context must also outlive the calls that F's executor holds. A
///   pending timer keeps the wheel's context running, but not F's.
/// Complexity: O(1) for each function. Exception safety: if a function throws, nothing has changed, except that an
///   assignment may have cancelled its target. If F throws, the exception leaves run(), as with Asio's handlers.
template <class F, any_timer_wheel Wheel = timer_wheel>
class callback_timer : private timer_node {
    using engine = typename std::remove_reference_t<decltype(detail::impl_of(std::declval<const Wheel&>()))>::engine;
    using lock_type = typename engine::lock_type;
    using completion_context = typename engine::completion_context;
    using arrival = detail::callback_arrival<callback_timer, F>;
    template <class, class, bool>
    friend class detail::callback_arrival;

    static constexpr timer_kind kind = timer_kind::object;

public:
    using clock_type = typename Wheel::clock_type;
    using time_point = typename clock_type::time_point;

    /// Makes a timer that is not pending.
    callback_timer(const Wheel& wheel, F f)
        requires std::invocable<F&> // not of the class: F may have a pointer to its timer
        : engine_(&detail::impl_of(wheel)), f_(std::move(f)), arrival_(f_, wheel.get_executor()) {
        const lock_type lock = engine_->lock();
        engine_->join();
    }

    template <any_timer_wheel Other>
        requires(!std::same_as<Other, Wheel>)
    callback_timer(const Other&, F, mistake::name_the_wheel_as_in_callback_timer_function_wheel = {}) = delete;

    /// Takes over the callable, and the time if `other` is pending. `other` then has a moved-from callable.
    callback_timer(callback_timer&& other) noexcept(std::is_nothrow_move_constructible_v<F>)
        : engine_(other.engine_), f_(std::move(other.f_)), arrival_(other.arrival_) {
        const lock_type lock = engine_->lock();
        engine_->join();
        take(other);
    }
    /// Cancels this timer, then does the same, also from another wheel. Lambdas with captures cannot be assigned.
    callback_timer& operator=(callback_timer&& other) noexcept(std::is_nothrow_move_assignable_v<F>)
        requires std::is_move_assignable_v<F>
    {
        if (this == &other) return *this;
        cancel();
        f_ = std::move(other.f_); // may throw: this timer still belongs to its wheel
        leave();
        engine_ = other.engine_;
        const lock_type lock = engine_->lock();
        engine_->join();
        take(other);
        return *this;
    }

    /// Cancels the timer.
    ~callback_timer() { leave(); }

    /// Runs the callable at `when`: a duration from now, a point in time, or a deadline. With a duration of zero or
    /// less, in the next turn. Moves a pending timer; a later expiry usually costs one store. Returns false if the
    /// wheel refuses the timer.
    /// Errors: std::bad_alloc; nothing changes.
    template <detail::when<clock_type> When>
    COGWHEEL_ALWAYS_INLINE bool schedule(const When& when) {
        return schedule_on(*engine_, detail::time_of<clock_type>(when));
    }

    /// Returns true if the timer was pending: the callable then does not run.
    COGWHEEL_ALWAYS_INLINE bool cancel() noexcept { return cancel_on(*engine_); }

    /// Do the same, for a caller that has the wheel at hand. The work on the wheel then does not wait for a timer that
    /// is not in the cache: with a million timers, this saves a third. Preconditions: `wheel` is the timer's wheel.
    template <detail::when<clock_type> When>
    COGWHEEL_ALWAYS_INLINE bool schedule(const Wheel& wheel, const When& when) {
        return schedule_on(detail::impl_of(wheel), detail::time_of<clock_type>(when));
    }
    COGWHEEL_ALWAYS_INLINE bool cancel(const Wheel& wheel) noexcept { return cancel_on(detail::impl_of(wheel)); }

    /// Returns true if the callable will run, unless the timer is cancelled or moved.
    bool pending() const noexcept {
        const guard lock(engine_->mutex());
        return armed() || arrival_.under_way();
    }

    /// Returns the start of the tick at which the timer is due, or time_point::min() if no tick is.
    time_point expiry() const noexcept {
        const guard lock(engine_->mutex());
        return armed() ? engine_->start_of(deadline()) : time_point::min();
    }

    F& callable() noexcept { return f_; }
    const F& callable() const noexcept { return f_; }

private:
    using guard = typename engine::guard;

    // always_inline: see wheel_impl::schedule()
    template <class When>
    COGWHEEL_ALWAYS_INLINE bool schedule_on(engine& e, When when) {
        prefetch();
        detail::due_tick a{};
        if (!engine::is_usual(when)) [[unlikely]]
            return schedule_slowly(false, e, when);
        if (!e.try_lock()) [[unlikely]]
            return schedule_slowly(false, e, when);
        if (!e.try_due_at(when, a)) [[unlikely]]
            return schedule_slowly(true, e, when);
        check_use(e);
        if (armed()) {
            if (!e.try_rearm(*this, a)) [[unlikely]]
                return schedule_and_unlock(e, a);
        } else {
            // A node without an index has no entry, so try_arm() returns false for it.
            if (!e.has_room() || !e.template try_arm<kind>(*this, a)) [[unlikely]]
                return schedule_and_unlock(e, a);
            COGWHEEL_ASSERT(completion() != nullptr);
            arrival_.forget(); // the node has another id now
        }
        return e.unlock_with(true);
    }
    COGWHEEL_ALWAYS_INLINE void prefetch() const noexcept {
        COGWHEEL_PREFETCH(this, 1); // the lock and the counter would wait for the line
    }
    // Not inlined, so that the usual case saves no registers for it.
    [[gnu::noinline]] bool schedule_and_unlock(engine& e, detail::due_tick a) {
        const guard lock(e.mutex(), std::adopt_lock);
        check_use(e);
        if (armed()) {
            e.rearm(*this, a);
            return true;
        }
        if (completion() == nullptr) attach();
        if (e.admit() != detail::admission::accepted) return false;
        e.template arm<kind>(*this, a);
        arrival_.forget();
        return true;
    }

    template <class When>
    [[gnu::noinline]] bool schedule_slowly(bool locked, engine& e, When when) {
        if (!locked) e.mutex().lock();
        return schedule_and_unlock(e, e.due_at(when));
    }

    COGWHEEL_ALWAYS_INLINE bool cancel_on(engine& e) noexcept {
        prefetch();
        if (!e.try_lock()) [[unlikely]]
            return cancel_slowly(false, e);
        if (!armed()) [[unlikely]]
            return cancel_slowly(true, e);
        check_use(e);
        e.template remove<kind>(*this);
        return e.unlock_after_cancel();
    }
    [[gnu::noinline]] bool cancel_slowly(bool locked, engine& e) noexcept {
        if (!locked) e.mutex().lock();
        const guard lock(e.mutex(), std::adopt_lock);
        check_use(e);
        if (!armed()) return arrival_.withdraw(*this);
        e.template disarm<kind>(*this);
        return true;
    }

    // Gives the node an index at the first schedule(), and again after the timer was moved from.
    [[gnu::noinline]] void attach() {
        COGWHEEL_ASSERT(static_cast<void*>(&engine_) == static_cast<timer_node*>(this) + 1);
        engine_->nodes.attach(*this);
        completion(&end);
    }

    static void end(timer_node& node, void* context) {
        auto& c = *static_cast<completion_context*>(context);
        auto& self = static_cast<callback_timer&>(node);
        if (c.how == detail::outcome::discarded) return c.engine.template disarm<kind>(node);
        if (c.how == detail::outcome::collected) return c.engine.template note_cancel<kind>(node);
        if (c.engine.is_first_of_tick(node)) [[unlikely]]
            return c.engine.begin_tick(node, context);
        c.engine.template note_expiry<kind, F>(node);
        if (self.arrival_.send(self, c.engine, c.lock)) return;
        const detail::relock_on_exit relock(c.lock);
        c.lock.unlock();
        self.run();
        c.engine.check_loop_stopped();
    }

    // Calls f without the lock. f may destroy the timer.
    void run() {
        if constexpr (std::is_trivially_copyable_v<F> && std::invocable<const F&>) {
            const F copy = f_;
            copy();
        } else {
            f_();
        }
    }

    void check_use([[maybe_unused]] const engine& e) const noexcept {
        COGWHEEL_ASSERT(&e == engine_ && "give the wheel from which the timer was made");
        COGWHEEL_ASSERT(
            (detail::has_executor<F> || !engine_->in_turn_elsewhere()) &&
            "use a callback_timer on the executor of its callable; bind a strand if several threads run the wheel");
    }

    void take(callback_timer& other) noexcept {
        if (other.completion() != nullptr) engine_->nodes.relocate(other, *this);
        completion(other.completion());
        other.completion(nullptr);
        arrival_.take(other.arrival_);
    }

    void leave() noexcept {
        lock_type lock = engine_->lock();
        check_use(*engine_);
        if (armed())
            engine_->template disarm<kind>(*this);
        else
            arrival_.withdraw(*this);
        if (completion() != nullptr) engine_->nodes.detach(*this);
        completion(nullptr);
        engine_->leave(lock);
    }

    engine* engine_; // directly behind the node: the wheel prefetches what it points to (node_table::adjacent)
    [[no_unique_address]] F f_;
    [[no_unique_address]] arrival arrival_; // empty without an associated executor
};

template <class F, class Clock, class Locking, timing_wheel Wheel, class Executor>
callback_timer(const basic_timer_wheel<Clock, Locking, Wheel, Executor>&, F)
    -> callback_timer<F, basic_timer_wheel<Clock, Locking, Wheel, Executor>>;

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
