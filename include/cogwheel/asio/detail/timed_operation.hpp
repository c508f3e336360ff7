// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// An asynchronous operation with a timeout: the impl of timeout_after and its relatives (docs/adr/0004).
//
// One block holds the timer's node, the user's handler and the signal that cancels the operation. The operation starts
// with a timed_handler, which holds one pointer. The first of two events decides. If the operation ends first, the
// timer is disarmed. If the timer expires first, it emits the signal on the handler's executor.
//
// Pins keep the block while a thread is about to emit, or while the initiating function runs. A completion that arrives
// meanwhile stores its results in the block. The thread that removes the last pin delivers them. So no signal reaches
// an operation that has completed. Only one thread emits at a time; it also emits what other threads ask for meanwhile.
//
// Handler and results stay in the block until they are on their executor. The posted function is itself a pin, so a
// post that fails loses nothing. For an emission by the handler's own slot, that post comes before the emission. If a
// turn cannot bring an emission or a delivery to its executor, the next turn tries again.
#pragma once

#include <cogwheel/asio/detail/cancellation.hpp>
#include <cogwheel/asio/detail/ended_timers.hpp>
#include <cogwheel/asio/detail/payload.hpp>
#include <cogwheel/asio/detail/pin_bits.hpp>
#include <cogwheel/asio/detail/timed_results.hpp>
#include <cogwheel/asio/detail/timed_travel.hpp>
#include <cogwheel/detail/exceptions.hpp>

#include COGWHEEL_ASIO_HEADER(associated_cancellation_slot.hpp)
#include COGWHEEL_ASIO_HEADER(cancellation_signal.hpp)
#include COGWHEEL_ASIO_HEADER(detail/throw_exception.hpp)

#include <exception>
#include <memory>
#include <variant>

namespace cogwheel::inline v0::detail::inline COGWHEEL_ASIO {

/// An operation with its timer. IoExecutor: the type of the executor of the operation's I/O
/// object, which handlers without an executor of their own use.
template <class Engine, class Handler, class IoExecutor, class... Signatures>
class timed_operation {
    using block = detail::block<timed_operation>;
    using lock_type = typename Engine::lock_type;
    using completion_context = typename Engine::completion_context;

public:
    using allocator_type = typename payload_allocator<Handler>::type;
    auto get_allocator() const noexcept { return asio::get_associated_allocator(handler_); }

    template <class H>
    timed_operation(Engine& engine, H&& handler, const IoExecutor& io_executor, asio::cancellation_type type,
                    bool report)
        : engine_(engine), handler_(std::forward<H>(handler)), type_(type), report_(report) {
        if constexpr (!has_executor<Handler>)
            if (!is_executor(engine.executor(), io_executor)) io_executor_.emplace(io_executor);
    }

    /// Arms the timer and starts the operation by `initiate(owner)`. Errors: std::bad_alloc; those of `initiate`.
    template <class When, class H, class Initiate>
    static void start(Engine& engine, H&& handler, const IoExecutor& io_executor, When when,
                      asio::cancellation_type type, bool report, Initiate&& initiate) {
        auto outer = asio::get_associated_cancellation_slot(handler);
        lock_type lock = engine.lock();
        if (engine.is_shut_down()) return; // the context destroys all handlers, so this one too
        const admission how = engine.admit();
        if constexpr (can_fail<Signatures...>)
            if (how != admission::accepted) {
                lock.unlock();
                using results = typename signature_traits<std::tuple_element_t<0, std::tuple<Signatures...>>>::results;
                return post_refusal<Handler, results>(io_executor, how, std::forward<H>(handler));
            }
        timer_node& node = block::create(engine.nodes, asio::get_associated_allocator(handler), engine,
                                         std::forward<H>(handler), io_executor, type, report);
        node.completion(&end);
        timed_operation& self = block::payload(node);
        engine.join();
        if constexpr (Engine::concurrent) self.pins_.set(initiating);
        const initiation ending{self}; // unpins
        owner pointer(self);           // abandons if an exception comes before the operation owns it
        COGWHEEL_TRY {
            if (how == admission::accepted) {
                engine.template arm<timer_kind::timeout>(node, when);
            } else { // no timer, and no way to report an error: the next turn cancels the operation
                engine.request_turn();
                self.queue_cancellation(node);
            }
            const timer_id link = outer.is_connected() ? self.link_.make(engine, self) : timer_id();
            lock.unlock();
            if (outer.is_connected())
                outer.template emplace<slot_handler<Engine, timed_operation, true>>(engine, link); // may call user code
        }
        COGWHEEL_CATCH {
            if (lock.owns_lock()) lock.unlock();
            COGWHEEL_RETHROW;
        }
        std::forward<Initiate>(initiate)(std::move(pointer));
    }

