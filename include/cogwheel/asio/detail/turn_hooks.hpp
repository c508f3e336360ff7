// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Who is told of the turns of a wheel: the readers of a stats_board, and the receiver of slow turns. An extension of
// the engine, so a wheel without them pays for one look at a null pointer in each turn.
#pragma once

#include <cogwheel/asio/detail/wheel_extension.hpp>
#include <cogwheel/counts/slow_turn.hpp>
#include <cogwheel/counts/stats_board.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

namespace cogwheel::inline v0::detail {

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

/// Needs the engine's lock.
class turn_hooks final : public wheel_extension {
    using nanoseconds = std::chrono::nanoseconds;

public:
    using receiver = std::shared_ptr<slow_turn_receiver>;

    std::shared_ptr<stats_board> board;

    /// Sets who receives slow turns; nullptr: no receiver. Returns the former one, to be destroyed without the lock.
    receiver receive(const slow_turn_options& options, receiver to) noexcept {
        options_ = options;
        reported_.reset();
        skipped_ = 0;
        return std::exchange(receiver_, std::move(to));
    }
    bool wants_slow_turns() const noexcept { return receiver_ != nullptr; }
    receiver to() const noexcept { return receiver_; }

    /// Decides whether the turn is reported now. `now`: since any fixed point.
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
    receiver receiver_;
    std::optional<nanoseconds> reported_;
    std::uint64_t skipped_ = 0;
};

} // namespace cogwheel::inline v0::detail
