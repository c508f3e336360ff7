// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// An executor that destroys what it has taken, as that of a loop that has ended would.
#pragma once

// clang-format off: as in failing_executor.hpp
#include <new>
// clang-format on
#include <asio/any_io_executor.hpp>
#include <asio/io_context.hpp>
#include <asio/query.hpp>
#include <asio/require.hpp>

#include <thread>
#include <type_traits>
#include <utility>

namespace cogwheel_tests {

/// Destroys uncalled what it takes, if told so.
class discarding_executor {
public:
    enum kind { nothing, when_its_time_comes, at_once, at_once_on_another_thread };

    discarding_executor(asio::io_context& io, const kind& discard) : io_(&io), discard_(&discard) {}

    asio::execution_context& query(asio::execution::context_t) const noexcept { return *io_; }
    static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
        return asio::execution::blocking.never;
    }
    template <class F>
    void execute(F&& f) const {
        if (*discard_ == at_once) return static_cast<void>(std::decay_t<F>(std::forward<F>(f)));
        if (*discard_ == at_once_on_another_thread)
            return std::thread([taken = std::decay_t<F>(std::forward<F>(f))] {}).join();
        asio::any_io_executor(asio::require(io_->get_executor(), asio::execution::blocking.never))
            .execute([discard = discard_, call = std::forward<F>(f)]() mutable {
                if (*discard == nothing) std::move(call)();
            });
    }

    friend bool operator==(const discarding_executor&, const discarding_executor&) noexcept = default;

private:
    asio::io_context* io_;
    const kind* discard_;
};

} // namespace cogwheel_tests