    using owner = operation_owner<timed_operation>;

    /// Cancels the operation, for the handler's own slot.
    static void cancel_by_slot(Engine& engine, lock_type& lock, timer_id link, asio::cancellation_type_t type) {
        auto* operation = back_link<timed_operation>::follow(engine, link);
        if (operation != nullptr) operation->emit_from_outside(lock, type);
    }

    const Handler& handler() const noexcept { return handler_; }
    asio::cancellation_slot slot() noexcept { return signal_.slot(); }

    template <class... Args>
    void complete(Args&&... args) {
        using results = typename decltype(fitting_results<Args...>::template find<
                                          typename signature_traits<Signatures>::results...>())::type;
        lock_type lock = engine_.lock();
        timer_node& node = block::node(*this);
        const unsigned bits = release_timer(node);
        if ((bits & pinned) == 0) [[likely]]
            return finish<results>(lock, std::forward<Args>(args)...);
        results_.template emplace<results>(std::forward<Args>(args)...);
        if ((bits & initiating) != 0) keep_running();
        pins_.set(completed);
    }

private:
    static constexpr unsigned initiating = 1; // pin: the initiating function has not returned
    static constexpr unsigned emitting = 2;   // pin: the signal is about to be emitted
    static constexpr unsigned queued = 4;     // pin: the node waits for a turn, which emits or delivers
    static constexpr unsigned completed = 8;  // results_ wait for the last pin to go
    static constexpr unsigned abandoned = 16; // when the last pin goes, the handler is destroyed without a call
    static constexpr unsigned asked = 32;     // wanted_ is to be emitted, by the thread that emits or initiates, if any
    static constexpr unsigned parked = 64;    // pin: a posted function that delivers results is on its way
    static constexpr unsigned pinned = initiating | emitting | queued | parked;
    static constexpr unsigned over = completed | abandoned;

    // Removes the initiating pin when the initiating function returns or throws.
    struct initiation {
        timed_operation& self;
        int exceptions = std::uncaught_exceptions();
        ~initiation() noexcept(false) {
            if constexpr (Engine::concurrent) {
                lock_type lock = self.engine_.lock();
                if (self.pins_.clear_if_alone(initiating)) return;
                if (!self.after_initiation(lock) && std::uncaught_exceptions() == exceptions)
                    asio::detail::throw_exception(std::bad_alloc());
            }
        }
    };

    using executor_type = std::conditional_t<has_executor<Handler>,
                                             asio::associated_executor_t<Handler, asio::any_io_executor>, IoExecutor>;
    friend owner;
    using running = timed_work<Handler, IoExecutor>;

    static void end(timer_node& node, void* context) {
        auto& c = *static_cast<completion_context*>(context);
        timed_operation& self = block::payload(node);
        if (is_early(c.how)) c.engine.template end_early<timer_kind::timeout>(c.how, node);
        if (is_early(c.how)) return self.queue_cancellation(node); // c.lock may be empty
        if (c.how == outcome::expired && c.engine.is_first_of_tick(node)) return c.engine.begin_tick(node, context);
        const relock_on_exit relock(c.lock);
        switch (c.how) {
        case outcome::expired:
            c.engine.template note_expiry<timer_kind::timeout, Handler>(node);
            self.timed_out_ = self.limit_ended_ = true;
            if (!self.ask(self.type_)) return;
            break;
        case outcome::destroyed:
            return self.unpin(c.lock, queued, false);
        default: { // the wheel has cancelled all timers, or an earlier turn had no memory
            if ((self.pins_.get() & over) != 0) {
                self.deliver_from_turn(c.lock);
                if (!c.lock.owns_lock()) c.lock.lock();
                return c.engine.check_loop_stopped();
            }
            self.limit_ended_ = true;
            const bool emits = self.ask(self.type_);
            self.pins_.clear(queued);
            if (!emits) return;
        }
        }
        c.lock.unlock();
        self.emit_on_executor();
        c.engine.check_loop_stopped();
    }

