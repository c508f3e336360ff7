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
#pragma once

#include <cogwheel/asio/detail/ended_limits.hpp>
#include <cogwheel/asio/detail/payload.hpp>
#include <cogwheel/asio/detail/timed_results.hpp>
#include <cogwheel/wheel/detail/exceptions.hpp>
#include <cogwheel/wheel/node_list.hpp>

#include <asio/associated_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/post.hpp>

#include <atomic>
#include <memory>
#include <tuple>
#include <variant>

namespace cogwheel::detail {

// ---- who pins the block ----

/// Bits that change under the engine's lock, but for the end of an initiation, which takes none.
template <bool Concurrent>
class pin_bits {
public:
    unsigned get() const noexcept { return bits_.load(std::memory_order_acquire); }
    /// The bits before.
    unsigned set(unsigned b) noexcept { return bits_.fetch_or(b, std::memory_order_acq_rel); }
    unsigned clear(unsigned b) noexcept { return bits_.fetch_and(~b, std::memory_order_acq_rel); }
    /// False, and nothing changes, if other bits are set, too. On success the block is not ours any more.
    bool clear_if_alone(unsigned b) noexcept {
        return bits_.compare_exchange_strong(b, 0, std::memory_order_acq_rel, std::memory_order_acquire);
    }

private:
    std::atomic<unsigned> bits_{0};
};
template <>
class pin_bits<false> {
public:
    unsigned get() const noexcept { return bits_; }
    unsigned set(unsigned b) noexcept { return std::exchange(bits_, bits_ | b); }
    unsigned clear(unsigned b) noexcept { return std::exchange(bits_, bits_ & ~b); }

private:
    unsigned bits_ = 0;
};

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
            if (!is_wheels(home)) home_.emplace(home);
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
            if (how != outcome::expired) return refused(lock, home, how, std::forward<H>(handler));
        timer_node& node = block::create(engine.nodes, asio::get_associated_allocator(handler), engine,
                                         std::forward<H>(handler), home, type, report);
        node.on_expiry(&end);
        timed_operation& self = block::payload(node);
        engine.join();
        if constexpr (Engine::concurrent) self.pins_.set(initiating);
        const initiation ending{&self}; // unpins
        timed_pointer pointer(self);    // abandons, if an exception comes before the operation has it
        COGWHEEL_TRY {
            if (how == outcome::expired) {
                engine.arm(node, when);
            } else { // no timer, and no error to say so: cancelled at once
                engine.request_turn();
                self.await_abort(node);
            }
            const timer_id link = outer.is_connected() ? self.link() : timer_id();
            lock.unlock();
            if (outer.is_connected()) outer.template emplace<pass_on>(engine, link); // its memory is the user's
        }
        COGWHEEL_CATCH {
            if (lock.owns_lock()) lock.unlock();
            COGWHEEL_RETHROW;
        }
        std::forward<Initiate>(initiate)(std::move(pointer));
    }

    /// The right to complete the operation, or, if destroyed, to abandon it.
    class timed_pointer {
    public:
        explicit timed_pointer(timed_operation& o) noexcept : operation_(&o) {}
        timed_pointer(timed_pointer&& other) noexcept : operation_(std::exchange(other.operation_, nullptr)) {}
        timed_pointer& operator=(timed_pointer&&) = delete;
        ~timed_pointer() {
            if (operation_ != nullptr) operation_->abandon();
        }
        timed_operation& operator*() const noexcept { return *operation_; }
        timed_operation& release() noexcept { return *std::exchange(operation_, nullptr); }

    private:
        timed_operation* operation_;
    };

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
        if ((bits & (initiating | outside)) != 0) keep_running();
        if ((pins_.set(completed) & pinned) == 0) deliver_results(lock, true); // the initiator has gone meanwhile
    }

