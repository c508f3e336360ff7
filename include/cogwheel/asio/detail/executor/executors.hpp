// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Functions of executors: to count work, to post a handler to its own executor, to compare executors.
#pragma once

#include <cogwheel/detail/exceptions.hpp>
#include <cogwheel/detail/which_asio.hpp>

#include COGWHEEL_ASIO_HEADER(any_io_executor.hpp)
#include COGWHEEL_ASIO_HEADER(associated_allocator.hpp)
#include COGWHEEL_ASIO_HEADER(associated_executor.hpp)
#include COGWHEEL_ASIO_HEADER(bind_allocator.hpp)
#include COGWHEEL_ASIO_HEADER(bind_executor.hpp)
#include COGWHEEL_ASIO_HEADER(execution/allocator.hpp)
#include COGWHEEL_ASIO_HEADER(execution/blocking.hpp)
#include COGWHEEL_ASIO_HEADER(execution/context.hpp)
#include COGWHEEL_ASIO_HEADER(execution/executor.hpp)
#include COGWHEEL_ASIO_HEADER(execution/outstanding_work.hpp)
#include COGWHEEL_ASIO_HEADER(execution/relationship.hpp)
#include COGWHEEL_ASIO_HEADER(executor_work_guard.hpp)
#include COGWHEEL_ASIO_HEADER(io_context.hpp)
#include COGWHEEL_ASIO_HEADER(post.hpp)
#include COGWHEEL_ASIO_HEADER(prefer.hpp)
#include COGWHEEL_ASIO_HEADER(query.hpp)
#include COGWHEEL_ASIO_HEADER(require.hpp)
#include COGWHEEL_ASIO_HEADER(strand.hpp)
#include COGWHEEL_ASIO_HEADER(system_context.hpp)
#include COGWHEEL_ASIO_HEADER(system_executor.hpp)
#include COGWHEEL_ASIO_HEADER(version.hpp)
#if COGWHEEL_ASIO_MACRO(VERSION) < 102600
#include COGWHEEL_ASIO_HEADER(execution/execute.hpp)
#endif

#include <memory>
#include <optional>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

// ---- work ----

/// Outstanding work that the executor itself counts, if it can. An executor_work_guard would destroy a second copy of
/// the executor after the work. The context may be gone by then, and the last copy of a strand needs it.
template <class Executor,
          bool = asio::can_prefer<const Executor&, asio::execution::outstanding_work_t::tracked_t>::value>
struct work_counter {
    using type = std::decay_t<
        typename asio::prefer_result<const Executor&, asio::execution::outstanding_work_t::tracked_t>::type>;
    static type of(const Executor& e) { return asio::prefer(e, asio::execution::outstanding_work.tracked); }
    static const type& executor_of(const type& counter) noexcept { return counter; }
};
template <class Executor>
struct work_counter<Executor, false> {
    using type = asio::executor_work_guard<Executor>;
    static type of(const Executor& e) { return type(e); }
    static Executor executor_of(const type& counter) noexcept { return counter.get_executor(); }
};

/// Keeps a context running while it lives. Declare it before members that need the context: they are destroyed first.
template <class Executor>
class counted_work {
public:
    explicit counted_work(const Executor& e) : counter_(work_counter<Executor>::of(e)) {}

private:
    typename work_counter<Executor>::type counter_;
};

/// An executor that keeps its context running.
template <class Executor>
class working_executor {
public:
    explicit working_executor(const Executor& e) : work_(e), executor_(e) {}

    const Executor& get() const noexcept { return executor_; }

private:
    counted_work<Executor> work_;
    Executor executor_;
};

// ---- on the way to an executor ----

/// True for inline_executor, system_executor and the executor of asio::use_future: they run a dispatched function on
/// the calling thread, and a posted one (if they can post) on a thread of Asio's system context. Functions that must
/// not run on several threads at once need another executor. A strand of the system context can promise never to block.
template <class Executor>
inline constexpr bool runs_anywhere = [] {
    if constexpr (asio::can_query<const Executor&, asio::execution::context_t>::value)
        return std::is_same_v<
                   std::decay_t<decltype(asio::query(std::declval<const Executor&>(), asio::execution::context))>,
                   asio::system_context> &&
               !asio::can_require<const Executor&, asio::execution::blocking_t::never_t>::value;
    else
        return false;
}();
template <class Blocking, class Relationship, class Allocator>
inline constexpr bool runs_anywhere<asio::basic_system_executor<Blocking, Relationship, Allocator>> = true;
template <class T, class Blocking>
inline constexpr bool runs_anywhere<asio::detail::promise_executor<T, Blocking>> = true;

/// True if f(args...) compiles. std::invocable, also for pointers to members, costs ten templates for each type of f.
template <class F, class... Args>
concept callable = requires(F&& f, Args&&... args) { static_cast<F&&>(f)(static_cast<Args&&>(args)...); };

