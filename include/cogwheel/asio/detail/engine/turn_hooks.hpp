// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The engine's extension that reports turns to the readers of a stats_board, and to the receiver of slow turns.
#pragma once

#include <cogwheel/asio/detail/engine/operation.hpp>
#include <cogwheel/asio/detail/engine/turn_watch.hpp>
#include <cogwheel/asio/detail/engine/wheel_extension.hpp>
#include <cogwheel/counts/slow_turn.hpp>
#include <cogwheel/counts/stats_board.hpp>
#include <cogwheel/detail/exceptions.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// Receives slow turns. Not a std::function: its header is heavy.
class slow_turn_receiver {
public:
    virtual ~slow_turn_receiver() = default;
    virtual void receive(const slow_turn&) = 0;
};
template <class F>
class slow_turn_receiver_of final : public slow_turn_receiver {
public:
    explicit slow_turn_receiver_of(F&& f) : f_(std::move(f)) {}
    void receive(const slow_turn& t) override { f_(t); }

private:
    F f_;
};

/// Decides which slow turns are reported. Needs the engine's lock.
class slow_turn_filter {
    using nanoseconds = std::chrono::nanoseconds;

public:
    explicit slow_turn_filter(const slow_turn_options& options = {}) noexcept : options_(options) {}

    /// Returns the report if the turn is reported now. `now`: since any fixed point.
    std::optional<slow_turn> judge(slow_turn t, nanoseconds now) noexcept {
        if (t.took <= options_.longer_than && t.waiting < options_.waiting) return {};
        if (reported_ && now - *reported_ < options_.at_most_every) {
            ++skipped_;
            return {};
        }
        t.skipped = std::exchange(skipped_, 0);
        reported_ = now;
        return t;
    }

private:
    slow_turn_options options_;
    std::optional<nanoseconds> reported_;
    std::uint64_t skipped_ = 0;
};

/// Needs the engine's lock.
template <class Engine>
class turn_hooks final : public wheel_extension, public turn_watch<typename Engine::lock_type> {
    using lock_type = typename Engine::lock_type;

public:
    using receiver = std::shared_ptr<slow_turn_receiver>;

    std::shared_ptr<stats_board> board;

    void attach(Engine& engine) noexcept { engine_ = &engine; }
    void shut_down() noexcept override {} // drop() does it

    /// Sets the receiver of slow turns, or none. Returns the former one, to be destroyed without the lock.
    receiver receive(const slow_turn_options& options, receiver to) noexcept {
        filter_ = slow_turn_filter(options);
        return std::exchange(receiver_, std::move(to));
    }

    void turn_ended(lock_type& lock) override {
        if (receiver_ == nullptr) return;
        const auto report = filter_.judge(engine_->last_turn(), engine_->present());
        if (!report) return;
        const relock_on_exit relock(lock);
        const receiver to = receiver_; // destroyed before the lock is taken again: another one may have replaced it
        lock.unlock();
        to->receive(*report);
    }

    // After the driver is armed, so that the board shows when the next timer is due.
    void driver_armed() noexcept override {
        if (board == nullptr || !board->wanted()) return;
        COGWHEEL_TRY { board->publish(engine_->snapshot()); }
        COGWHEEL_CATCH {
            // No memory: the next turn tries again.
        }
    }

    // The receiver may own objects of another service, which the context destroys before this one.
    void drop(lock_type& lock) noexcept override {
        receiver dropped = std::exchange(receiver_, nullptr);
        lock.unlock();
        dropped.reset();
        lock.lock();
    }

private:
    Engine* engine_ = nullptr;
    slow_turn_filter filter_;
    receiver receiver_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