private:
    static constexpr unsigned initiating = 1; // pin: the initiating function has not returned
    static constexpr unsigned emitting = 2;   // pin: the signal is about to be emitted
    static constexpr unsigned queued = 4;     // pin: the node waits for a turn of the wheel, which will emit
    static constexpr unsigned completed = 8;  // results_ wait for the last pin
    static constexpr unsigned abandoned = 16; // the handler is only to be destroyed, once the last pin is gone
    static constexpr unsigned asked = 32;   // wanted_ is to be emitted: by whoever emits or initiates, if somebody does
    static constexpr unsigned outside = 64; // the one who emits came through the outer slot, from wherever
    static constexpr unsigned pinned = initiating | emitting | queued;
    static constexpr unsigned over = completed | abandoned;

    // From the outer cancellation slot to ours. It may come after all is over: then the link is stale.
    struct pass_on {
        Engine* engine;
        timer_id link;

        pass_on(Engine& e, timer_id l) noexcept : engine(&e), link(l) {}
        void operator()(asio::cancellation_type_t type) {
            lock_type lock = engine->lock();
            timer_node* node = engine->waits.find(link);
            if (node != nullptr) linked(*node)->emit_from_outside(lock, type);
        }
    };

    // Unpins when the initiating function returns, also by an exception.
    struct initiation {
        timed_operation* self;
        ~initiation() noexcept(false) {
            if constexpr (Engine::concurrent) {
                if (!self->pins_.clear_if_alone(initiating)) self->after_initiation();
            }
        }
    };

    // Emits on the handler's executor. Destroyed there without a call, it unpins all the same.
    class emission {
    public:
        emission(timed_operation& o, bool inline_allowed) noexcept : operation_(&o), inline_allowed_(inline_allowed) {}
        emission(emission&& other) noexcept
            : operation_(std::exchange(other.operation_, nullptr)), inline_allowed_(other.inline_allowed_) {}
        emission& operator=(emission&&) = delete;
        ~emission() {
            if (operation_ == nullptr) return;
            lock_type lock = operation_->engine_.lock();
            operation_->unpin(lock, emitting, false);
        }
        void operator()() {
            timed_operation& o = *std::exchange(operation_, nullptr);
            lock_type lock = o.engine_.lock();
            o.emit(lock, inline_allowed_);
        }

    private:
        timed_operation* operation_;
        bool inline_allowed_;
    };

    static void end(timer_node& node, void* context) {
        auto& c = *static_cast<completion*>(context);
        timed_operation& self = block::payload(node);
        switch (c.how) {
        case outcome::expired:
            c.state.note_expiry(node);
            self.timed_out_ = true;
            if (!self.ask(self.type_)) return;
            break;
        case outcome::collected:
            return self.await_abort(node);
        case outcome::destroyed:
            self.unpin(c.lock, queued, false);
            if (!c.lock.owns_lock()) c.lock.lock();
            return;
        default: { // all timers were cancelled: the operation is, too
            const bool emits = self.ask(self.type_);
            self.pins_.clear(queued);
            if (!emits) return;
        }
        }
        c.lock.unlock();
        self.emit_at_home(true);
        c.lock.lock();
    }

    // Preconditions: pinned, the lock is not held. Where this thread is at home already, inline_allowed says whether the
    // operation may complete before this returns.
    void emit_at_home(bool inline_allowed) {
        if constexpr (has_executor<Handler>)
            run_associated(bound_emission{asio::get_associated_executor(handler_, engine_.executor()),
                                          emission(*this, inline_allowed)},
                           engine_.executor());
        else if (home_)
            asio::dispatch(*home_, emission(*this, inline_allowed));
        else
            emission(*this, inline_allowed)();
    }
    struct bound_emission {
        using executor_type = asio::associated_executor_t<Handler, asio::any_io_executor>;
        executor_type executor;
        emission run;

        executor_type get_executor() const noexcept { return executor; }
        void operator()() { run(); }
    };

    // ---- the signal ----

    // True: the caller has to emit, and has pinned the operation for it. Preconditions: the lock is held.
    bool ask(asio::cancellation_type_t type) noexcept {
        wanted_ = wanted_ | type;
        if ((pins_.set(asked) & (initiating | emitting)) != 0) return false;
        pins_.set(emitting);
        return true;
    }
    void emit_from_outside(lock_type& lock, asio::cancellation_type_t type) {
        if (!ask(type)) return;
        pins_.set(outside);
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
                lock.lock();
                unpin(lock, emitting | outside, false);
                COGWHEEL_RETHROW;
            }
            lock.lock();
        }
        unpin(lock, emitting | outside, inline_allowed);
    }

    // ---- the end ----

    void unpin(lock_type& lock, unsigned pin, bool inline_allowed) {
        const unsigned bits = pins_.clear(pin) & ~pin;
        if ((bits & pinned) != 0) return;
        if ((bits & abandoned) != 0)
            drop(lock);
        else if ((bits & completed) != 0)
            deliver_results(lock, inline_allowed && !engine_.is_shut_down());
    }
    void after_initiation() {
        lock_type lock = engine_.lock();
        if ((pins_.get() & (asked | over)) != asked) return unpin(lock, initiating, false);
        pins_.set(emitting);
        pins_.clear(initiating);
        lock.unlock();
        emit_at_home(false);
    }

    // Who completes is on the executors; who unpins may be on none. Until it has posted, run() is not to return.
    struct running {
        counted_work<asio::any_io_executor> wheel;
        std::optional<counted_work<Home>> home;
        [[no_unique_address]] foreign_work<Handler> bound;

        explicit running(const timed_operation& o)
            : wheel(o.engine_.executor()), bound(o.handler_, o.engine_.executor()) {
            if (o.home_) home.emplace(*o.home_);
        }
    };
    void keep_running() noexcept {
        if (engine_.is_shut_down()) return;
        COGWHEEL_TRY { running_ = std::make_unique<running>(*this); }
        COGWHEEL_CATCH {
            // then it may return, and the handler waits for the next run()
        }
    }

    void deliver_results(lock_type& lock, bool inline_allowed) {
        const auto kept = std::move(running_);
        auto results = std::move(results_);
        std::visit(
            [&]<class R>(R& r) {
                if constexpr (!std::same_as<R, std::monostate> && !std::same_as<R, ended_limits::place>) {
                    if (inline_allowed) {
                        std::apply([&](auto&... args) { finish<R>(lock, std::move(args)...); }, r);
                    } else if (engine_.is_shut_down()) {
                        drop(lock);
                    } else {
                        translate_all(r);
                        const std::optional<Home> home = home_;
                        const asio::any_io_executor wheel = engine_.executor();
                        handler_with_results<Handler, R> bound{take_handler(lock), std::move(r)};
                        if (home)
                            asio::post(*home, std::move(bound));
                        else
                            asio::post(wheel, std::move(bound));
                    }
                }
            },
            results);
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
    template <class Results>
    void translate_all(Results& r) {
        if constexpr (std::tuple_size_v<Results> != 0)
            if (timed_out_ && report_) report_timeout(std::get<0>(r));
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
        forget_link();
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
        release_timer(block::node(*this));
        if ((pins_.set(abandoned) & pinned) != 0) return;
        drop(lock);
    }

    template <class H>
    static void refused(lock_type& lock, const Home& home, outcome how, H&& handler) {
        using results = typename signature_traits<std::tuple_element_t<0, std::tuple<Signatures...>>>::results;
        lock.unlock();
        const std::error_code ec = how == outcome::stopped ? errc::stopped : errc::too_many_timers;
        results r;
        if constexpr (std::same_as<std::tuple_element_t<0, results>, std::error_code>)
            std::get<0>(r) = ec;
        else
            std::get<0>(r) = std::make_exception_ptr(std::system_error(ec));
        asio::post(home, handler_with_results<Handler, results>{std::forward<H>(handler), std::move(r)});
    }

    // ---- the way from the outer slot ----

    static timed_operation*& linked(timer_node& node) noexcept {
        return *std::launder(reinterpret_cast<timed_operation**>(&node + 1));
    }
    timer_id link() {
        timer_node& node = engine_.waits.allocate(link_size);
        ::new (static_cast<void*>(&node + 1)) timed_operation*(this);
        link_.push_back(node);
        return node.id();
    }
    void forget_link() noexcept {
        if (timer_node* node = link_.pop_front()) engine_.waits.release(*node, link_size);
    }
    static constexpr std::size_t link_size = sizeof(timer_node) + sizeof(void*);

    bool is_wheels(const Home& home) const noexcept { return is_executor(engine_.executor(), home); }

    Engine& engine_;
    Handler handler_;
    asio::cancellation_signal signal_;
    node_list link_;
    asio::cancellation_type type_;
    asio::cancellation_type wanted_ = asio::cancellation_type::none;
    bool report_;
    bool timed_out_ = false;
    pin_bits<Engine::concurrent> pins_;
    std::optional<Home> home_;
    std::unique_ptr<running> running_;
    std::variant<std::monostate, ended_limits::place, typename signature_traits<Signatures>::results...> results_;
};

