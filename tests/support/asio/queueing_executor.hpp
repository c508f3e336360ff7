// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// An executor that queues whatever it is given and counts it, as the event loop of a graphical program does.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <asio/any_io_executor.hpp>
#include <asio/execution.hpp>
#include <asio/io_context.hpp>
#include <asio/query.hpp>
#include <asio/require.hpp>

#include <atomic>

namespace cogwheel_tests {

class queueing_executor {
public:
    queueing_executor(asio::io_context& loop, std::atomic<int>& executed) : loop_(&loop), executed_(&executed) {}

    asio::execution_context& query(asio::execution::context_t) const noexcept { return *loop_; }
    static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
        return asio::execution::blocking.never;
    }
    template <class F>
    void execute(F&& f) const {
        ++*executed_;
        asio::any_io_executor(asio::require(loop_->get_executor(), asio::execution::blocking.never))
            .execute(std::forward<F>(f));
    }

    friend bool operator==(const queueing_executor& a, const queueing_executor& b) noexcept {
        return a.loop_ == b.loop_ && a.executed_ == b.executed_;
    }
    friend bool operator!=(const queueing_executor& a, const queueing_executor& b) noexcept { return !(a == b); }

private:
    asio::io_context* loop_;
    std::atomic<int>* executed_;
};

} // namespace cogwheel_tests
