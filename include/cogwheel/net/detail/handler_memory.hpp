// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Where a composed operation lives: in memory of its handler's associated allocator, else in Asio's recycled memory.
#pragma once

#include <cogwheel/asio/detail/timed_results.hpp>
#include <cogwheel/wheel/detail/exceptions.hpp>

#include <asio/associated_allocator.hpp>
#include <asio/recycling_allocator.hpp>

#include <memory>
#include <new>
#include <utility>

namespace cogwheel::detail {

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

/// The handler with its results, ready to be called; the operation that kept it is gone, its memory free, also if this throws.
template <class Operation, class Handler, class Results>
auto handler_of_ended(Operation& operation, Handler& handler, Results&& results) {
    struct destroying {
        Operation& operation;
        handler_memory<Handler, Operation> memory;
        ~destroying() { destroy_in(memory, operation); }
    } const at_exit{operation, memory_of_handler<Operation>(handler)}; // asked before the handler moves
    return handler_with_results<Handler, std::decay_t<Results>>{std::move(handler), std::forward<Results>(results)};
}

} // namespace cogwheel::detail