    // Returns the executor that calls the handler and emits the signal.
    executor_type executor() const {
        if constexpr (has_executor<Handler>)
            return asio::get_associated_executor(handler_, engine_.executor());
        else if constexpr (std::is_same_v<IoExecutor, asio::any_io_executor>)
            return io_executor_ ? *io_executor_ : engine_.executor();
        else
            return io_executor_ ? *io_executor_ : *engine_.executor().template target<IoExecutor>();
    }
    // Returns whether a turn of the wheel runs on that executor.
    bool is_on_wheel_executor() const {
        if constexpr (has_executor<Handler>)
            return is_executor(engine_.executor(), executor());
        else
            return !io_executor_;
    }

    // Emits on executor(). Preconditions: pinned by emitting; the lock is not held; in a turn, or pinned by more.
    // Errors: those of a dispatch (the next turn then tries again); those of the signal's handlers.
    void emit_on_executor() {
        lock_type lock = engine_.lock();
        if (is_on_wheel_executor()) return emit(lock, true);
        timed_sending here;
        sender_ = &here;
        lock.unlock();
        struct settling {
            Engine& engine;
            timed_operation& self; // may be destroyed once its emission has begun
            timed_sending& here;
            ~settling() {
                lock_type at_end = engine.lock();
                if (here.fate == timed_sending::begun) return;
                self.sender_ = nullptr;
                if (here.fate == timed_sending::dropped) self.try_again(at_end);
            }
        } const at_end{engine_, *this, here};
        const auto executor = this->executor();
        const auto allocator = get_allocator(); // the operation may be destroyed in the same call
        dispatch_plain(executor, allocator, emission());
    }

    // ---- the signal ----

    // Asks for an emission. Returns true if the caller must emit; the operation is then pinned for that.
    // Preconditions: the lock is held.
    bool ask(asio::cancellation_type_t type) noexcept {
        wanted_ = wanted_ | type;
        if ((pins_.set(asked) & (initiating | emitting)) != 0) return false;
        pins_.set(emitting);
        return true;
    }
    void emit_from_outside(lock_type& lock, asio::cancellation_type_t type) {
        const auto before = wanted_;
        if (engine_.is_shut_down() || !ask(type)) return;
        // Posts first, while the caller can still repeat a failed call: the emission may end the operation.
        COGWHEEL_TRY { park(lock); }
        COGWHEEL_CATCH {
            lock.lock();
            wanted_ = before;
            if (limit_ended_) // the timer ended meanwhile, and left its emission to this thread
                wanted_ = wanted_ | type_;
            else if (wanted_ == asio::cancellation_type::none)
                pins_.clear(asked);
            try_again(lock);
            COGWHEEL_RETHROW;
        }
        emit(lock, false);
    }

    // Emits all that is asked for, also meanwhile, and unpins. Preconditions: pinned by emitting; the lock is held.
    void emit(lock_type& lock, bool inline_allowed) {
        while ((pins_.get() & (asked | over)) == asked) {
            const auto type = std::exchange(wanted_, asio::cancellation_type::none);
            pins_.clear(asked);
            lock.unlock();
            COGWHEEL_TRY { signal_.emit(type); }
            COGWHEEL_CATCH {
                const bool again = is_out_of_memory();
                lock.lock();
                if (again && limit_ended_) { // a caller from outside can repeat its emission; the timer cannot
                    wanted_ = wanted_ | type;
                    pins_.set(asked);
                }
                if (again)
                    try_again(lock);
                else
                    unpin(lock, emitting, false);
                COGWHEEL_RETHROW;
            }
            lock.lock();
        }
        unpin(lock, emitting, inline_allowed);
    }

    // Leaves the emission for the timer to the next turn, and unpins. Preconditions: pinned by emitting.
    void try_again(lock_type& lock) noexcept {
        if (limit_ended_ && (pins_.get() & (asked | over | queued)) == asked) {
            queue_cancellation(block::node(*this));
            want_turn();
        }
        unpin(lock, emitting, false);
    }
    void want_turn() noexcept {
        COGWHEEL_TRY { engine_.request_turn(); }
        COGWHEEL_CATCH {
            // The next turn that comes finds it.
        }
    }