/// The handler that the operation is started with: one pointer, and the user's associations, but for the slot.
template <class Operation>
class timed_handler {
public:
    explicit timed_handler(typename Operation::timed_pointer p) noexcept : operation_(std::move(p)) {}

    template <class... Args>
    void operator()(Args&&... args) {
        operation_.release().complete(std::forward<Args>(args)...);
    }

    const auto& handler() const noexcept { return (*operation_).handler(); }
    asio::cancellation_slot slot() const noexcept { return (*operation_).slot(); }

private:
    typename Operation::timed_pointer operation_;
};

} // namespace cogwheel::detail

template <template <class, class> class Associator, class Operation, class Default>
struct asio::associator<Associator, cogwheel::detail::timed_handler<Operation>, Default>
    : Associator<std::decay_t<decltype(std::declval<const Operation&>().handler())>, Default> {
    using base = Associator<std::decay_t<decltype(std::declval<const Operation&>().handler())>, Default>;
    static decltype(auto) get(const cogwheel::detail::timed_handler<Operation>& h) noexcept {
        return base::get(h.handler());
    }
    static decltype(auto) get(const cogwheel::detail::timed_handler<Operation>& h, const Default& d) noexcept {
        return base::get(h.handler(), d);
    }
};

template <class Operation, class Default>
struct asio::associated_cancellation_slot<cogwheel::detail::timed_handler<Operation>, Default> {
    using type = asio::cancellation_slot;
    static type get(const cogwheel::detail::timed_handler<Operation>& h, const Default& = Default()) noexcept {
        return h.slot();
    }
};
