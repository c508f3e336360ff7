// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How a timed_operation reaches its executor: work that keeps its executors running, and the fate of an emission.
#pragma once

#include <cogwheel/asio/detail/engine/payload.hpp>
#include <cogwheel/asio/detail/executor/executors.hpp>
#include <cogwheel/detail/which_asio.hpp>

#include COGWHEEL_ASIO_HEADER(any_io_executor.hpp)

#include <optional>
#include <thread>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// The base of timed_work: one type for all handlers, so that std::unique_ptr is compiled once.
struct kept_work {
    kept_work() = default;
    kept_work(const kept_work&) = delete;
    virtual ~kept_work() = default;
};

/// Outstanding work for the executors of wheel, operation and handler. Handler: no_executor for a handler without one.
template <class Handler, class IoExecutor>
struct timed_work final : kept_work {
    counted_work<asio::any_io_executor> wheel;
    std::optional<counted_work<IoExecutor>> io_executor;
    [[no_unique_address]] foreign_work<Handler> bound;

    timed_work(const asio::any_io_executor& of_wheel, const std::optional<IoExecutor>& of_operation,
               const Handler& handler)
        : wheel(of_wheel), bound(handler, of_wheel) {
        if (of_operation) io_executor.emplace(*of_operation);
    }
};

/// Errors: std::bad_alloc.
template <class Handler, class IoExecutor>
kept_work* make_timed_work(const asio::any_io_executor& of_wheel, const std::optional<IoExecutor>& of_operation,
                           const Handler& handler) {
    if constexpr (has_executor<Handler>)
        return new timed_work<Handler, IoExecutor>(of_wheel, of_operation, handler);
    else
        return new timed_work<no_executor, IoExecutor>(of_wheel, of_operation, {});
}

/// Tells the thread that sends an emission whether it has begun or was destroyed: both may happen before the dispatch
/// returns. Lifetime: on the stack of that thread.
struct timed_sending {
    enum { none, begun, dropped } fate = none;
    std::thread::id thread = std::this_thread::get_id();
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
