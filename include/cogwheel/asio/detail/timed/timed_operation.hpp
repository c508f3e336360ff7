// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// An asynchronous operation with a timeout: the impl of timeout() and its relatives (docs/adr/0004).
//
// One block holds the timer's node, the user's handler and the signal that cancels the operation. The operation starts
// with a timed_handler, which holds one pointer. If the operation ends first, the timer is disarmed. If the timer
// expires first, it emits the signal on the handler's executor. The base has the pins and the cancellation.
#pragma once

#include <cogwheel/asio/detail/engine/payload.hpp>
#include <cogwheel/asio/detail/timed/timed_results.hpp>
#include <cogwheel/asio/detail/timed/timed_state.hpp>
#include <cogwheel/asio/detail/timed/timed_travel.hpp>

#include COGWHEEL_ASIO_HEADER(associated_allocator.hpp)
#include COGWHEEL_ASIO_HEADER(associated_cancellation_slot.hpp)
#include COGWHEEL_ASIO_HEADER(cancellation_type.hpp)

#include <optional>
#include <variant>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// An operation with its timer. IoExecutor: the executor type of the operation's I/O object, for handlers without one.
template <class Engine, class Handler, class IoExecutor, class... Signatures>
class timed_operation : public timed_state<Engine> {
    using base = timed_state<Engine>;
    using block = detail::block<timed_operation>;
    using lock_type = typename Engine::lock_type;
    using completion_context = typename Engine::completion_context;

    using base::engine_, base::pins_, base::report_, base::running_, base::timed_out_;
    using base::initiating, base::completed, base::pinned;
    using base::release_timer;

public:
    using allocator_type = typename payload_allocator<Handler>::type;
    auto get_allocator() const noexcept { return asio::get_associated_allocator(handler_); }

    template <class H>
    timed_operation(Engine& engine, H&& handler, const IoExecutor& io_executor, asio::cancellation_type type,
                    bool report)
        : base(engine, actions, type, report), handler_(std::forward<H>(handler)) {
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
        timer_node& node = block::create(engine.nodes, asio::get_associated_allocator(handler), engine,
                                         std::forward<H>(handler), io_executor, type, report);
        node.completion(&end);
        timed_operation& self = block::payload(node);
        engine.join();
        if constexpr (can_fail<Signatures...>)
            if (how != admission::accepted) {
                lock.unlock();
                using results = typename signature_traits<std::tuple_element_t<0, std::tuple<Signatures...>>>::results;
                owner pointer(self); // abandons if an exception comes before the results are there
                self.results_.template emplace<results>(failed_results<results>(error_of(how)));
                return pointer.release().refuse();
            }
        if constexpr (Engine::concurrent) self.pins_.set(initiating);
        const typename base::initiation ending{self}; // unpins
        owner pointer(self);                          // abandons if an exception comes before the operation owns it
        self.launch(lock, node, how, when, outer);
        std::forward<Initiate>(initiate)(std::move(pointer));
    }

    using owner = operation_owner<timed_operation>;

    const Handler& handler() const noexcept { return handler_; }

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
    using executor_type =
        std::conditional_t<has_place<Handler>, asio::associated_executor_t<Handler, asio::any_io_executor>, IoExecutor>;
    friend owner;

    static void end(timer_node& node, void* context) {
        auto& c = *static_cast<completion_context*>(context);
        if (c.how == outcome::expired) {
            if (c.engine.is_first_of_tick(node)) return c.engine.begin_tick(node, context);
            c.engine.template note_expiry<timer_kind::timeout, Handler>(node);
        }
        block::payload(node).base::end(node, c);
    }

