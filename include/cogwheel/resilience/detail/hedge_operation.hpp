// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The operation behind async_hedge. One block holds the machine and the user's function object and handler; another
// block holds the attempts, which run side by side. Counted references keep the operation alive: one for each attempt's
// handler, and one for each function that is about to start or cancel an attempt. The release of the last one completes
// the hedge, so no attempt is used after its end. The timer's callable holds no reference, but finds the operation by
// an id. So it may stay in a wheel that does not turn any more.
//
// Attempts may end on several threads at once. If the wheel has a lock, a lock guards the decisions, too. It is not
// held during a call of a function object or handler.
#pragma once

#include <cogwheel/asio/detail/on_wheel.hpp>
#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/detail/assertion.hpp>
#include <cogwheel/detail/exceptions.hpp>
#include <cogwheel/resilience/detail/attempt_call.hpp>
#include <cogwheel/resilience/detail/composed_operation.hpp>
#include <cogwheel/resilience/detail/hedge_handler.hpp>
#include <cogwheel/resilience/detail/hedge_machine.hpp>
#include <cogwheel/resilience/hedge_options.hpp>
#include <cogwheel/resilience/transient_error.hpp>

#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

template <class Impl, class Executor, class Function, class Signature, class Handler>
class hedge_operation {
    using clock = typename Impl::clock_type;
    // Not the wheel's type, whose unlock() reads the mutex after another thread may have locked it. Here, that thread
    // may destroy the operation.
    using mutex = std::conditional_t<Impl::concurrent, std::mutex, typename Impl::lock_type::mutex_type>;
    using lock_type = unchecked_lock<mutex>;
    using results = typename Signature::results;

    struct branch {
        enum state { idle, starting, running, lost, over };
        state now = idle;
        bool being_started = false;
        asio::cancellation_type wanted = asio::cancellation_type::none; // asked for during the start
        asio::cancellation_signal signal;
        hedge_attempt attempt;
    };

public:
    using executor_type = steps_executor<Handler, Executor>;
    static constexpr bool allocates = has_allocator<Handler>;
    using user_allocator = asio::associated_allocator_t<Handler>;

    template <class H, class F>
    static void start(Impl& state, const Executor& executor, const hedge_options& options, F&& f, H&& handler) {
        auto outer = asio::get_associated_cancellation_slot(handler);
        const auto memory = memory_of_handler<hedge_operation>(handler);
        auto& self =
            create_in<hedge_operation>(memory, state, executor, options, std::forward<F>(f), std::forward<H>(handler));
        COGWHEEL_TRY {
            if (options.attempts != 1 || outer.is_connected()) self.make_link();
            if (outer.is_connected()) outer.template emplace<slot_handler<Impl, hedge_operation>>(state, self.id_);
            if (options.budget != nullptr) options.budget->deposit();
        }
        COGWHEEL_CATCH {
            self.destroy();
            COGWHEEL_RETHROW;
        }
        COGWHEEL_TRY { self.launch(); }
        COGWHEEL_CATCH { self.note_trouble(std::current_exception()); }
        self.end_initiation();
    }

    // ---- cancellation by the handler's slot ----

    void cancel(asio::cancellation_type_t type) {
        {
            const lock_type lock(mutex_);
            if (references_ == 0) return; // the hedge is about to complete
            references_ += 2;
        }
        // Posts first: the emission may end all attempts, and the hedge must not complete inside it.
        finish(false, [&] {
            way_to<executor_type>::post(executor(), state_->executor(), std::allocator<void>(), last_look());
            {
                const lock_type lock(mutex_);
                machine_.cancel();
            }
            cancel_all(type);
        });
    }

    static void cancel_by_slot(Impl& state, typename Impl::lock_type& lock, timer_id id,
                               asio::cancellation_type_t type) {
        auto* operation = back_link<hedge_operation>::follow(state, id);
        lock.unlock(); // the signal and the operation belong to one thread or strand at a time
        if (operation != nullptr) operation->cancel(type);
    }

    // ---- for the attempts' handlers ----

