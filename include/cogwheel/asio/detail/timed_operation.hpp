// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// An asynchronous operation of somebody else, with a timer beside it: the inside of timeout_after and its relatives.
//
// One block holds the timer's node, the user's handler and the signal that cancels the operation. The operation is started with
// a handler of one pointer (timed_handler). Whoever comes first decides: the operation, then the timer is removed without a word;
// or the timer, which emits the signal on the handler's executor and lets the operation complete as it sees fit.
//
// While somebody is about to emit, or the initiating function has not returned, the block is pinned: a completion that arrives
// meanwhile leaves its results here, and who unpins delivers them. So the signal is never emitted at an operation that is over,
// and never by two at once: what is asked for while it is being emitted, the one who emits adds.
//
// Handler and results stay here until they are on their executor: what is posted is a pin, so a post that fails loses nothing. Who
// emits from outside posts it first. What cannot be brought to the executor from a turn of the wheel is tried again by the next.
#pragma once

#include <cogwheel/asio/detail/back_link.hpp>
#include <cogwheel/asio/detail/ended_limits.hpp>
#include <cogwheel/asio/detail/payload.hpp>
#include <cogwheel/asio/detail/pin_bits.hpp>
#include <cogwheel/asio/detail/timed_refusal.hpp>
#include <cogwheel/asio/detail/timed_results.hpp>
#include <cogwheel/asio/detail/timed_travel.hpp>
#include <cogwheel/wheel/detail/exceptions.hpp>

#include <asio/associated_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/detail/throw_exception.hpp>

#include <exception>
#include <memory>
#include <variant>

namespace cogwheel::detail {

/// Home: the operation's own executor, where the handler has none.
template <class Engine, class Handler, class Home, class... Signatures>
class timed_operation {
    using block = detail::block<timed_operation>;
    using lock_type = typename Engine::lock_type;
    using completion = typename Engine::completion;

public:
    using allocator_type = typename payload_allocator<Handler>::type;
    auto get_allocator() const noexcept { return asio::get_associated_allocator(handler_); }

    template <class H>
    timed_operation(Engine& engine, H&& handler, const Home& home, asio::cancellation_type type, bool report)
        : engine_(engine), handler_(std::forward<H>(handler)), type_(type), report_(report) {
        if constexpr (!has_executor<Handler>)
            if (!is_executor(engine.executor(), home)) home_.emplace(home);
    }

    /// Arms the timer and starts the operation by `initiate(operation*)`.
    template <class When, class H, class Initiate>
    static void start(Engine& engine, H&& handler, const Home& home, When when, asio::cancellation_type type,
                      bool report, Initiate&& initiate) {
        auto outer = asio::get_associated_cancellation_slot(handler);
        lock_type lock = engine.lock();
        if (engine.is_shut_down()) return; // the handler is destroyed, as everything else is
        const outcome how = engine.refuse();
        if constexpr (can_fail<Signatures...>)
            if (how != outcome::expired) {
                lock.unlock();
                using results = typename signature_traits<std::tuple_element_t<0, std::tuple<Signatures...>>>::results;
                return post_refusal<Handler, results>(home, how, std::forward<H>(handler));
            }
        timer_node& node = block::create(engine.nodes, asio::get_associated_allocator(handler), engine,
                                         std::forward<H>(handler), home, type, report);
        node.on_expiry(&end);
        timed_operation& self = block::payload(node);
        engine.join();
        if constexpr (Engine::concurrent) self.pins_.set(initiating);
        const initiation ending{self}; // unpins
        timed_pointer pointer(self);   // abandons, if an exception comes before the operation has it
        COGWHEEL_TRY {
            if (how == outcome::expired) {
                engine.arm(node, when);
            } else { // no timer, and no error to say so: cancelled at once
                engine.request_turn();
                self.await_abort(node);
            }
            const timer_id link = outer.is_connected() ? self.link_.make(engine, self) : timer_id();
            lock.unlock();
            if (outer.is_connected()) outer.template emplace<pass_on>(engine, link); // its memory is the user's
        }
        COGWHEEL_CATCH {
            if (lock.owns_lock()) lock.unlock();
            COGWHEEL_RETHROW;
        }
        std::forward<Initiate>(initiate)(std::move(pointer));
    }

