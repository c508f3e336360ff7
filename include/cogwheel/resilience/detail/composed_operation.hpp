// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What retries and hedges are composed of: memory of the handler's, and who goes on after a step.
#pragma once

#include <cogwheel/asio/detail/on_wheel.hpp>
#include <cogwheel/detail/exceptions.hpp>

#include <asio/associated_allocator.hpp>
#include <asio/recycling_allocator.hpp>

#include <cassert>
#include <memory>
#include <new>
#include <utility>

namespace cogwheel::detail {

// Where a composed operation lives: in memory of its handler's associated allocator, else in Asio's recycled memory.

template <class Handler, class T>
using handler_memory = typename std::allocator_traits<
    asio::associated_allocator_t<Handler, asio::recycling_allocator<void>>>::template rebind_alloc<T>;

template <class T, class Handler>
handler_memory<Handler, T> memory_of_handler(const Handler& handler) noexcept {
    return handler_memory<Handler, T>(asio::get_associated_allocator(handler, asio::recycling_allocator<void>()));
}

/// Errors: the allocator's and the constructor's; nothing is left then.
template <class T, class Memory, class... Args>
T& create_in(Memory memory, Args&&... args) {
    T* p = std::allocator_traits<Memory>::allocate(memory, 1);
    COGWHEEL_TRY { return *::new (static_cast<void*>(p)) T(std::forward<Args>(args)...); }
    COGWHEEL_CATCH {
        std::allocator_traits<Memory>::deallocate(memory, p, 1);
        COGWHEEL_RETHROW;
    }
}

/// Preconditions: `memory` was asked before the handler was moved from.
template <class T, class Memory>
void destroy_in(Memory memory, T& t) noexcept {
    t.~T();
    std::allocator_traits<Memory>::deallocate(memory, &t, 1);
}

/// The handler with its results, ready to be called; the operation that kept it is gone, its memory free, also if this
/// throws.
template <class Operation, class Handler, class Results>
auto handler_of_ended(Operation& operation, Handler& handler, Results&& results) {
    struct destroying {
        Operation& operation;
        handler_memory<Handler, Operation> memory;
        ~destroying() { destroy_in(memory, operation); }
    } const at_exit{operation, memory_of_handler<Operation>(handler)}; // asked before the handler moves
    return handler_with_results<Handler, std::decay_t<Results>>{std::move(handler), std::forward<Results>(results)};
}

// One step of a composed operation: something is started with a handler that owns the operation, and it may be over, or
// dropped, before the call that starts it returns, on this thread or another. The pin settles who goes on: the handler,
// as a rule; the one who starts, if the handler came first. So nothing touches an operation that is gone, nothing
// completes inside its initiating function, and what throws while it is started leaves its owner in place.

enum class step_state {
    pending,   ///< its handler goes on, perhaps it has: the operation is not ours any more
    completed, ///< the handler was called meanwhile: the operation is ours
    dropped,   ///< the handler was destroyed meanwhile, or never made: the operation is ours
};

template <bool Concurrent>
class step_pin {
public:
    // ---- for the one who starts ----

    void begin() noexcept {
        made_ = false;
        bits_.clear(completed | dropped);
        bits_.set(starting);
    }
    /// For the emission of a cancellation: what is under way may end by it.
    void hold() noexcept { bits_.set(starting); }
    step_state let_go() noexcept { return let_go_of(starting); }

    bool is_over() const noexcept { return (bits_.get() & (completed | dropped)) != 0; }

    // ---- for a function that is posted, and goes on if the step has ended by then ----

    /// False: there is one already.
    bool park() noexcept { return (bits_.set(parked) & parked) == 0; }
    step_state leave() noexcept { return let_go_of(parked); }

    // ---- for the handler ----

    /// Once for each begin().
    void make() noexcept {
        assert(!made_ && "an operation may use its token once");
        made_ = true;
    }
    bool is_held() const noexcept { return (bits_.get() & starting) != 0; }
    /// True: the handler's caller goes on. False: somebody else does, and the operation is not ours any more.
    bool complete() noexcept { return (bits_.set(completed) & (starting | parked)) == 0; }
    bool drop() noexcept { return (bits_.set(dropped) & (starting | parked)) == 0; }

private:
    static constexpr unsigned starting = 1;
    static constexpr unsigned completed = 2;
    static constexpr unsigned dropped = 4;
    static constexpr unsigned parked = 8;

    step_state let_go_of(unsigned pin) noexcept {
        const bool made = made_; // before the handler may run
        const unsigned bits = bits_.clear(pin) & ~pin;
        if ((bits & (starting | parked)) != 0) return step_state::pending;
        if ((bits & completed) != 0) return step_state::completed;
        return (bits & dropped) != 0 || !made ? step_state::dropped : step_state::pending;
    }

    pin_bits<Concurrent> bits_;
    bool made_ = false;
};

/// A handler of an attempt, and the user's allocator if there is one. By value: Asio may ask a handler that was moved
/// from.
template <class Base, class Operation, bool = Operation::allocates>
class with_user_allocator : public Base {
public:
    using Base::Base;
};
template <class Base, class Operation>
class with_user_allocator<Base, Operation, true> : public Base {
public:
    using allocator_type = typename Operation::user_allocator;

    template <class From>
    explicit with_user_allocator(From&& from) : Base(from), allocator_(this->operation().get_user_allocator()) {}
    allocator_type get_allocator() const noexcept { return allocator_; }

private:
    allocator_type allocator_;
};

} // namespace cogwheel::detail
