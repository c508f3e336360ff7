// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Stops the calls to a peer that keeps failing, and tries the peer again later:
//
//     cogwheel::circuit_breaker breaker(wheel, {.failures_in_a_row = 5}, [](cogwheel::circuit_state s) { log(s); });
//
//     auto call = breaker.allow();
//     if (!call) co_return errc::circuit_open; // at once, and without any load on the peer
//     call.ended(co_await send(request));                 // or call.succeeded(), call.failed()
//
// - Closed, the breaker allows calls and watches how they end.
// - Open, it refuses calls, for a delay of the backoff open_for, or until close().
// - Half open, it allows a few calls as probes, and closes if enough of them succeed. It opens again if a probe fails,
//   or takes longer than probe_timeout.
//
// A retry (retry.hpp) is for one call, a breaker for one peer. With async_retry, ask the breaker in each attempt, and
// pass the attempt's deadline to ended(). Otherwise an attempt that its timeout cancels has no verdict:
//
//     [&](cogwheel::retry_attempt& attempt) -> asio::awaitable<void> {
//         auto call = breaker.allow();
//         if (!call) throw std::system_error(errc::circuit_open); // which ends the retry
//         std::error_code ec;
//         co_await send(request, asio::redirect_error(asio::use_awaitable, ec));
//         call.ended(ec, attempt.deadline());
//         if (ec) throw std::system_error(ec);
//     }
//
// Many requests that wait for one connection fail together when it breaks: judge the connection once, or give
// failure_rate in place of failures_in_a_row.
// The breaker has a timer in the wheel only while it is open. The timer makes it half open and calls the observer, even
// without a call. While the breaker is open, allow() reads the clock, so the breaker works even if the wheel takes no
// timer. While it is half open, only allow() notices that a probe has taken too long. The breaker then counts as open
// since that moment, and may be half open again.
#pragma once

#include <cogwheel/asio/detail/on_wheel.hpp>
#include <cogwheel/asio/error.hpp>
#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/detail/assertion.hpp>
#include <cogwheel/detail/exceptions.hpp>
#include <cogwheel/resilience/deadline.hpp>
#include <cogwheel/resilience/detail/breaker_machine.hpp>

#include <functional>
#include <memory>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// The impl that a breaker shares with its calls. The timer holds a weak pointer to it.
template <class WheelImpl>
class circuit_breaker_impl : public std::enable_shared_from_this<circuit_breaker_impl<WheelImpl>> {
    using clock = typename WheelImpl::clock_type;
    using lock_type = typename WheelImpl::lock_type;

public:
    using observer = std::function<void(circuit_state)>;

    circuit_breaker_impl(WheelImpl& state, const circuit_breaker_options& options, observer on_change)
        : state_(state),
          machine_((options.validate(), options)),
          own_random_(fresh_seed(this, now())),
          on_change_(std::move(on_change)) {}

    /// Returns true if a call is allowed, and sets `generation` to the call's.
    bool allow(std::uint64_t& generation) {
        lock_type lock(mutex_);
        bool allowed = false;
        COGWHEEL_TRY {
            change(lock, [&] {
                random_ref random = random_source();
                allowed =
                    machine_.allow(machine_.allow_needs_time() ? now() : std::chrono::nanoseconds::zero(), random);
                generation = machine_.generation();
            });
        }
        COGWHEEL_CATCH { // the observer threw: the caller gets no call, so the allowed one ends here
            if (allowed) ended(verdict::abandoned, generation);
            COGWHEEL_RETHROW;
        }
        return allowed;
    }
    void ended(verdict v, std::uint64_t generation) {
        lock_type lock(mutex_);
        change(lock, [&] {
            random_ref random = random_source();
            machine_.ended(v, generation, machine_.end_needs_time(v) ? now() : std::chrono::nanoseconds::zero(),
                           random);
        });
    }
    void close_by_hand() {
        lock_type lock(mutex_);
        change(lock, [&] {
            if (machine_.state() != circuit_state::closed) machine_.close();
        });
    }

    circuit_state state() const {
        const lock_type lock(mutex_);
        return machine_.state();
    }
    circuit_stats stats() const {
        const lock_type lock(mutex_);
        return machine_.stats();
    }

    /// Handles the destruction of the breaker: cancels the timer. No later change calls the observer.
    void retire() noexcept {
        lock_type lock(mutex_);
        retired_ = true;
        const auto timer = std::exchange(timer_, {});
        lock.unlock();
        timer.cancel();
    }

private:
    random_ref random_source() noexcept {
        const random_ref given = machine_.random();
        return given ? given : random_ref(own_random_);
    }
    static std::chrono::nanoseconds now() { return detail::present<clock>(); }

    // Runs f. If f changes the state, updates the timer, releases the lock and calls the observer.
    template <class F>
    void change(lock_type& lock, F f) {
        const std::uint64_t before = machine_.generation();
        f();
        if (machine_.generation() != before) changed(lock);
    }
    void changed(lock_type& lock) {
        const circuit_state s = machine_.state();
        const auto old = std::exchange(timer_, {});
        if (s == circuit_state::open && !retired_) set_timer();
        const bool tell = on_change_ != nullptr && !retired_;
        lock.unlock();
        old.cancel();
        if (tell) on_change_(s);
    }