    using timed_pointer = detail::timed_pointer<timed_operation>;

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
        if ((pins_.set(completed) & pinned) == 0) deliver_results(lock, true); // the initiator has gone meanwhile
    }

private:
    static constexpr unsigned initiating = 1; // pin: the initiating function has not returned
    static constexpr unsigned emitting = 2;   // pin: the signal is about to be emitted
    static constexpr unsigned queued = 4;     // pin: the node waits for a turn of the wheel, which will emit
    static constexpr unsigned completed = 8;  // results_ wait for the last pin
    static constexpr unsigned abandoned = 16; // the handler is only to be destroyed, once the last pin is gone
    static constexpr unsigned asked = 32;  // wanted_ is to be emitted: by whoever emits or initiates, if somebody does
    static constexpr unsigned parked = 64; // pin: a function that delivers results is on its way to the executor
    static constexpr unsigned pinned = initiating | emitting | queued | parked;
    static constexpr unsigned over = completed | abandoned;

    // From the outer cancellation slot to ours. It may come after all is over: then the link is stale.
    struct pass_on {
        Engine* engine;
        timer_id link;

        pass_on(Engine& e, timer_id l) noexcept : engine(&e), link(l) {}
        void operator()(asio::cancellation_type_t type) {
            lock_type lock = engine->lock();
            auto* operation = back_link<timed_operation>::follow(*engine, link);
            if (operation != nullptr) operation->emit_from_outside(lock, type);
        }
    };

    // Unpins when the initiating function returns, also by an exception.
    struct initiation {
        timed_operation& self;
        int exceptions = std::uncaught_exceptions();
        ~initiation() noexcept(false) {
            if constexpr (Engine::concurrent) {
                if (self.pins_.clear_if_alone(initiating)) return;
                if (!self.after_initiation() && std::uncaught_exceptions() == exceptions)
                    asio::detail::throw_exception(std::bad_alloc());
            }
        }
    };

    using executor_type =
        std::conditional_t<has_executor<Handler>, asio::associated_executor_t<Handler, asio::any_io_executor>, Home>;
    using delivery = timed_delivery<timed_operation>;
    using emission = timed_emission<timed_operation>;
    friend timed_traveller<timed_operation>;
    friend delivery;
    friend emission;
    friend detail::timed_pointer<timed_operation>;
    using running = timed_work<Handler, Home>;

    static void end(timer_node& node, void* context) {
        auto& c = *static_cast<completion*>(context);
        timed_operation& self = block::payload(node);
        if (c.how == outcome::collected) return self.await_abort(node); // there is no lock here
        const locked_at_the_end relock(c.lock);
        switch (c.how) {
        case outcome::expired:
            c.state.note_expiry(node);
            self.timed_out_ = self.limit_ended_ = true;
            if (!self.ask(self.type_)) return;
            break;
        case outcome::destroyed:
            return self.unpin(c.lock, queued, false);
        default: { // all timers were cancelled: the operation is, too; or an earlier turn had no memory
            if ((self.pins_.get() & over) != 0) {
                self.deliver_from_turn(c.lock);
                if (!c.lock.owns_lock()) c.lock.lock();
                return c.state.heed_stop();
            }
            self.limit_ended_ = true;
            const bool emits = self.ask(self.type_);
            self.pins_.clear(queued);
            if (!emits) return;
        }
        }
        c.lock.unlock();
        self.emit_at_home();
        c.state.heed_stop();
    }

    // Where the handler is to be called, and the signal emitted.
    executor_type home() const {
        if constexpr (has_executor<Handler>)
            return asio::get_associated_executor(handler_, engine_.executor());
        else if constexpr (std::is_same_v<Home, asio::any_io_executor>)
            return home_ ? *home_ : engine_.executor();
        else
            return home_ ? *home_ : *engine_.executor().template target<Home>();
    }
    // The wheel's turn is.
    bool is_at_home() const {
        if constexpr (has_executor<Handler>)
            return is_executor(engine_.executor(), home());
        else
            return !home_;
    }

