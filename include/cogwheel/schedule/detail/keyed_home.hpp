// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Where the jobs of a table run, if not in the wheel's turn. The wheel's node outlives the table when all timers were cancelled or the wheel
// was stopped, and then perhaps this executor's context: so only what is here knows the executor, and the table closes it when it goes.
#pragma once

#include <cogwheel/asio/detail/before_asio.hpp>

#include <asio/any_io_executor.hpp>
#include <asio/execution/outstanding_work.hpp>
#include <asio/post.hpp>
#include <asio/prefer.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

namespace cogwheel::detail {

class keyed_home {
public:
    explicit keyed_home(asio::any_io_executor executor) : executor_(std::move(executor)) {}
    keyed_home(const keyed_home&) = delete;
    keyed_home& operator=(const keyed_home&) = delete;

    /// A timer that is armed: while there is one, run() of the executor's context does not return.
    class armed {
    public:
        explicit armed(std::shared_ptr<keyed_home> home) : home_(std::move(home)) {
            const std::lock_guard lock(home_->mutex_);
            if (home_->armed_ == 0)
                home_->work_ = asio::prefer(home_->executor_, asio::execution::outstanding_work.tracked);
            ++home_->armed_;
        }
        armed(armed&& other) noexcept = default;
        armed& operator=(armed&&) = delete;
        ~armed() {
            if (home_ == nullptr) return;
            const std::lock_guard lock(home_->mutex_);
            if (--home_->armed_ == 0) home_->work_ = {};
        }
        keyed_home& home() const noexcept { return *home_; }

    private:
        std::shared_ptr<keyed_home> home_;
    };

    /// Not when it was closed.
    template <class F>
    void post(F f) {
        const std::lock_guard lock(mutex_);
        if (executor_) asio::post(executor_, std::move(f));
    }
    void close() noexcept {
        const std::lock_guard lock(mutex_);
        executor_ = {};
        work_ = {};
    }

private:
    std::mutex mutex_;
    asio::any_io_executor executor_, work_;
    std::size_t armed_ = 0;
};

} // namespace cogwheel::detail
