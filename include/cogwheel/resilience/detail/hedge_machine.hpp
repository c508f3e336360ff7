// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The decisions of a hedge: when another attempt starts, which one wins, when all is over. Knows no Asio and no time:
// the timer is somebody else's, and so is the budget.
#pragma once

#include <cstdint>
#include <system_error>

namespace cogwheel::detail {

class hedge_machine {
public:
    explicit hedge_machine(std::uint32_t attempts) noexcept : attempts_(attempts) {}

    /// May another attempt start? A timer for the next one is of use exactly then.
    bool may_start() const noexcept { return !settled_ && started_ < attempts_; }

    /// Preconditions: may_start(). The attempt's number.
    std::uint32_t start() noexcept { return ++started_; }

    enum class news {
        won,    ///< the first success: the others are to be cancelled
        failed, ///< the next attempt may start at once
        late,   ///< it does not matter any more
    };
    news ended(std::uint32_t number, const std::error_code& ec) noexcept {
        if (winner_ != 0) return news::late;
        last_error_ = ec;
        if (ec) return settled_ ? news::late : news::failed;
        winner_ = number;
        settled_ = true;
        return news::won;
    }
    /// It will never end: there is to be no other attempt.
    void dropped() noexcept { settled_ = true; }
    /// There is to be no other attempt; those that run may still win.
    void cancel() noexcept { settled_ = cancelled_ = true; }
    void start_no_more() noexcept { attempts_ = started_; }

    bool is_cancelled() const noexcept { return cancelled_ && winner_ == 0; }
    std::uint32_t started() const noexcept { return started_; }
    std::uint32_t winner() const noexcept { return winner_; }
    const std::error_code& last_error() const noexcept { return last_error_; }

private:
    std::uint32_t attempts_;
    std::uint32_t started_ = 0;
    std::uint32_t winner_ = 0;
    bool settled_ = false;
    bool cancelled_ = false;
    std::error_code last_error_;
};

} // namespace cogwheel::detail