    executor_type executor() const noexcept { return executor_.get(); }
    asio::cancellation_slot slot(std::uint32_t number) noexcept { return at(number).signal.slot(); }
    user_allocator get_user_allocator() const noexcept { return asio::get_associated_allocator(handler_); }

    void made(std::uint32_t number) {
        const lock_type lock(mutex_);
        COGWHEEL_ASSERT(at(number).now == branch::starting && "an operation may use its token once");
        at(number).now = branch::running;
        ++references_;
    }
    void dropped(std::uint32_t number) {
        lock_type lock(mutex_);
        branch& b = at(number);
        b.now = branch::lost;
        if (!b.being_started) abandon(); // else started() decides
        lock.unlock();
        finish(false, [&] { stop_timer(); });
    }
    template <class... Args>
    void ended(std::uint32_t number, Args&&... args) {
        finish(true, [&] {
            std::optional<results> r;
            COGWHEEL_TRY { r.emplace(std::forward<Args>(args)...); }
            COGWHEEL_CATCH { assign_exception(std::get<0>(r.emplace()), std::current_exception()); }
            std::exception_ptr trouble;
            if (note_end(number, *r, trouble) == hedge_machine::news::won)
                cancel_all(asio::cancellation_type::terminal);
            else
                launch();
            if (trouble) std::rethrow_exception(trouble);
        });
    }

    /// Called by create_in() only; destroy_in() calls the destructor.
    template <class H, class F>
    hedge_operation(Impl& state, const Executor& executor, const hedge_options& options, F&& f, H&& handler)
        : executor_(executor_of_steps(handler, executor)),
          state_(state),
          options_(options),
          machine_(options.attempts),
          branches_(options.attempts, memory_of_handler<branch>(handler)),
          function_(std::forward<F>(f)),
          handler_(std::forward<H>(handler)) {}

    ~hedge_operation() {
        const auto lock = state_->lock();
        link_.cut(*state_);
    }

private:
    branch& at(std::uint32_t number) noexcept { return branches_[number - 1]; }

    // Calls f, then releases the reference that protected the call. After that, throws the exception of f.
    template <class F>
    void finish(bool inline_allowed, F f) {
        std::exception_ptr trouble;
        COGWHEEL_TRY { f(); }
        COGWHEEL_CATCH { trouble = std::current_exception(); }
        let_go(inline_allowed);
        if (trouble) std::rethrow_exception(trouble);
    }
    void let_go(bool inline_allowed) {
        lock_type lock(mutex_);
        if (--references_ != 0) return;
        lock.unlock();
        if (abandoned_) return destroy();
        auto kept = std::move(executor_);
        if (inline_allowed) return take()();
        const way_to way(kept.get(), state_->executor());
        way.post(take());
    }
    void destroy() noexcept {
        [[maybe_unused]] const auto kept = std::move(executor_); // the context runs until the handler is destroyed
        abandon_operation(*this, handler_);
    }

    // Returns a reference that is released on the executor. If it is the last one, and is destroyed without a call, the
    // operation is destroyed.
    operation_call last_look() noexcept {
        return operation_call::of<&hedge_operation::look_last, &hedge_operation::last_look_lost>(*this);
    }
    void look_last() { let_go(true); }
    void last_look_lost() noexcept {
        lock_type lock(mutex_);
        if (--references_ != 0) return;
        lock.unlock();
        destroy();
    }

    // ---- the initiating function: it throws, or the handler is called, but not both ----

    bool initiates() const noexcept { return initiator_ == std::this_thread::get_id(); }
    void note_trouble(const std::exception_ptr& e) noexcept {
        if (!trouble_) trouble_ = e;
    }
    // Throws the exception if no attempt runs or has succeeded.
    void end_initiation() {
        lock_type lock(mutex_);
        initiator_ = {};
        const auto trouble = std::exchange(trouble_, nullptr);
        if (trouble && references_ == 1 && machine_.winner() == 0) abandoned_ = true;
        const bool leaves = trouble && abandoned_ && references_ == 1;
        lock.unlock();
        let_go(false);
        if (leaves) std::rethrow_exception(trouble);
    }
    // Gives the hedge up: destroys its handler later. Preconditions: locked.
    void abandon() noexcept {
        machine_.dropped();
        abandoned_ = true;
    }