    void set_timer() noexcept {
        COGWHEEL_TRY {
            const auto at = point_at<typename clock::time_point>(machine_.open_until());
            timer_ = state_->schedule(
                at,
                [self = this->weak_from_this(), generation = machine_.generation()] {
                    if (const auto impl = self.lock()) impl->time_is_over(generation);
                },
                no_callable(), nullptr); // without a timer, allow() reads the clock
        }
        COGWHEEL_CATCH {
            // No memory for a timer: allow() reads the clock.
        }
    }
    void time_is_over(std::uint64_t generation) {
        lock_type lock(mutex_);
        if (machine_.generation() != generation) return;
        change(lock, [&] { machine_.elapsed(now()); });
        if (lock.owns_lock() && machine_.generation() == generation && !retired_) set_timer(); // a clock stepped back
    }

    mutable typename lock_type::mutex_type mutex_;
    wheel_hold<WheelImpl> state_;
    breaker_machine machine_;
    small_random own_random_;
    typename WheelImpl::token_type timer_;
    const observer on_change_;
    bool retired_ = false;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Guards the calls to one peer. As a class member, write circuit_breaker<>, or circuit_breaker<local_timer_wheel>.
/// Thread safety: the wheel's. All threads may share a breaker on a timer_wheel.
/// Lifetime: the wheel's execution context must outlive the breaker; the wheel need not.
template <any_timer_wheel Wheel = timer_wheel>
class circuit_breaker {
    using impl_type = detail::circuit_breaker_impl<detail::impl_type<Wheel>>;

public:
    /// A call that a breaker allowed or refused. Move-only. An allowed call ends once: by succeeded(), failed() or
    /// ended(). If it is destroyed or assigned to before that, it ends without a verdict (success or failure).
    /// Thread safety: one thread at a time. Lifetime: may outlive the breaker, not the wheel's execution context.
    class call {
    public:
        /// Makes a refused call.
        call() noexcept = default;
        call(call&& other) noexcept = default;
        call& operator=(call&& other) noexcept {
            abandon();
            impl_ = std::move(other.impl_);
            generation_ = other.generation_;
            return *this;
        }
        ~call() { abandon(); }

        /// Returns true if the call was allowed and has not ended yet.
        explicit operator bool() const noexcept { return impl_ != nullptr; }

        /// Ends the call as a success or a failure. Preconditions: the call was allowed and has not ended.
        /// Errors: those of the observer and of the random source. The call has ended even then.
        void succeeded() { end(detail::verdict::succeeded); }
        void failed() { end(detail::verdict::failed); }

        /// Ends the call according to an error code. An empty code is a success. A cancellation (such as
        /// operation_aborted) before `until` is no verdict: the caller gave up. After `until` it is a failure: the peer
        /// took too long. Any other error is a failure. In an attempt of async_retry, `until` is attempt.deadline().
        /// Preconditions and Errors: as for succeeded().
        void ended(const error_code& ec, const basic_deadline<typename Wheel::clock_type>& until = {}) {
            end(!ec                                              ? detail::verdict::succeeded
                : detail::says_cancelled(ec) && !until.expired() ? detail::verdict::abandoned
                                                                 : detail::verdict::failed);
        }

    private:
        friend circuit_breaker;

        call(std::shared_ptr<impl_type> c, std::uint64_t generation) noexcept
            : impl_(std::move(c)), generation_(generation) {}

        void end(detail::verdict v) {
            COGWHEEL_ASSERT(impl_ != nullptr && "a call that was refused, or has ended, has no verdict");
            if (const auto c = std::exchange(impl_, nullptr)) c->ended(v, generation_);
        }
        void abandon() noexcept {
            if (const auto c = std::exchange(impl_, nullptr)) c->ended(detail::verdict::abandoned, generation_);
        }

        std::shared_ptr<impl_type> impl_;
        std::uint64_t generation_ = 0;
    };

    /// Makes a closed breaker.
    /// Parameters: `on_change`: the observer. It receives each new state, after the change and without any lock: from
    ///   the function that made the change, or from the wheel's turn. With several threads, two changes may reach it in
    ///   reverse order. It may use the breaker, not destroy it. Its exceptions in a turn leave run().
    /// Errors: std::invalid_argument (options), std::bad_alloc.
    explicit circuit_breaker(const Wheel& wheel, const circuit_breaker_options& options = {},
                             std::function<void(circuit_state)> on_change = {})
        : impl_(std::make_shared<impl_type>(detail::impl_of(wheel), options, std::move(on_change))) {}

    circuit_breaker(const circuit_breaker&) = delete;
    circuit_breaker& operator=(const circuit_breaker&) = delete;

    /// Destroys the breaker. Calls in flight may still end. A change under way on another thread may still call the
    /// observer; later changes do not.
    ~circuit_breaker() { impl_->retire(); }

    /// Asks for a call. If the result is true, make the call; keep the result, and report the end of the call to it.
    /// Complexity: O(1), no allocation.
    /// Errors: those of the observer, and of the random source after a late probe. No call is allowed then.
    [[nodiscard]] call allow() {
        std::uint64_t generation = 0;
        if (!impl_->allow(generation)) return {};
        return call(impl_, generation);
    }

    /// Closes the breaker if it is not closed, for instance because the peer is back. Errors: those of the observer.
    void close() { impl_->close_by_hand(); }

    circuit_state state() const { return impl_->state(); }
    circuit_stats stats() const { return impl_->stats(); }

private:
    std::shared_ptr<impl_type> impl_;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
