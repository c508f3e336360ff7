// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The parts of retries and hedges: memory of the handler's allocator; which side continues after a step.
#pragma once

#include <cogwheel/asio/detail/on_wheel.hpp>
#include <cogwheel/detail/assertion.hpp>
#include <cogwheel/detail/exceptions.hpp>

#include COGWHEEL_ASIO_HEADER(associated_allocator.hpp)
#include COGWHEEL_ASIO_HEADER(recycling_allocator.hpp)

#include <memory>
#include <new>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// Returns the executor of a composed operation's steps: the handler's associated one, or the wheel's if the handler
/// has none, or one that runs functions anywhere.
template <class Handler, class Wheels>
auto executor_of_steps(const Handler& handler, const Wheels& wheels) {
    if constexpr (has_place<Handler>)
        return asio::get_associated_executor(handler, wheels);
    else
        return wheels;
}
template <class Handler, class Wheels>
using steps_executor = decltype(executor_of_steps(std::declval<const Handler&>(), std::declval<const Wheels&>()));

/// The allocator of a composed operation: the one associated with its handler, else Asio's recycling allocator.
template <class Handler, class T>
using handler_memory = typename std::allocator_traits<
    asio::associated_allocator_t<Handler, asio::recycling_allocator<void>>>::template rebind_alloc<T>;

template <class T, class Handler>
handler_memory<Handler, T> memory_of_handler(const Handler& handler) noexcept {
    return handler_memory<Handler, T>(asio::get_associated_allocator(handler, asio::recycling_allocator<void>()));
}

/// Makes a T in memory of `memory`. Errors: those of the allocator and the constructor; nothing stays allocated then.
template <class T, class Memory, class... Args>
T& create_in(Memory memory, Args&&... args) {
    T* p = std::allocator_traits<Memory>::allocate(memory, 1);
    COGWHEEL_TRY { return *::new (static_cast<void*>(p)) T(std::forward<Args>(args)...); }
    COGWHEEL_CATCH {
        std::allocator_traits<Memory>::deallocate(memory, p, 1);
        COGWHEEL_RETHROW;
    }
}

/// Destroys `t` and frees its memory. Preconditions: `memory` was taken from the handler before the handler was moved.
template <class T, class Memory>
void destroy_in(Memory memory, T& t) noexcept {
    t.~T();
    std::allocator_traits<Memory>::deallocate(memory, &t, 1);
}

/// Destroys an operation without a call of its handler, and frees its memory. Destroys the handler last, because it may
/// own the source of the memory.
template <class Operation, class Handler>
void abandon_operation(Operation& operation, Handler& handler) noexcept {
    const auto memory = memory_of_handler<Operation>(handler);
    [[maybe_unused]] const Handler kept(std::move(handler));
    destroy_in(memory, operation);
}

/// Returns the handler with its results. Destroys the operation and frees its memory, even if this throws.
template <class Operation, class Handler, class Results>
auto handler_of_ended(Operation& operation, Handler& handler, Results&& results) {
    struct destroying {
        Operation& operation;
        handler_memory<Handler, Operation> memory;
        ~destroying() { destroy_in(memory, operation); }
    } const at_exit{operation, memory_of_handler<Operation>(handler)}; // taken before the handler moves
    return handler_with_results<Handler, std::decay_t<Results>>{std::move(handler), std::forward<Results>(results)};
}

enum class step_state {
    pending,   ///< the handler continues, or has done so: the caller must not touch the operation
    completed, ///< the handler was called: the caller owns the operation
    dropped,   ///< the handler was destroyed or never made: the caller owns the operation
};

/// Decides which side continues after one step of a composed operation: the starter or the handler.
///
/// The starter starts a step with a handler that owns the operation. The handler may be called or destroyed before the
/// start returns, on this thread or another: then the starter continues, else the handler. So no operation is used
/// after its end, or completes inside its initiating function. If the start throws, the operation still has its owner.
template <bool Concurrent>
class step_pin {
public:
    // ---- for the starter ----

    void begin() noexcept {
        made_ = false;
        bits_.clear(completed | dropped);
        bits_.set(starting);
    }
    /// Holds the operation during the emission of a cancellation, because that may end the step.
    void hold() noexcept { bits_.set(starting); }
    /// Releases the operation after begin() or hold(). Returns which side continues.
    step_state let_go() noexcept { return let_go_of(starting); }

    bool is_over() const noexcept { return (bits_.get() & (completed | dropped)) != 0; }

    // ---- for a posted function, which continues if the step has ended by then ----

    /// Returns false if such a function is on its way already.
    bool park() noexcept { return (bits_.set(parked) & parked) == 0; }
    step_state leave() noexcept { return let_go_of(parked); }

    // ---- for the handler ----

    /// Records that the handler was made. Called once for each begin().
    void make() noexcept {
        COGWHEEL_ASSERT(!made_ && "an operation may use its token once");
        made_ = true;
    }
    bool is_held() const noexcept { return (bits_.get() & starting) != 0; }
    /// Records that the handler was called. Returns true if the handler continues; else it has lost the operation.
    bool complete() noexcept { return (bits_.set(completed) & (starting | parked)) == 0; }
    /// Records that the handler was destroyed. Returns as complete() does.
    bool drop() noexcept { return (bits_.set(dropped) & (starting | parked)) == 0; }

private:
    static constexpr unsigned starting = 1;
    static constexpr unsigned completed = 2;
    static constexpr unsigned dropped = 4;
    static constexpr unsigned parked = 8;

    step_state let_go_of(unsigned pin) noexcept {
        const bool made = made_; // read before the handler can run
        const unsigned bits = bits_.clear(pin) & ~pin;
        if ((bits & (starting | parked)) != 0) return step_state::pending;
        if ((bits & completed) != 0) return step_state::completed;
        return (bits & dropped) != 0 || !made ? step_state::dropped : step_state::pending;
    }

    pin_bits<Concurrent> bits_;
    bool made_ = false;
};

/// The handler of an attempt, with a copy of the user's allocator, if any: Asio may ask a moved-from handler for it.
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

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