    // ---- on the executor ----

    // These calls are pins. If an executor destroys one without a call, it removes its pin.
    operation_call emission() noexcept {
        return operation_call::of<&timed_operation::emit_here, &timed_operation::emission_lost>(*this);
    }
    operation_call delivery() noexcept {
        return operation_call::of<&timed_operation::deliver_here, &timed_operation::delivery_lost>(*this);
    }
    void emission_lost() noexcept { unpin_unheard(emitting); }
    void delivery_lost() noexcept { unpin_unheard(parked); }

    void deliver_here() {
        lock_type lock = engine_.lock();
        unpin(lock, parked, true);
    }
    void emit_here() {
        lock_type lock = engine_.lock();
        if (timed_sending* sender = std::exchange(sender_, nullptr)) sender->fate = timed_sending::begun;
        emit(lock, true);
    }

    // ---- the end ----

    // Removes a pin. The last one delivers the results, here or by a post, or destroys the handler.
    void unpin(lock_type& lock, unsigned pin, bool inline_allowed) {
        inline_allowed = inline_allowed && !engine_.is_shut_down();
        while (!inline_allowed && (pins_.get() & (pinned | over)) == (pin | completed) && !engine_.is_shut_down()) {
            COGWHEEL_TRY { park(lock); }
            COGWHEEL_CATCH { // no memory: leave the delivery to a turn
                lock.lock();
                if ((pins_.get() & pinned) != pin) continue;
                pins_.set(queued);
                engine_.defer(outcome::aborted, block::node(*this));
                want_turn();
            }
        }
        const unsigned bits = pins_.clear(pin) & ~pin;
        if ((bits & pinned) != 0) return;
        if ((bits & abandoned) != 0)
            drop(lock);
        else if ((bits & completed) != 0)
            deliver_results(lock, inline_allowed);
    }
    // Removes the pin of a function that was destroyed without a call: its context shuts down, or its executor had no
    // memory. In the second case the thread that sent an emission tries again.
    void unpin_unheard(unsigned pin) noexcept {
        lock_type lock = engine_.lock();
        if (pin == emitting && sender_ != nullptr) {
            sender_->fate = timed_sending::dropped;
            return;
        }
        const unsigned bits = pins_.clear(pin) & ~pin;
        if ((bits & pinned) == 0 && (bits & over) != 0) drop(lock);
    }
    // Pins by parked, and posts a function that removes this pin. Preconditions: pinned.
    // Errors: those of the post; then the lock is not held, and nothing changes.
    void park(lock_type& lock) {
        if ((pins_.set(parked) & parked) != 0) return;
        const asio::any_io_executor wheel = engine_.executor();
        lock.unlock();
        way_to<executor_type>::post(executor(), wheel, get_allocator(), delivery());
        lock.lock();
    }
    // Delivers results that could not be posted earlier.
    void deliver_from_turn(lock_type& lock) {
        if (is_on_wheel_executor()) {
            unpin(lock, queued, true);
        } else {
            // The queued pin stays until the delivery is on its way.
            pins_.set(parked);
            lock.unlock();
            COGWHEEL_TRY { dispatch_plain(executor(), get_allocator(), delivery()); }
            COGWHEEL_CATCH {
                lock.lock();
                engine_.defer(outcome::aborted, block::node(*this));
                lock.unlock();
                COGWHEEL_RETHROW;
            }
            lock.lock();
            unpin(lock, queued, false);
        }
    }

    // Emits what is asked for and posts stored results. Returns false if memory is short and the handler is destroyed.
    bool after_initiation(lock_type& lock) {
        for (bool failed = false; !failed && (pins_.get() & (asked | over | emitting | queued)) == asked;) {
            pins_.set(emitting);
            lock.unlock();
            COGWHEEL_TRY { emit_on_executor(); }
            COGWHEEL_CATCH {
                failed = true; // no rethrow: the operation goes on and will call its handler
            }
            lock.lock();
        }
        while ((pins_.get() & (pinned | over)) == (initiating | completed) && !engine_.is_shut_down()) {
            COGWHEEL_TRY {
                const auto kept = std::move(running_);
                park(lock);
            }
            COGWHEEL_CATCH {
                lock.lock();
                pins_.set(abandoned);
                unpin(lock, initiating, false);
                return false;
            }
        }
        unpin(lock, initiating, false);
        return true;
    }

