// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The decisions of a hedge: when an attempt starts, and which attempt wins. The shell has the timer and the budget.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <cstdint>
#include <system_error>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

class hedge_machine {
public:
    explicit hedge_machine(std::uint32_t attempts) noexcept : attempts_(attempts) {}

    /// Returns true if another attempt may start. Only then does its timer make sense.
    bool may_start() const noexcept { return !settled_ && started_ < attempts_; }

    /// Counts an attempt and returns its number. Preconditions: may_start().
    std::uint32_t start() noexcept { return ++started_; }

    enum class news {
        won,    ///< the first success: cancel the other attempts
        failed, ///< not a success: the next attempt may start at once
        late,   ///< too late to matter
    };
    /// Records the end of an attempt. `again`: another attempt may do better.
    news ended(std::uint32_t number, const error_code& ec, bool again) noexcept {
        if (winner_ != 0) return news::late;
        last_error_ = ec;
        if (ec && !again) start_no_more();
        if (ec || again) return settled_ ? news::late : news::failed;
        winner_ = number;
        settled_ = true;
        return news::won;
    }
    /// Records that an attempt will never end. No other attempt starts.
    void dropped() noexcept { settled_ = true; }
    /// Records a cancellation. No other attempt starts; running attempts may still win.
    void cancel() noexcept { settled_ = cancelled_ = true; }
    void start_no_more() noexcept { attempts_ = started_; }

    /// Returns true if later ends of attempts only decide which one wins.
    bool is_settled() const noexcept { return settled_; }
    bool is_cancelled() const noexcept { return cancelled_ && winner_ == 0; }
    std::uint32_t started() const noexcept { return started_; }
    std::uint32_t winner() const noexcept { return winner_; }
    const error_code& last_error() const noexcept { return last_error_; }

private:
    std::uint32_t attempts_;
    std::uint32_t started_ = 0;
    std::uint32_t winner_ = 0;
    bool settled_ = false;
    bool cancelled_ = false;
    error_code last_error_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
