// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Stops calling a peer that keeps failing, and tries it again after a while:
//
//     cogwheel::circuit_breaker breaker(wheel, {.failures_in_a_row = 5}, [](cogwheel::circuit_state s) { log(s); });
//
//     auto call = breaker.allow();
//     if (!call) co_return net_errc::circuit_open;  // at once, and without any load on the peer
//     call.ended(co_await send(request));           // or call.succeeded(), call.failed()
//
// Closed, it lets calls pass and watches how they end. Open, it refuses them. After open_for it is half open: a few calls pass as
// probes, and close it, or open it again.
//
// A retry (retry.hpp) gives up on a call, a breaker on a peer: calls made by async_retry are best guarded one attempt at a time.
//
// While it is open, and only then, a timer of the wheel is pending: it makes the breaker half open, and tells so, also when no
// call comes along. If the wheel takes no timer, the next allow() finds out by the clock.
#pragma once

#include <cogwheel/asio/detail/engine_user.hpp>
#include <cogwheel/asio/timeout_after.hpp>
#include <cogwheel/net/detail/breaker_machine.hpp>
#include <cogwheel/wheel/detail/exceptions.hpp>

#include <functional>
#include <memory>

namespace cogwheel {

namespace detail {

/// Shared by the breaker, its calls and its timer, any of which may be the last to go.
template <class State>
class breaker_core : public std::enable_shared_from_this<breaker_core<State>> {
    using clock = typename State::clock_type;
    using mutex = typename State::lock_type::mutex_type;
    using lock_type = std::unique_lock<mutex>;

public:
    using observer = std::function<void(circuit_state)>;

    breaker_core(State& state, const circuit_breaker_options& options, observer on_change)
        : state_(state),
          machine_((options.validate(), options)),
          own_random_(static_cast<std::uint64_t>(now().count()) ^ reinterpret_cast<std::uintptr_t>(this)),
          on_change_(std::move(on_change)) {}

    /// True: the call belongs to `generation`.
    bool allow(std::uint64_t& generation) {
        lock_type lock(mutex_);
        bool allowed = false;
        COGWHEEL_TRY {
            change(lock, [&] {
                allowed = machine_.allow(machine_.allow_needs_time() ? now() : std::chrono::nanoseconds::zero());
                generation = machine_.generation();
            });
        }
        COGWHEEL_CATCH { // the observer's: nobody will make the call
            if (allowed) ended(verdict::abandoned, generation);
            COGWHEEL_RETHROW;
        }
        return allowed;
    }
    void ended(verdict v, std::uint64_t generation) {
        lock_type lock(mutex_);
        const bool timed = v == verdict::failed || (v == verdict::succeeded && machine_.success_needs_time());
        change(lock, [&] {
            random_ref random = machine_.random();
            if (!random) random = own_random_;
            machine_.ended(v, generation, timed ? now() : std::chrono::nanoseconds::zero(), random);
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

    /// The breaker is gone: nobody is told any more.
    void retire() noexcept {
        lock_type lock(mutex_);
        retired_ = true;
        const auto timer = std::exchange(timer_, {});
        lock.unlock();
        timer.cancel();
    }

private:
    static std::chrono::nanoseconds now() { return detail::present<clock>(); }

    // Runs f, then does what a change of state asks for; the observer is called without the lock.
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
            std::error_code ignored; // allow() looks at the clock, too
            const auto at =
                typename clock::time_point(std::chrono::ceil<typename clock::duration>(machine_.open_until()));
            timer_ = state_->schedule(
                at,
                [self = this->weak_from_this(), generation = machine_.generation()] {
                    if (const auto core = self.lock()) core->time_is_over(generation);
                },
                no_callable(), ignored);
        }
        COGWHEEL_CATCH {
            // The same holds when there is no memory for it.
        }
    }
    void time_is_over(std::uint64_t generation) {
        lock_type lock(mutex_);
        if (machine_.generation() != generation) return;
        change(lock, [&] { machine_.elapsed(now()); });
        if (lock.owns_lock() && machine_.generation() == generation && !retired_) set_timer(); // a clock turned back
    }

    mutable mutex mutex_;
    engine_user<State> state_;
    breaker_machine machine_;
    small_random own_random_;
    basic_timer_token<clock> timer_;
    const observer on_change_;
    bool retired_ = false;
};

} // namespace detail

/// One call that a breaker allowed, or refused. Move-only. Ends once: by a verdict, or, if destroyed without one, without.
/// Thread safety: one thread at a time. Lifetime: the wheel's execution context outlives it; the breaker need not.
template <class State>
class basic_circuit_call {
public:
    /// Refused.
    basic_circuit_call() noexcept = default;
    basic_circuit_call(basic_circuit_call&& other) noexcept = default;
    basic_circuit_call& operator=(basic_circuit_call&& other) noexcept {
        abandon();
        core_ = std::move(other.core_);
        generation_ = other.generation_;
        return *this;
    }
    ~basic_circuit_call() { abandon(); }

