// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The operation behind async_retry: one block with the machine, the user's function object and handler, for all
// attempts. The handler of a step is one pointer, which owns the operation (step_pin). All runs on the handler's
// executor.
#pragma once

#include <cogwheel/asio/detail/on_wheel.hpp>
#include <cogwheel/detail/exceptions.hpp>
#include <cogwheel/resilience/detail/attempt_call.hpp>
#include <cogwheel/resilience/detail/composed_operation.hpp>
#include <cogwheel/resilience/detail/retry_handler.hpp>
#include <cogwheel/resilience/detail/retry_machine.hpp>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// Impl: the wheel's. Signature: the operation's (only_signature).
template <class Impl, class Executor, class Function, class Signature, class Handler>
class retry_operation {
    using engine = typename Impl::engine;
    using clock = typename Impl::clock_type;
    using results = typename Signature::results;
    using lock_type = typename Impl::lock_type;
    using owner = operation_owner<retry_operation>;

public:
    using executor_type = steps_executor<Handler, Executor>;
    static constexpr bool allocates = has_allocator<Handler>;
    using user_allocator = asio::associated_allocator_t<Handler>;
    using token = attempt_token<retry_operation>;

    template <class H, class F>
    static void start(Impl& state, const Executor& executor, const basic_retry_policy<clock>& policy, F&& f,
                      H&& handler) {
        auto outer = asio::get_associated_cancellation_slot(handler);
        const auto memory = memory_of_handler<retry_operation>(handler);
        owner own(
            create_in<retry_operation>(memory, state, executor, policy, std::forward<F>(f), std::forward<H>(handler)));
        if (outer.is_connected()) own->connect(outer);
        const retry_step first = own->machine_.start(clock::now());
        if (first.what == retry_act::attempt)
            begin_attempt(std::move(own), true);
        else
            own.release().complete(first, true);
    }

    // ---- cancellation by the handler's slot ----

    void cancel(asio::cancellation_type_t type) {
        if (pin_.is_over() || pin_.is_held()) { // no step is under way, or its starter emits
            machine_.cancel();
            wanted_ = wanted_ | type;
            return;
        }
        // The emission may end the step, but the retry must not continue inside it. So this posts the continuation
        // first: after the emission, a post that fails would be too late.
        pin_.hold();
        const struct holding {
            retry_operation& self;
            ~holding() noexcept(false) {
                const step_state s = self.pin_.let_go();
                if (s == step_state::pending) return;
                owner own(self);
                if (s == step_state::completed) post_on(std::move(own)); // the posted function ran on another thread
            }
        } until_emitted{*this};
        if (pin_.park()) post_parked();
        machine_.cancel();
        wanted_ = wanted_ | type;
        emit_wanted();
    }

    // ---- for the handlers ----

    step_pin<engine::concurrent>& pin() noexcept { return pin_; }
    executor_type executor() const noexcept { return executor_.get(); }
    asio::cancellation_slot slot() noexcept { return connected_ ? signal_.slot() : asio::cancellation_slot(); }
    user_allocator get_user_allocator() const noexcept { return asio::get_associated_allocator(handler_); }
    Impl& state() const noexcept { return *state_; }
    basic_deadline<clock> attempt_limit() noexcept { return machine_.attempt().deadline(); }

    template <class... Args>
    void attempt_done(Args&&... args) {
        COGWHEEL_TRY { results_.emplace(std::forward<Args>(args)...); }
        COGWHEEL_CATCH { assign_exception(std::get<0>(results_.emplace()), std::current_exception()); }
        if (pin_.complete()) after_attempt(owner(*this));
    }
    void wait_done(const error_code& ec) {
        wait_ended_ = ec;
        if (pin_.complete()) after_wait(owner(*this));
    }
    void abandon() noexcept {
        if (!pin_.drop()) return;
        [[maybe_unused]] const auto kept = std::move(executor_); // the context runs until the handler is destroyed
        abandon_operation(*this, handler_);
    }

