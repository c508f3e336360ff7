// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Waits for several coroutines that run at the same time on one strand.
#pragma once

#include <cogwheel/durable/detail/completion.hpp>

#include COGWHEEL_ASIO_HEADER(awaitable.hpp)
#include COGWHEEL_ASIO_HEADER(co_spawn.hpp)
#include COGWHEEL_ASIO_HEADER(use_awaitable.hpp)

#include <exception>
#include <memory>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// Runs all on the strand `e`, on which the caller runs too. Rethrows the first exception, after all have ended.
template <class Strand>
asio::awaitable<void> join(Strand e, std::vector<asio::awaitable<void>> all) {
    struct state {
        std::size_t left;
        std::exception_ptr first{};
        completion<void> done{};
    };
    if (all.empty()) co_return;
    const auto shared = std::make_shared<state>();
    shared->left = all.size();
    auto start = [e, shared, &all](completion<void>&& done) {
        shared->done = std::move(done);
        for (auto& each : all)
            asio::co_spawn(e, std::move(each), [shared](const std::exception_ptr& thrown) {
                if (thrown && !shared->first) shared->first = thrown;
                if (--shared->left == 0) shared->done({});
            });
    };
    co_await initiate<void>(e, asio::use_awaitable, std::move(start));
    if (shared->first) std::rethrow_exception(shared->first);
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