    /// Was it allowed, and has it not ended yet?
    explicit operator bool() const noexcept { return core_ != nullptr; }

    /// The verdict. Errors: the observer's, and the random source's; the call has ended then, too.
    void succeeded() { end(detail::verdict::succeeded); }
    void failed() { end(detail::verdict::failed); }

    /// The verdict by an error code: no error is a success; operation_aborted is none, for it was us who gave up; any other
    /// error is a failure of the peer.
    void ended(const std::error_code& ec) {
        end(!ec                          ? detail::verdict::succeeded
            : detail::says_cancelled(ec) ? detail::verdict::abandoned
                                         : detail::verdict::failed);
    }

private:
    template <any_timer_wheel Wheel>
    friend class basic_circuit_breaker;
    using core = detail::breaker_core<State>;

    basic_circuit_call(std::shared_ptr<core> c, std::uint64_t generation) noexcept
        : core_(std::move(c)), generation_(generation) {}

    void end(detail::verdict v) {
        assert(core_ != nullptr && "a call that was refused, or has ended, has no verdict");
        if (const auto c = std::exchange(core_, nullptr)) c->ended(v, generation_);
    }
    void abandon() noexcept {
        if (const auto c = std::exchange(core_, nullptr)) c->ended(detail::verdict::abandoned, generation_);
    }

    std::shared_ptr<core> core_;
    std::uint64_t generation_ = 0;
};

/// Thread safety: the wheel's: on a timer_wheel it may be shared by all threads (its mutex, some 50 ns a call).
/// Lifetime: the wheel's execution context outlives it; the wheel need not.
template <any_timer_wheel Wheel>
class basic_circuit_breaker {
    using state_type = detail::state_type<Wheel>;
    using core = detail::breaker_core<state_type>;

public:
    using call = basic_circuit_call<state_type>;

    /// `on_change` is told each new state, after it has changed and without any lock: by whoever brought it about, or by the
    /// wheel's turn. With several threads, two changes may be told in the other order. It may use the breaker, and throw.
    /// Errors: std::invalid_argument (options), std::bad_alloc.
    explicit basic_circuit_breaker(const Wheel& wheel, const circuit_breaker_options& options = {},
                                   std::function<void(circuit_state)> on_change = {})
        : core_(std::make_shared<core>(detail::state_of::get(wheel), options, std::move(on_change))) {}

    basic_circuit_breaker(const basic_circuit_breaker&) = delete;
    basic_circuit_breaker& operator=(const basic_circuit_breaker&) = delete;

    /// Nobody is told of changes any more; calls in flight may end when they like.
    ~basic_circuit_breaker() { core_->retire(); }

    /// May a call be made? If so, the result is true, and is to be kept until the call has ended.
    /// Complexity: O(1), no allocation. Errors: the observer's; no call is under way then.
    [[nodiscard]] call allow() {
        std::uint64_t generation = 0;
        if (!core_->allow(generation)) return {};
        return call(core_, generation);
    }

    /// As if a probe had succeeded: somebody knows that the peer is back.
    void close() { core_->close_by_hand(); }

    circuit_state state() const { return core_->state(); }
    circuit_stats stats() const { return core_->stats(); }

private:
    std::shared_ptr<core> core_;
};

/// On a timer_wheel, for all threads.
using circuit_breaker = basic_circuit_breaker<timer_wheel>;

/// On a local_timer_wheel, for its one thread or strand.
using local_circuit_breaker = basic_circuit_breaker<local_timer_wheel>;

} // namespace cogwheel