    /// Called by create_in() only; destroy_in() calls the destructor.
    template <class H, class F>
    retry_operation(Impl& state, const Executor& executor, const basic_retry_policy<clock>& policy, F&& f, H&& handler)
        : executor_(executor_of_steps(handler, executor)),
          state_(state),
          machine_(policy),
          own_random_(fresh_seed(this, present<clock>())),
          function_(std::forward<F>(f)),
          handler_(std::forward<H>(handler)) {}

    ~retry_operation() {
        if (!connected_) return;
        const auto lock = state_->lock();
        link_.cut(*state_);
    }

    static void cancel_by_slot(engine& e, lock_type& lock, timer_id id, asio::cancellation_type_t type) {
        auto* operation = back_link<retry_operation>::follow(e, id);
        lock.unlock(); // the signal and the operation belong to one thread or strand at a time
        if (operation != nullptr) operation->cancel(type);
    }

private:
    // Connects the handler's slot with the operation. Errors: std::bad_alloc.
    template <class Slot>
    void connect(Slot outer) {
        lock_type lock = state_->lock();
        const timer_id id = link_.make(*state_, *this);
        connected_ = true;
        lock.unlock(); // emplace() may call the user's code
        outer.template emplace<slot_handler<engine, retry_operation>>(*state_, id);
    }

    // Starts a step by f; its handler continues. A wait replaces the attempt's handler in the slot, so no emission
    // reaches an attempt that has ended. After the wait, the slot names a timer that does not exist, which does no
    // harm. In an initiating function (`initial`), nothing continues at once.
    // Errors: those of f. Then the step's handler owns the operation if the step is pending, else `own` does.
    template <class F>
    static step_state begin(owner& own, F&& f) {
        retry_operation& self = *own;
        self.pin_.begin();
        COGWHEEL_TRY {
            std::forward<F>(f)(self);
            self.emit_wanted();
        }
        COGWHEEL_CATCH {
            if (self.pin_.let_go() == step_state::pending)
                own.release(); // the step was started nevertheless, and its handler will be called
            COGWHEEL_RETHROW;
        }
        const step_state s = self.pin_.let_go();
        if (s == step_state::pending) own.release();
        return s;
    }

    static void begin_attempt(owner own, bool initial) {
        retry_operation& self = *own;
        self.results_.reset();
        self.waiting_ = false;
        step_state s;
        COGWHEEL_TRY {
            s = begin(own, [](retry_operation& o) {
                call_attempt(o.function_, o.machine_.attempt(), spawning_place(o.executor(), o.state_->executor()),
                             token{&o});
            });
        }
        COGWHEEL_CATCH {
            if (!own && initial) return; // no throw, because the handler will be called
            if (!own) COGWHEEL_RETHROW;
            // If an attempt throws at its start, the exception is its outcome.
            results failed{};
            if (!assign_exception(std::get<0>(failed), std::current_exception())) {
                if (!initial) own.release().complete_soon(self.machine_.threw(no_code()));
                COGWHEEL_RETHROW;
            }
            self.results_.emplace(std::move(failed));
            s = step_state::completed;
        }
        if (s != step_state::completed) return; // if dropped, `own` destroys the operation
        if (initial)
            post_on(std::move(own));
        else
            after_attempt(std::move(own));
    }

    static void begin_wait(owner own, std::chrono::nanoseconds delay) {
        retry_operation& self = *own;
        self.waiting_ = true;
        step_state s;
        COGWHEEL_TRY {
            s = begin(own, [&](retry_operation& o) {
                o.state_->start_wait(wait_handler<retry_operation>(o), from_present{delay});
            });
        }
        COGWHEEL_CATCH {
            if (!own) COGWHEEL_RETHROW;
            error_code ec;
            assign_exception(ec, std::current_exception());
            return own.release().complete(self.machine_.wait_ended(ec, clock::now()), false);
        }
        if (s == step_state::completed) after_wait(std::move(own));
    }