    // Starts the next attempt if one may start, and one more for each that fails during its start.
    // `of_timer`: the number of the expired timer. If another attempt has started since it was set, nothing starts.
    void launch(std::uint64_t of_timer = 0) {
        for (bool again = true; again;) {
            lock_type lock(mutex_);
            if (of_timer != 0 && std::exchange(of_timer, 0) != timer_serial_) return;
            if (!machine_.may_start() || !granted()) {
                lock.unlock();
                return stop_timer();
            }
            const std::uint32_t number = machine_.start();
            branch& b = at(number);
            b.now = branch::starting;
            b.being_started = true;
            b.attempt = hedge_attempt(number);
            const auto old = std::exchange(timer_, {});
            const std::uint64_t serial = ++timer_serial_;
            const bool more = machine_.may_start();
            lock.unlock();
            old.cancel();
            if (more) set_timer(serial);
            std::exception_ptr thrown;
            COGWHEEL_TRY {
                call_attempt(function_, b.attempt, spawning_place(executor(), state_->executor()),
                             branch_token<hedge_operation>{this, number});
            }
            COGWHEEL_CATCH { thrown = std::current_exception(); }
            again = started(number, thrown);
        }
    }

    // Handles the return of an attempt's initiating function. Returns true if the attempt failed inside it.
    bool started(std::uint32_t number, const std::exception_ptr& thrown) {
        lock_type lock(mutex_);
        branch& b = at(number);
        while (!thrown && b.now == branch::running && b.wanted != asio::cancellation_type::none) {
            const auto type = std::exchange(b.wanted, asio::cancellation_type::none);
            lock.unlock();
            b.signal.emit(type);
            lock.lock();
        }
        b.being_started = false;
        const bool gone = b.now == branch::starting || b.now == branch::lost; // never made, or destroyed
        if (!thrown) {
            if (gone) abandon();
            lock.unlock();
            if (gone) stop_timer();
            return false;
        }
        if (!gone) { // the attempt has started, and ends or has ended
            if (!initiates()) std::rethrow_exception(thrown);
            note_trouble(thrown);
            return false;
        }
        results r{};
        const bool told = assign_exception(std::get<0>(r), thrown);
        const bool initial = !told && initiates();
        if (initial) {
            note_trouble(thrown);
            machine_.start_no_more();
        }
        lock.unlock();
        if (initial) stop_timer();
        std::exception_ptr trouble;
        const bool failed = note_end(number, r, trouble) == hedge_machine::news::failed;
        if (!told) trouble = thrown;
        if (trouble && initiates()) note_trouble(trouble);
        if (!trouble || initiates()) return failed;
        if (failed) launch();
        std::rethrow_exception(trouble);
    }

    // Records the end of an attempt. If the predicate throws, sets `trouble`, and no further attempt starts.
    hedge_machine::news note_end(std::uint32_t number, results& r, std::exception_ptr& trouble) {
        const error_code ec = code_of(std::get<0>(r));
        bool again = false;
        COGWHEEL_TRY { again = may_go_on() && is_worth_another(ec, r); }
        COGWHEEL_CATCH { trouble = std::current_exception(); }
        std::optional<results> replaced; // destroyed without the lock
        const lock_type lock(mutex_);
        at(number).now = branch::over;
        if (trouble) machine_.start_no_more();
        const auto news = machine_.ended(number, ec, again);
        // Keeps the first success, else the last failure.
        if (news != hedge_machine::news::late || machine_.winner() == 0) {
            if (results_) replaced.emplace(std::move(*results_));
            results_.emplace(std::move(r));
        }
        return news;
    }

    bool may_go_on() {
        const lock_type lock(mutex_);
        return !machine_.is_settled();
    }
    bool is_worth_another(const error_code& ec, [[maybe_unused]] const results& r) {
        if (refused_by_wheel(ec)) return false;
        if constexpr (is_judged<Function>)
            return std::apply(
                [&](const auto&, const auto&... rest) { return static_cast<bool>(function_.retryable(ec, rest...)); },
                r);
        else
            return ec && (options_.retryable ? options_.retryable(ec) : is_transient(ec));
    }