/// A nullary handler without its associated executor. asio::post(executor, f) and dispatch() go to `executor`, and then
/// to the associated executor of f. If both are the same, f could pass through its queue twice.
template <class F>
struct bare_handler {
    using allocator_type = asio::associated_allocator_t<F>;

    F handler;

    allocator_type get_allocator() const noexcept { return asio::get_associated_allocator(handler); }
    void operator()() { std::move(handler)(); }
};

/// Calls executor.execute(f). Before Asio 1.26, only a function of Asio may call that member.
template <class Executor, class F>
void execute_on(const Executor& executor, F&& f) {
#if COGWHEEL_ASIO_MACRO(VERSION) < 102600
    asio::execution::execute(executor, std::forward<F>(f));
#else
    executor.execute(std::forward<F>(f));
#endif
}

/// Does what asio::dispatch() is documented to do, for a nullary function without associations. The compiler
/// instantiates half as much. Allocates by `allocator`.
template <class Executor, class Allocator, class F>
void dispatch_plain(const Executor& executor, const Allocator& allocator, F&& f) {
    if constexpr (asio::execution::is_executor<Executor>::value)
        execute_on(asio::prefer(executor, asio::execution::blocking.possibly, asio::execution::allocator(allocator)),
                   std::forward<F>(f));
    else
        executor.dispatch(std::forward<F>(f), allocator);
}

/// Does the same for asio::post(). Preconditions: the executor can promise never to block.
template <class Executor, class Allocator, class F>
void post_plain(const Executor& executor, const Allocator& allocator, F&& f) {
    if constexpr (asio::execution::is_executor<Executor>::value)
        execute_on(asio::prefer(asio::require(executor, asio::execution::blocking.never),
                                asio::execution::relationship.fork, asio::execution::allocator(allocator)),
                   std::forward<F>(f));
    else
        executor.post(std::forward<F>(f), allocator);
}

/// Dispatches the handler, once. Preconditions: `executor` is the handler's associated executor.
template <class Executor, class F>
void dispatch_on(const Executor& executor, F&& handler) {
    const auto allocator = asio::get_associated_allocator(handler); // the handler moves in the same call
    dispatch_plain(executor, allocator, bare_handler<std::decay_t<F>>{std::forward<F>(handler)});
}

/// A call of an operation, on its way to an executor. It names neither the operation's nor the handler's type, so that
/// executors are instantiated once for all. Reports its destruction without a call.
class operation_call {
public:
    /// Makes a call of Arrive, or of Lost, which does not throw. Both are member functions of Operation.
    template <auto Arrive, auto Lost, class Operation>
    static operation_call of(Operation& o) noexcept {
        return operation_call(&o, &end_by<Operation, Arrive, Lost>);
    }
    operation_call(operation_call&& other) noexcept
        : operation_(std::exchange(other.operation_, nullptr)), end_(other.end_) {}
    operation_call& operator=(operation_call&&) = delete;
    ~operation_call() {
        if (operation_ != nullptr) end_(operation_, false);
    }
    void operator()() { end_(std::exchange(operation_, nullptr), true); }

private:
    using ending = void (*)(void* operation, bool arrives);
    template <class Operation, auto Arrive, auto Lost>
    static void end_by(void* operation, bool arrives) {
        auto& self = *static_cast<Operation*>(operation);
        if (arrives)
            (self.*Arrive)();
        else
            (self.*Lost)();
    }
    operation_call(void* operation, ending end) noexcept : operation_(operation), end_(end) {}

    void* operation_;
    ending end_;
};

/// Posts to an executor: first through `other`, if the executor may block or would use Asio's system context.
template <class Executor>
class way_to {
    static constexpr bool straight =
        !asio::execution::is_executor<Executor>::value ||
        (!runs_anywhere<Executor> && asio::can_require<const Executor&, asio::execution::blocking_t::never_t>::value);
    using first = std::conditional_t<straight, Executor, asio::any_io_executor>;

    template <class Other>
    static const auto& choose(const Executor& own, [[maybe_unused]] const Other& other) noexcept {
        if constexpr (straight)
            return own;
        else
            return other;
    }

public:
    template <class Other>
    way_to(const Executor& own, const Other& other) : first_(choose(own, other)) {}

    /// Preconditions: the executor is the handler's associated executor.
    template <class F>
    void post(F&& handler) const {
        if constexpr (straight) {
            const auto allocator = asio::get_associated_allocator(handler); // the handler moves in the same call
            post_plain(first_, allocator, bare_handler<std::decay_t<F>>{std::forward<F>(handler)});
        } else {
            asio::post(first_, std::forward<F>(handler));
        }
    }

