// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Owns the impls of all wheels of one type on one execution context, and hands closed ones out again (docs/adr/0002).
#pragma once

#include <cogwheel/asio/detail/engine/wheel_impl.hpp>

#include COGWHEEL_ASIO_HEADER(execution_context.hpp)

#include <mutex>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// A service of the execution context. Thread safety: any thread.
template <class Impl>
class wheel_service final : public asio::execution_context::service {
public:
    using key_type = wheel_service;
    static inline asio::execution_context::id id;

    [[gnu::cold]] explicit wheel_service(asio::execution_context& context)
        : asio::execution_context::service(context) {}
    [[gnu::cold]] ~wheel_service() override {
        while (impls_ != nullptr) delete std::exchange(impls_, impls_->next_);
    }

    /// Opens a wheel in a closed impl, or in a new one. While the context is destroyed, the wheel refuses all timers.
    /// Complexity: O(1), or O(idle impls) for impls without a lock. Errors: std::bad_alloc.
    [[gnu::cold]] Impl& open(const asio::any_io_executor& executor, const wheel_options& options) {
        Impl& impl = acquire(executor);
        impl.open(executor, options);
        if (shut_down_) impl.shutdown();
        return impl;
    }

    void recycle(Impl& impl) noexcept {
        const std::lock_guard lock(mutex_);
        impl.next_idle_ = std::exchange(idle_, &impl);
    }

private:
    // Returns a closed impl, or a new one. An impl without a lock goes only to its former executor: see was_at().
    [[gnu::cold]] Impl& acquire(const asio::any_io_executor& executor) {
        const std::lock_guard lock(mutex_);
        for (Impl** at = &idle_; *at != nullptr; at = &(*at)->next_idle_) {
            if (!Impl::concurrent && !(*at)->was_at(executor)) continue;
            return *std::exchange(*at, (*at)->next_idle_);
        }
        auto* impl = new Impl(*this);
        impl->next_ = std::exchange(impls_, impl);
        return *impl;
    }

    [[gnu::cold]] void shutdown() noexcept override {
        shut_down_ = true;
        for (Impl* impl = impls_; impl != nullptr; impl = impl->next_) impl->shutdown();
    }

    std::mutex mutex_;
    bool shut_down_ = false;
    Impl* impls_ = nullptr; // owns them
    Impl* idle_ = nullptr;
};

template <class Impl>
[[gnu::cold, gnu::noinline]] Impl& open_wheel(asio::execution_context& context, const asio::any_io_executor& executor,
                                              const wheel_options& options) {
    return asio::use_service<wheel_service<Impl>>(context).open(executor, options);
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