    // Keeps run() from returning until the initiating thread has posted the results: that thread may be outside run().
    void keep_running() noexcept {
        if (engine_.is_shut_down()) return;
        COGWHEEL_TRY { running_.reset(new running(engine_.executor(), io_executor_, handler_)); }
        COGWHEEL_CATCH {
            // run() may return then, and the handler waits for the next run()
        }
    }

    // Calls the handler with the stored results, or destroys it if not on its executor. Preconditions: no pin.
    void deliver_results(lock_type& lock, bool on_executor) {
        if (!on_executor) return drop(lock);
        const auto kept = std::move(running_);
        std::visit(
            [&]<class R>(R& stored) {
                if constexpr (!std::same_as<R, std::monostate> && !std::same_as<R, pending_cancellation>) {
                    R r(std::move(stored)); // the block is freed before the handler is called
                    std::apply([&](auto&... args) { finish<R>(lock, std::move(args)...); }, r);
                }
            },
            results_);
    }

    template <class Results, class... Args>
    void finish(lock_type& lock, Args&&... args) {
        const bool translate = timed_out_ && report_;
        Handler handler = take_handler(lock);
        if (!translate) [[likely]]
            return std::move(handler)(std::forward<Args>(args)...);
        Results results(std::forward<Args>(args)...);
        if constexpr (sizeof...(Args) != 0) report_timeout(std::get<0>(results));
        std::apply(std::move(handler), std::move(results));
    }
    // Lets a later turn cancel the operation, unless it ends before. Preconditions: those of defer().
    void queue_cancellation(timer_node& node) noexcept {
        pins_.set(queued);
        engine_.defer_cancellation(results_.template emplace<pending_cancellation>(), node);
    }
    // Disarms the timer, and withdraws a queued cancellation. The completion must not wait for that turn: the wheel's
    // context may not run any more, or the operation's context may be destroyed by then. Returns the other pins.
    unsigned release_timer(timer_node& node) noexcept {
        if (node.armed()) engine_.template disarm<timer_kind::timeout>(node);
        const unsigned bits = pins_.get();
        if ((bits & queued) == 0) [[likely]]
            return bits;
        engine_.withdraw_cancellation(std::get<pending_cancellation>(results_));
        return pins_.clear(queued) & ~queued;
    }

    // Moves the handler out, frees the block and releases the lock.
    Handler take_handler(lock_type& lock) {
        Engine& engine = engine_;
        link_.cut(engine);
        if (signal_.slot().has_handler()) { // a destructor in the slot may use the wheel
            lock.unlock();
            signal_.slot().clear();
            lock.lock();
        }
        Handler handler = block::take_out(engine.nodes, lock, block::node(*this),
                                          [](timed_operation& o) -> Handler { return std::move(o.handler_); });
        if (!lock.owns_lock()) lock.lock();
        engine.leave(lock);
        lock.unlock();
        return handler;
    }
    void drop(lock_type& lock) { [[maybe_unused]] const Handler dropped = take_handler(lock); }

    void abandon() {
        lock_type lock = engine_.lock();
        while (sender_ != nullptr && sender_->thread != std::this_thread::get_id()) {
            lock.unlock(); // another thread sends an emission, to a context that may be destroyed once we return
            std::this_thread::yield();
            lock.lock();
        }
        release_timer(block::node(*this));
        if ((pins_.set(abandoned) & pinned) != 0) return;
        drop(lock);
    }

    Engine& engine_;
    Handler handler_;
    asio::cancellation_signal signal_;
    back_link<timed_operation> link_; // from the handler's own slot
    asio::cancellation_type type_;
    asio::cancellation_type wanted_ = asio::cancellation_type::none;
    bool report_, timed_out_ = false;
    bool limit_ended_ = false; // the timer expired, or the wheel cancelled it
    pin_bits<false> pins_;     // the lock guards them
    std::optional<IoExecutor> io_executor_;
    std::unique_ptr<kept_work> running_;
    timed_sending* sender_ = nullptr; // of the emission that a thread hands to an executor
    std::variant<std::monostate, pending_cancellation, typename signature_traits<Signatures>::results...> results_;
};

} // namespace cogwheel::inline v0::detail::inline COGWHEEL_ASIO
