// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Owns the impls of all wheels of one type on one execution context, and hands closed ones out again (docs/adr/0002).
#pragma once

#include <cogwheel/asio/detail/wheel_impl.hpp>

#include <asio/execution_context.hpp>

#include <memory>
#include <vector>

namespace cogwheel::inline v0::detail {

/// A service of the execution context. Thread safety: any thread.
template <class Impl>
class wheel_service final : public asio::execution_context::service, public Impl::owner {
public:
    using key_type = wheel_service;
    static inline asio::execution_context::id id;

    explicit wheel_service(asio::execution_context& context) : asio::execution_context::service(context) {}

    /// Returns a closed impl, or a new one. An impl without a lock goes only to the executor that it had before: the
    /// stale tokens of its previous wheel may be used there.
    /// Complexity: O(1), or O(idle impls) for impls without a lock. Errors: std::bad_alloc.
    Impl& acquire(const asio::any_io_executor& executor) {
        const std::lock_guard lock(mutex_);
        for (auto at = idle_.end(); at != idle_.begin();) {
            Impl* impl = *--at;
            if (!Impl::concurrent && !impl->was_at(executor)) continue;
            idle_.erase(at);
            return *impl;
        }
        idle_.reserve(impls_.size() + 1); // so that recycle() cannot fail
        impls_.push_back(std::make_unique<Impl>(*this));
        return *impls_.back();
    }

    void recycle(Impl& impl) noexcept override {
        const std::lock_guard lock(mutex_);
        idle_.push_back(&impl);
    }

private:
    void shutdown() noexcept override {
        for (std::size_t i = 0; i < impls_.size(); ++i) impls_[i]->shutdown(); // a handler's destructor may add one
    }

    std::mutex mutex_;
    std::vector<std::unique_ptr<Impl>> impls_;
    std::vector<Impl*> idle_;
};

} // namespace cogwheel::inline v0::detail