    // Returns the executor that calls the handler and emits the signal.
    executor_type executor() const {
        if constexpr (has_place<Handler>)
            return asio::get_associated_executor(handler_, any_executor()); // a type may have one, and an object none
        else if constexpr (std::is_same_v<IoExecutor, asio::any_io_executor>)
            return io_executor_ ? *io_executor_ : engine_.executor();
        else
            return io_executor_ ? *io_executor_ : *engine_.executor().template target<IoExecutor>();
    }
    asio::any_io_executor any_executor() const {
        return io_executor_ ? asio::any_io_executor(*io_executor_) : engine_.executor();
    }
    // Returns true if a turn of the wheel runs on that executor.
    bool is_on_wheel_executor() const {
        if constexpr (has_place<Handler>)
            return is_executor(engine_.executor(), executor());
        else
            return !io_executor_;
    }

    // Keeps run() from returning until the initiating thread has posted the results: that thread may be outside run().
    void keep_running() noexcept {
        if (engine_.is_shut_down()) return;
        COGWHEEL_TRY { running_.reset(make_timed_work(engine_.executor(), io_executor_, handler_)); }
        COGWHEEL_CATCH {
            // run() may return then, and the handler waits for the next run()
        }
    }

    template <class Results, class... Args>
    void finish(lock_type& lock, Args&&... args) {
        if (timed_out_ && report_) return finish_stored(lock, Results(std::forward<Args>(args)...));
        Handler handler = take_handler(lock);
        std::move(handler)(std::forward<Args>(args)...);
    }
    template <class Results>
    void finish_stored(lock_type& lock, Results results) {
        if constexpr (std::tuple_size_v<Results> != 0)
            if (timed_out_ && report_) report_timeout(std::get<0>(results));
        detail::call_with(take_handler(lock), std::move(results));
    }
    // Moves the handler out, frees the block and releases the lock.
    Handler take_handler(lock_type& lock) {
        Engine& engine = engine_;
        base::let_go(lock);
        Handler handler = block::take_out(engine.nodes, lock, block::node(*this),
                                          [](timed_operation& o) -> Handler { return std::move(o.handler_); });
        base::leave(engine, lock);
        return handler;
    }

    // ---- timed_actions ----

    static timed_operation& of(base& b) noexcept { return static_cast<timed_operation&>(b); }
    static timer_node& node_of(base& b) noexcept { return block::node(of(b)); }
    static bool is_at_home(const base& b) { return static_cast<const timed_operation&>(b).is_on_wheel_executor(); }
    static void dispatch(base& b, operation_call&& call) {
        const auto executor = of(b).executor();
        const auto allocator = of(b).get_allocator(); // the operation may be destroyed in the same call
        dispatch_plain(executor, allocator, std::move(call));
    }
    static void post(base& b, operation_call&& call) {
        way_to<executor_type>::post(of(b).executor(), of(b).any_executor(), of(b).get_allocator(), std::move(call));
    }
    static pending_cancellation& make_pending(base& b) noexcept {
        return of(b).results_.template emplace<pending_cancellation>();
    }
    static void withdraw(base& b) noexcept {
        of(b).engine_.withdraw_cancellation(std::get<pending_cancellation>(of(b).results_));
    }
    // Calls the handler with the stored results. Preconditions: no pin; on its executor.
    static void deliver(base& b, lock_type& lock) {
        const auto kept = std::move(of(b).running_);
        (of(b).template deliver_as<typename signature_traits<Signatures>::results>(lock) || ...);
    }
    template <class Results>
    bool deliver_as(lock_type& lock) {
        Results* stored = std::get_if<Results>(&results_);
        if (stored == nullptr) return false;
        finish_stored(lock, std::move(*stored));
        return true;
    }
    static void drop(base& b, lock_type& lock) { [[maybe_unused]] const Handler dropped = of(b).take_handler(lock); }

    static constexpr timed_actions<Engine> actions{&node_of,      &is_at_home, &dispatch, &post,
                                                   &make_pending, &withdraw,   &deliver,  &drop};

    Handler handler_;
    std::optional<IoExecutor> io_executor_;
    std::variant<std::monostate, pending_cancellation, typename signature_traits<Signatures>::results...> results_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
