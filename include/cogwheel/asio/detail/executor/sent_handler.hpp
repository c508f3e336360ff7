// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A wait of a timer object whose executor is not the wheel's, with a handler that has no executor.
//
// The handler lies in a block of its own. The wait, and the function that goes to the executor, do not name its type,
// so they are compiled once for each type of executor.
#pragma once

#include <cogwheel/asio/detail/engine/payload.hpp>
#include <cogwheel/detail/exceptions.hpp>

#include COGWHEEL_ASIO_HEADER(recycling_allocator.hpp)

#include <memory>
#include <new>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// A handler with its error code, in memory of Asio's recycling allocator. Its call() ends it.
template <class Handler>
class stored_handler {
    using memory = asio::recycling_allocator<stored_handler>;

public:
    /// Errors: std::bad_alloc, those of the handler's move.
    template <class H>
    static stored_handler& create(H&& handler) {
        stored_handler* p = memory().allocate(1);
        COGWHEEL_TRY { return *::new (static_cast<void*>(p)) stored_handler(std::forward<H>(handler)); }
        COGWHEEL_CATCH {
            memory().deallocate(p, 1);
            COGWHEEL_RETHROW;
        }
    }

    /// Calls the handler, or only destroys it. The memory is free before the call.
    operation_call call() noexcept { return operation_call::of<&stored_handler::run, &stored_handler::drop>(*this); }

    error_code& result() noexcept { return bound_.ec; }

private:
    struct freeing {
        stored_handler* p;
        ~freeing() {
            p->~stored_handler();
            memory().deallocate(p, 1);
        }
    };

    template <class H>
    explicit stored_handler(H&& handler) : bound_{std::forward<H>(handler), {}} {}

    bound_handler<Handler> take_out() {
        const freeing freed{this};
        return std::move(bound_);
    }
    void run() {
        bound_handler<Handler> bound = take_out();
        bound();
    }
    void drop() noexcept { const freeing freed{this}; }

    bound_handler<Handler> bound_;
};

/// A wait in the list of a wheel_timer_impl, as listed_handler, whose handler is called on `executor`.
template <class Executor>
class sent_handler COGWHEEL_ASIO_MACRO(INHERIT_TRACKED_HANDLER) {
    using counter = work_counter<Executor>;

public:
    using allocator_type = void;
    static constexpr timer_kind kind = timer_kind::wait;
    static constexpr bool silent = false;
    static constexpr bool listed = true;

    /// Preconditions: the handler has neither an executor nor an allocator.
    /// Errors: std::bad_alloc, those of the handler's move.
    template <class Handler>
    sent_handler(const Executor& executor, Handler&& handler)
        : sent_handler(executor, stored_handler<std::decay_t<Handler>>::create(std::forward<Handler>(handler))) {}
    sent_handler(sent_handler&& other, const asio::any_io_executor&) : sent_handler(std::move(other)) {}

    template <class Engine>
    void deliver(outcome how, Engine&) && {
        COGWHEEL_ASIO_MACRO(HANDLER_COMPLETION)((*this));
        if (how == outcome::destroyed) return;
        *ec_ = wait_error(how);
        COGWHEEL_ASIO_MACRO(HANDLER_INVOCATION_BEGIN)((*ec_));
        dispatch_plain(counter::executor_of(work_), asio::recycling_allocator<void>(), std::move(call_));
        COGWHEEL_ASIO_MACRO(HANDLER_INVOCATION_END);
    }

    static std::allocator<void> allocator_of(const sent_handler&) noexcept { return {}; }
    static std::allocator<void> get_allocator() noexcept { return {}; }

private:
    template <class Handler>
    sent_handler(const Executor& executor, stored_handler<Handler>& stored)
        : sent_handler(executor, stored.call(), stored.result()) {}
    sent_handler(const Executor& executor, operation_call&& call, error_code& result)
        : work_(counter::of(executor)), call_(std::move(call)), ec_(&result) {}

    typename counter::type work_; // destroyed last: the handler may need the context of the executor
    operation_call call_;
    error_code* ec_; // the stored handler's
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
