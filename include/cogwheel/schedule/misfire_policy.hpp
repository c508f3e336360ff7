// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What becomes of runs that could not start in time: nobody was there, the loop was blocked, the machine slept.
#pragma once

#include <cstdint>
#include <string>

namespace cogwheel {

/// A run is missed when it is later than the scheduler's misfire_grace, or when the next one has come due as well.
class misfire_policy {
public:
    enum class kind : std::uint8_t { fire_once, skip, catch_up };

    /// All that were missed are made up for by one run, at once.
    static constexpr misfire_policy fire_once() noexcept { return {kind::fire_once, 1}; }

    /// They do not run. A task that has no other run has failed.
    static constexpr misfire_policy skip() noexcept { return {kind::skip, 0}; }

    /// The last `most` of them run, in order. With task_overlap::forbid, those that come while another runs wait as well.
    static constexpr misfire_policy catch_up(std::uint32_t most) noexcept { return {kind::catch_up, most}; }

    constexpr kind what() const noexcept { return kind_; }
    constexpr std::uint32_t most() const noexcept { return most_; }

    /// "fire_once", "skip", "catch_up(3)".
    std::string text() const;

    friend constexpr bool operator==(misfire_policy, misfire_policy) = default;

private:
    constexpr misfire_policy(kind k, std::uint32_t most) noexcept : kind_(k), most_(most) {}

    kind kind_;
    std::uint32_t most_;
};

} // namespace cogwheel