    // Asks the budget for another attempt. Preconditions: locked. A refusal is final: a later attempt would not help.
    bool granted() {
        if (machine_.started() == 0 || options_.budget == nullptr || options_.budget->withdraw(clock::now()))
            return true;
        machine_.start_no_more();
        return false;
    }

    struct elapsed {
        Impl* state;
        timer_id id;
        std::uint64_t serial;

        void operator()() const {
            hedge_operation* o = nullptr;
            {
                const auto wheel = state->lock();
                o = back_link<hedge_operation>::follow(*state, id);
                if (o == nullptr) return;
                const lock_type lock(o->mutex_);
                if (o->references_ == 0 || serial != o->timer_serial_) return; // another attempt has started since
                o->references_ += 2;
                o->timer_ = {};
            }
            const executor_type ex = o->executor();
            const bool here = is_executor(o->state_->executor(), ex);
            o->finish(here, [&, number = serial] {
                next_attempt next{o->last_look(), o, number};
                if (here)
                    next();
                else
                    dispatch_plain(ex, std::allocator<void>(), std::move(next));
            });
        }
    };
    struct next_attempt {
        operation_call reference;
        hedge_operation* operation;
        std::uint64_t serial;

        void operator()() {
            operation_call ending(std::move(reference));
            std::exception_ptr trouble;
            COGWHEEL_TRY { operation->launch(serial); }
            COGWHEEL_CATCH { trouble = std::current_exception(); }
            ending();
            if (trouble) std::rethrow_exception(trouble);
        }
    };

    void make_link() {
        const auto lock = state_->lock();
        id_ = link_.make(*state_, *this);
    }

    // Sets the timer for the next attempt. If the wheel takes none, attempts start only after a failure.
    void set_timer(std::uint64_t serial) {
        typename Impl::token_type timer;
        COGWHEEL_TRY {
            timer =
                state_->schedule(from_present{options_.delay}, elapsed{&*state_, id_, serial}, no_callable(), nullptr);
        }
        COGWHEEL_CATCH {
            return; // no memory for a timer: the same
        }
        lock_type lock(mutex_);
        if (serial == timer_serial_) {
            timer_ = timer;
            return;
        }
        lock.unlock();
        timer.cancel(); // not needed any more
    }
    void stop_timer() {
        lock_type lock(mutex_);
        const auto old = std::exchange(timer_, {});
        ++timer_serial_;
        lock.unlock();
        old.cancel();
    }

    // Cancels all running attempts, even if an emission throws.
    void cancel_all(asio::cancellation_type type) {
        std::exception_ptr trouble;
        stop_timer();
        for (branch& b : branches_) {
            {
                const lock_type lock(mutex_);
                if (b.being_started) b.wanted = b.wanted | type; // started() emits it
                if (b.being_started || b.now != branch::running) continue;
            }
            COGWHEEL_TRY { b.signal.emit(type); }
            COGWHEEL_CATCH { trouble = std::current_exception(); }
        }
        if (trouble) std::rethrow_exception(trouble);
    }

    auto take() {
        const hedge_result summary{machine_.started(), machine_.winner(), machine_.last_error()};
        results r = results_ ? std::move(*results_) : results{};
        if (machine_.is_cancelled()) assign_error(std::get<0>(r), asio::error::operation_aborted);
        return handler_of_ended(*this, handler_, with_summary(std::move(r), summary));
    }

    working_executor<executor_type> executor_; // destroyed last: other members may need its context
    wheel_hold<Impl> state_;
    mutex mutex_;
    std::size_t references_ = 1;                             // one for the initiating function
    std::thread::id initiator_ = std::this_thread::get_id(); // while the initiating function runs
    std::exception_ptr trouble_;                             // the first exception in the initiating function
    bool abandoned_ = false;
    hedge_options options_;
    hedge_machine machine_;
    std::vector<branch, handler_memory<Handler, branch>> branches_;
    typename Impl::token_type timer_;
    std::uint64_t timer_serial_ = 0;
    back_link<hedge_operation> link_; // for the handler's slot and for the timer
    timer_id id_;
    std::optional<results> results_;
    Function function_;
    Handler handler_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
