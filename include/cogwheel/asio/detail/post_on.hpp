// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A handler on its way to its own executor. asio::post(executor, f) and dispatch() go there, and then once more to the executor
// that f is associated with: two turns where that is the same one and always queues.
#pragma once

#include <cogwheel/asio/detail/before_asio.hpp>

#include <asio/any_io_executor.hpp>
#include <asio/associated_allocator.hpp>
#include <asio/dispatch.hpp>
#include <asio/execution/blocking.hpp>
#include <asio/execution/executor.hpp>
#include <asio/post.hpp>
#include <asio/require.hpp>

#include <type_traits>
#include <utility>

namespace cogwheel::detail {

/// A nullary handler without its association with an executor.
template <class F>
struct bare_handler {
    using allocator_type = asio::associated_allocator_t<F>;

    F handler;

    allocator_type get_allocator() const noexcept { return asio::get_associated_allocator(handler); }
    void operator()() { std::move(handler)(); }
};

/// Preconditions: `executor` is that of the handler.
template <class Executor, class F>
void dispatch_on(const Executor& executor, F&& handler) {
    asio::dispatch(executor, bare_handler<std::decay_t<F>>{std::forward<F>(handler)});
}

/// How to post to an executor: one that cannot promise not to block is reached through another.
template <class Executor>
class way_to {
    static constexpr bool straight = !asio::execution::is_executor<Executor>::value ||
                                     asio::can_require<const Executor&, asio::execution::blocking_t::never_t>::value;
    using first = std::conditional_t<straight, Executor, asio::any_io_executor>;

    static const first& choose(const Executor& own, const asio::any_io_executor& other) noexcept {
        if constexpr (straight)
            return own;
        else
            return other;
    }

public:
    way_to(const Executor& own, const asio::any_io_executor& other) : first_(choose(own, other)) {}

    /// Preconditions: the executor is that of the handler.
    template <class F>
    void post(F&& handler) const {
        if constexpr (straight)
            asio::post(first_, bare_handler<std::decay_t<F>>{std::forward<F>(handler)});
        else
            asio::post(first_, std::forward<F>(handler));
    }

private:
    first first_;
};

} // namespace cogwheel::detail
