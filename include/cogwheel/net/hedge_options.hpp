// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// When a hedge (hedge.hpp) starts another attempt, and what came of all of them.
#pragma once

#include <cogwheel/net/retry_budget.hpp>

#include <chrono>
#include <cstdint>
#include <system_error>

namespace cogwheel {

struct hedge_options {
    /// How long after an attempt's start the next one starts, unless one has succeeded. The 95th percentile of the usual latency
    /// is a good one: it costs 5% more calls. Zero or less: at once, in the next turn.
    std::chrono::nanoseconds delay{};

    /// How many at the most, the first one included: 1 .. 16.
    std::uint32_t attempts = 2;

    /// Who else sends more than was asked for? Each attempt but the first takes a token. nullptr: as if alone.
    /// Lifetime: outlives the hedge.
    retry_budget* budget = nullptr;

    /// Throws std::invalid_argument that names the value, the range and the remedy.
    void validate() const;
};

struct hedge_result {
    std::uint32_t attempts = 0; ///< started
    std::uint32_t winner = 0;   ///< the number of the attempt whose results these are; 0: none succeeded
    std::error_code last_error; ///< of the last attempt that failed before one succeeded; none if one did
};

/// What an operation may know of the attempt that it is.
class hedge_attempt {
public:
    /// 1, 2 ...
    std::uint32_t number() const noexcept { return number_; }

    constexpr hedge_attempt() noexcept = default;
    constexpr explicit hedge_attempt(std::uint32_t number) noexcept : number_(number) {}

private:
    std::uint32_t number_ = 0;
};

} // namespace cogwheel