    // Preconditions: pinned by emitting, the lock is not held; this is a turn of the wheel, or pinned by more.
    // Errors: those of a dispatch: the next turn tries again; the signal's handlers'.
    void emit_at_home() {
        lock_type lock = engine_.lock();
        if (is_at_home()) return emit(lock, true);
        timed_sending here;
        sender_ = &here;
        lock.unlock();
        struct settling {
            Engine& engine;
            timed_operation& self; // may be gone, once its emission has begun
            timed_sending& here;
            ~settling() {
                lock_type at_end = engine.lock();
                if (here.fate == timed_sending::begun) return;
                self.sender_ = nullptr;
                if (here.fate == timed_sending::dropped) self.try_again(at_end);
            }
        } const at_end{engine_, *this, here};
        emission e(*this);
        const auto executor = e.get_executor();
        dispatch_on(executor, std::move(e));
    }

    // ---- the signal ----

    // True: the caller has to emit, and has pinned the operation for it. Preconditions: the lock is held.
    bool ask(asio::cancellation_type_t type) noexcept {
        wanted_ = wanted_ | type;
        if ((pins_.set(asked) & (initiating | emitting)) != 0) return false;
        pins_.set(emitting);
        return true;
    }
    void emit_from_outside(lock_type& lock, asio::cancellation_type_t type) {
        const auto before = wanted_;
        if (engine_.is_shut_down() || !ask(type)) return;
        // Posted first: the operation may end inside the emission, and then it would be too late.
        COGWHEEL_TRY { park(lock); }
        COGWHEEL_CATCH {
            lock.lock();
            wanted_ = before;
            if (limit_ended_) // meanwhile
                wanted_ = wanted_ | type_;
            else if (wanted_ == asio::cancellation_type::none)
                pins_.clear(asked);
            try_again(lock);
            COGWHEEL_RETHROW;
        }
        emit(lock, false);
    }

