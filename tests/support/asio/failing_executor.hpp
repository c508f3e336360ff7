// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// An executor that refuses work on demand, as one that runs out of memory would.
#pragma once

// clang-format off: Asio 1.22 chooses how it allocates by what libstdc++ has said before it: the same in all files
#include <new>
// clang-format on
#include <asio/any_io_executor.hpp>
#include <asio/io_context.hpp>
#include <asio/query.hpp>
#include <asio/require.hpp>

#include <utility>

namespace cogwheel_tests {

class failing_executor {
public:
    /// While `*fail`, nothing can be posted.
    failing_executor(asio::io_context& io, const bool& fail)
        : inner_(asio::require(io.get_executor(), asio::execution::blocking.never)), fail_(&fail) {}

    asio::execution_context& query(asio::execution::context_t) const noexcept {
        return asio::query(inner_, asio::execution::context);
    }
    static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
        return asio::execution::blocking.never;
    }
    template <class F>
    void execute(F&& f) const {
        if (*fail_) throw std::bad_alloc();
        inner_.execute(std::forward<F>(f));
    }

    friend bool operator==(const failing_executor& a, const failing_executor& b) noexcept {
        return a.inner_ == b.inner_ && a.fail_ == b.fail_;
    }
    friend bool operator!=(const failing_executor& a, const failing_executor& b) noexcept { return !(a == b); }

private:
    asio::any_io_executor inner_;
    const bool* fail_;
};

} // namespace cogwheel_tests
