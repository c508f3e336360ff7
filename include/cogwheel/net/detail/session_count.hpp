// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// session_count: a session_group shares it with its members and with a drain, because any of them may end last.
// drain_handler: asks the session_count for the result of the drain, then calls the user's handler.
#pragma once

#include <cogwheel/asio/detail/on_wheel.hpp>
#include <cogwheel/asio/wheel_timer.hpp>
#include <cogwheel/detail/exceptions.hpp>

#include COGWHEEL_ASIO_HEADER(error.hpp)

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

template <class Count, class Handler>
struct drain_handler {
    using associations = of_handler;
    std::shared_ptr<Count> count;
    Handler handler;
    error_code result{};

    /// Completes a drain that did not wait. Posted by drain().
    void operator()() { std::move(handler)(result); }

    /// Completes a drain whose wait has ended.
    void operator()(error_code ec) {
        ec = std::exchange(count, nullptr)->ended(ec);
        std::move(handler)(ec);
    }
};

template <class Wheel>
class session_count {
    using timer_type = decltype(basic_wheel_timer(std::declval<const Wheel&>()));

public:
    explicit session_count(const Wheel& wheel) : executor_(wheel.get_executor()), timer_(std::in_place, wheel) {}

    const typename Wheel::executor_type& get_executor() const noexcept { return executor_; }
    std::size_t size() const noexcept { return sessions_.load(std::memory_order_acquire); }

    void enter() noexcept { sessions_.fetch_add(1, std::memory_order_relaxed); }
    void leave() noexcept {
        if (sessions_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
        const std::lock_guard lock(mutex_);
        if (waiting_ && size() == 0) note_empty(); // a session may have entered since
    }

    /// Ends a drain, because the group is destroyed.
    void close() noexcept {
        const std::lock_guard lock(mutex_);
        timer_.reset();
    }

    template <class Handler>
    static void drain(std::shared_ptr<session_count> self, Handler&& handler, std::chrono::nanoseconds at_most) {
        using full = drain_handler<session_count, std::decay_t<Handler>>;
        if (const auto result = self->begin())
            return post_to_its_own(self->executor_, full{nullptr, std::forward<Handler>(handler), *result});
        COGWHEEL_TRY {
            self->timer_->expires_after(at_most);
            // Without the mutex: if the context shuts down, this destroys the handler, which may own a member. From
            // here on, the handler may run on another thread and destroy the initiation, so `self` is a copy.
            self->timer_->async_wait(full{self, std::forward<Handler>(handler)});
        }
        COGWHEEL_CATCH {
            const std::lock_guard lock(self->mutex_);
            self->waiting_ = false;
            COGWHEEL_RETHROW;
        }
        const std::lock_guard lock(self->mutex_);
        if (self->waiting_ && self->emptied_) self->cancel(); // the last session left before the wait began
    }

    /// Returns the result of a drain whose wait ended with `ec`.
    error_code ended(error_code ec) noexcept {
        const std::lock_guard lock(mutex_);
        waiting_ = false;
        if (emptied_) return {};
        return ec ? ec : asio::error::timed_out;
    }

private:
    // Returns the result of a drain that need not wait.
    std::optional<error_code> begin() noexcept {
        const std::lock_guard lock(mutex_);
        if (waiting_) return asio::error::already_started;
        emptied_ = size() == 0;
        if (emptied_) return error_code();
        waiting_ = true;
        return {};
    }
    void note_empty() noexcept {
        emptied_ = true;
        cancel();
    }
    void cancel() noexcept {
        COGWHEEL_TRY {
            if (timer_) timer_->cancel();
        }
        COGWHEEL_CATCH {
            // No memory to post the end of the wait: the wait ends when its time has passed.
        }
    }

    typename Wheel::executor_type executor_;
    std::atomic<std::size_t> sessions_{0};
    std::mutex mutex_; // guards the members below, except that drain() starts the wait without it
    bool waiting_ = false;
    bool emptied_ = false; // during the present drain, there was a moment without a session
    std::optional<timer_type> timer_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