    static void after_attempt(owner own) {
        retry_operation& self = *own;
        retry_step next{retry_act::deliver};
        COGWHEEL_TRY {
            const error_code ec = code_of(std::get<0>(*self.results_));
            random_ref random = self.machine_.random();
            if (!random) random = self.own_random_;
            next = self.machine_.attempt_ended(ec, clock::now(), random);
        }
        COGWHEEL_CATCH {
            own.release().complete_soon(self.machine_.give_up());
            COGWHEEL_RETHROW;
        }
        if (next.what == retry_act::wait)
            begin_wait(std::move(own), next.delay);
        else
            own.release().complete(next, false);
    }

    static void after_wait(owner own) {
        const retry_step next = own->machine_.wait_ended(own->wait_ended_, clock::now());
        if (next.what == retry_act::attempt)
            begin_attempt(std::move(own), false);
        else
            own.release().complete(next, false);
    }

    static void post_on(owner own) {
        retry_operation& o = own.release();
        o.post(operation_call::of<&retry_operation::continues, &retry_operation::lost>(o));
    }
    void continues() { go_on(owner(*this)); }
    void lost() noexcept { const owner dropped(*this); }

    static void go_on(owner own) {
        if (const auto last = own->last_)
            own.release().complete(*last, false);
        else if (own->waiting_)
            after_wait(std::move(own));
        else
            after_attempt(std::move(own));
    }

    // Posts a function that continues if the step has ended by then.
    void post_parked() { post(operation_call::of<&retry_operation::arrived, &retry_operation::parked_lost>(*this)); }
    void arrived() {
        const step_state s = pin_.leave();
        if (s == step_state::pending) return;
        owner own(*this);
        if (s == step_state::completed) go_on(std::move(own));
    }
    void parked_lost() noexcept {
        if (pin_.leave() != step_state::pending) lost();
    }

    void post(operation_call&& call) {
        way_to<executor_type>::post(executor(), state_->executor(), std::allocator<void>(), std::move(call));
    }

    void emit_wanted() {
        while (wanted_ != asio::cancellation_type::none && !pin_.is_over())
            signal_.emit(std::exchange(wanted_, asio::cancellation_type::none));
    }

    void complete(const retry_step& last, bool initial) {
        const auto kept = std::move(executor_);
        if (!initial) return take(last)();
        const way_to way(kept.get(), state_->executor());
        way.post(take(last));
    }

    // Completes after the exception that leaves now. Without memory for a post, completes at once.
    void complete_soon(const retry_step& last) {
        last_ = last;
        pin_.hold();
        pin_.park();
        pin_.complete();
        COGWHEEL_TRY { post_parked(); }
        COGWHEEL_CATCH {
            // No memory for a post: let_go() returns completed.
        }
        if (pin_.let_go() == step_state::completed) complete(last, false);
    }

    auto take(const retry_step& last) {
        machine_.count();
        results r = results_ ? std::move(*results_) : results{};
        if (last.what == retry_act::fail) assign_error(std::get<0>(r), error_of(last));
        return handler_of_ended(*this, handler_, with_summary(std::move(r), retry_result(machine_.result())));
    }
    error_code error_of(const retry_step& last) const noexcept {
        if (last.ec) return last.ec;
        if (machine_.result().end == retry_end::cancelled) return asio::error::operation_aborted;
        return asio::error::timed_out;
    }

    working_executor<executor_type> executor_; // destroyed last: other members may need its context
    wheel_hold<Impl> state_;
    back_link<retry_operation> link_; // from the handler's slot
    bool connected_ = false;
    step_pin<engine::concurrent> pin_;
    asio::cancellation_signal signal_;
    asio::cancellation_type wanted_ = asio::cancellation_type::none;
    bool waiting_ = false;
    error_code wait_ended_;
    retry_machine<clock> machine_;
    small_random own_random_;
    std::optional<results> results_;
    std::optional<retry_step> last_; // the decision that is not delivered yet
    Function function_;
    Handler handler_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