    /// Posts a call to the executor, and allocates by `allocator`. `other` is any executor that can promise it.
    template <class Other, class Allocator>
    static void post(const Executor& own, const Other& other, const Allocator& allocator, operation_call&& call) {
        if constexpr (straight)
            post_plain(own, allocator, std::move(call));
        else
            asio::post(other, asio::bind_executor(own, asio::bind_allocator(allocator, std::move(call))));
    }

private:
    first first_;
};

// ---- which executor ----

/// Returns the execution context of an executor. The type is that of the context, if the executor says it.
template <class Executor>
auto& context_of(const Executor& executor) {
    if constexpr (asio::can_query<const Executor&, asio::execution::context_t>::value)
        return asio::query(executor, asio::execution::context);
    else
        return executor.context();
}

/// A default that no handler is associated with: an association that returns it shows that the type has none.
struct no_executor {};
template <class T>
inline constexpr bool has_executor = !std::is_same_v<asio::associated_executor_t<T, no_executor>, no_executor>;
template <class T>
inline constexpr bool has_allocator =
    !std::is_same_v<asio::associated_allocator_t<T, std::allocator<no_executor>>, std::allocator<no_executor>>;
/// True if a handler has an executor that says where its operation's steps may run.
template <class T>
inline constexpr bool has_place = has_executor<T> && !runs_anywhere<asio::associated_executor_t<T, no_executor>>;

/// Returns true if both are the same executor. Checks the type first, which target<E>() of Asio 1.22 does not. Without
/// typeid, compares both as any_io_executor, and returns false if there is no memory: callers are then only slower.
template <class E>
bool is_executor(const asio::any_io_executor& erased, const E& e) noexcept {
#if COGWHEEL_ASIO_MACRO(NO_TYPEID)
    COGWHEEL_TRY { return erased == asio::any_io_executor(e); }
    COGWHEEL_CATCH { return false; }
#else
    if constexpr (std::is_same_v<E, asio::any_io_executor>)
        return erased == e;
    else
        return erased.target_type() == typeid(E) && *erased.template target<E>() == e;
#endif
}

/// Dispatches `f` to its associated executor; calls it directly if that is the wheel's. Preconditions: in a turn.
template <class F>
void run_associated(F&& f, const asio::any_io_executor& wheel_executor) {
    const auto executor = asio::get_associated_executor(f, wheel_executor);
    if (is_executor(wheel_executor, executor)) return std::forward<F>(f)();
    dispatch_on(executor, std::forward<F>(f));
}

/// Keeps the context of T's associated executor running while the timer is pending. Costs no byte for types without
/// one: the armed driver keeps the wheel's own executor running.
template <class T, bool = has_executor<T>>
class foreign_work {
public:
    foreign_work(const T&, const asio::any_io_executor&) noexcept {}
};

template <class T>
class foreign_work<T, true> {
    using executor_type = asio::associated_executor_t<T, asio::any_io_executor>;

public:
    foreign_work(const T& t, const asio::any_io_executor& wheel_executor) {
        const executor_type executor = asio::get_associated_executor(t, wheel_executor);
        if (!is_executor(wheel_executor, executor)) work_.emplace(executor);
    }

private:
    std::optional<counted_work<executor_type>> work_;
};

/// Returns true if two executors of any types are the same; false if it cannot tell.
template <class A, class B>
bool same_executor(const A& a, const B& b) noexcept {
    if constexpr (std::is_same_v<A, B>)
        return a == b;
    else if constexpr (std::is_same_v<A, asio::any_io_executor>)
        return is_executor(a, b);
    else if constexpr (std::is_same_v<B, asio::any_io_executor>)
        return is_executor(b, a);
    else
        return false;
}

/// Posts a handler to its associated executor, else to `fallback`.
template <class Executor, class F>
void post_to_its_own(const Executor& fallback, F&& handler) {
    way_to(asio::get_associated_executor(handler, fallback), fallback).post(std::forward<F>(handler));
}

/// Returns the io_context of an executor, or of a strand on it. Returns nullptr for other contexts, and without typeid.
[[gnu::cold]] inline asio::io_context* loop_of([[maybe_unused]] const asio::any_io_executor& executor) noexcept {
#if !COGWHEEL_ASIO_MACRO(NO_TYPEID)
    using direct = asio::io_context::executor_type;
    // With ASIO_NO_TS_EXECUTORS, executors have no context().
    const auto context = [](const direct& e) { return &asio::query(e, asio::execution::context); };
    if (executor.target_type() == typeid(direct)) return context(*executor.target<direct>());
    using strand = asio::strand<direct>;
    if (executor.target_type() == typeid(strand)) return context(executor.target<strand>()->get_inner_executor());
    using outer = asio::strand<asio::any_io_executor>; // of the executor of an I/O object
    if (executor.target_type() == typeid(outer)) return loop_of(executor.target<outer>()->get_inner_executor());
#endif
    return nullptr;
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