    // Emits what is asked for, also meanwhile, and unpins. Preconditions: pinned by emitting, the lock is held.
    void emit(lock_type& lock, bool inline_allowed) {
        while ((pins_.get() & (asked | over)) == asked) {
            const auto type = std::exchange(wanted_, asio::cancellation_type::none);
            pins_.clear(asked);
            lock.unlock();
            COGWHEEL_TRY { signal_.emit(type); }
            COGWHEEL_CATCH {
                const bool again = is_out_of_memory();
                lock.lock();
                if (again && limit_ended_) { // who emits from outside can do so again
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

    // Instead of emitting: the end of the limit waits for the next turn. Preconditions: pinned by emitting.
    void try_again(lock_type& lock) noexcept {
        if (limit_ended_ && (pins_.get() & (asked | over | queued)) == asked) {
            await_abort(block::node(*this));
            want_turn();
        }
        unpin(lock, emitting, false);
    }
    void want_turn() noexcept {
        COGWHEEL_TRY { engine_.request_turn(); }
        COGWHEEL_CATCH {
            // Then the next one.
        }
    }

    // ---- on the executor ----

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

    // Lets go of a pin. The last one delivers, or sees to it.
    void unpin(lock_type& lock, unsigned pin, bool inline_allowed) {
        inline_allowed = inline_allowed && !engine_.is_shut_down();
        while (!inline_allowed && (pins_.get() & (pinned | over)) == (pin | completed) && !engine_.is_shut_down()) {
            COGWHEEL_TRY { park(lock); }
            COGWHEEL_CATCH { // no memory: a turn of the wheel
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
    // The same for what was never called: the executor had no memory for it, which its sender knows; or its context is going.
    void unpin_unheard(unsigned pin) noexcept {
        lock_type lock = engine_.lock();
        if (pin == emitting && sender_ != nullptr) {
            sender_->fate = timed_sending::dropped;
            return;
        }
        const unsigned bits = pins_.clear(pin) & ~pin;
        if ((bits & pinned) == 0 && (bits & over) != 0) drop(lock);
    }
    // Pins, and posts what unpins. Preconditions: pinned. Errors: those of the post; then the lock is not held, and nothing changes.
    void park(lock_type& lock) {
        if ((pins_.set(parked) & parked) != 0) return;
        const asio::any_io_executor wheel = engine_.executor();
        lock.unlock();
        delivery d(*this);
        const way_to way(d.get_executor(), wheel);
        way.post(std::move(d));
        lock.lock();
    }
    // What an earlier turn could not bring home.
    void deliver_from_turn(lock_type& lock) {
        if (is_at_home()) {
            unpin(lock, queued, true);
        } else {
            // Pinned by queued until it is on its way.
            pins_.set(parked);
            lock.unlock();
            COGWHEEL_TRY {
                delivery d(*this);
                const auto executor = d.get_executor();
                dispatch_on(executor, std::move(d));
            }
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

    // False: no memory, and the handler is gone.
    bool after_initiation() {
        lock_type lock = engine_.lock();
        for (bool failed = false; !failed && (pins_.get() & (asked | over | emitting | queued)) == asked;) {
            pins_.set(emitting);
            lock.unlock();
            COGWHEEL_TRY { emit_at_home(); }
            COGWHEEL_CATCH {
                failed = true; // the operation goes on, and so its handler will be called: not both
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

    // Who completes is on the executors; who initiates may be on none. Until it has posted, run() is not to return.
    void keep_running() noexcept {
        if (engine_.is_shut_down()) return;
        COGWHEEL_TRY { running_ = std::make_unique<running>(engine_.executor(), home_, handler_); }
        COGWHEEL_CATCH {
            // then it may return, and the handler waits for the next run()
        }
    }

    // Preconditions: no pin.
    void deliver_results(lock_type& lock, bool on_executor) {
        if (!on_executor) return drop(lock);
        const auto kept = std::move(running_);
        std::visit(
            [&]<class R>(R& stored) {
                if constexpr (!std::same_as<R, std::monostate> && !std::same_as<R, ended_limits::place>) {
                    R r(std::move(stored)); // which goes before the handler is called
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
    // A turn to come cancels the operation, unless that is over by then. Preconditions: as those of defer().
    void await_abort(timer_node& node) noexcept {
        pins_.set(queued);
        engine_.defer_limit(results_.template emplace<ended_limits::place>(), node);
    }
    // It fires no more. If it was to be aborted, nothing waits for that turn: the wheel's context may not run any more, or the
    // operation's be gone by then. Returns the other pins.
    unsigned release_timer(timer_node& node) noexcept {
        if (node.armed()) engine_.disarm(node);
        const unsigned bits = pins_.get();
        if ((bits & queued) == 0) [[likely]]
            return bits;
        engine_.call_off(std::get<ended_limits::place>(results_));
        return pins_.clear(queued) & ~queued;
    }

    // The memory is free, and the lock released, when the handler is called.
    Handler take_handler(lock_type& lock) {
        Engine& engine = engine_;
        link_.cut(engine);
        if (signal_.slot().has_handler()) { // what the operation has left there may use the wheel as it goes
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
            lock.unlock(); // another thread hands an emission to an executor whose context may go when we return
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
    back_link<timed_operation> link_; // from the outer slot
    asio::cancellation_type type_;
    asio::cancellation_type wanted_ = asio::cancellation_type::none;
    bool report_;
    bool timed_out_ = false;
    bool limit_ended_ = false; // timed out, or dropped by the wheel
    pin_bits<Engine::concurrent> pins_;
    std::optional<Home> home_;
    std::unique_ptr<running> running_;
    timed_sending* sender_ = nullptr; // of an emission that is being handed over
    std::variant<std::monostate, ended_limits::place, typename signature_traits<Signatures>::results...> results_;
};

} // namespace cogwheel::detail
