// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#pragma once

#include <cogwheel/detail/platform.hpp>

#include <cstdint>

namespace cogwheel::COGWHEEL_ABI {

/// How much work one advance(), or one step of a trim(), may do before it returns. The last item may exceed the budget.
/// The weights follow measured costs: about 1 ns for `slot`, 5-20 ns for `entry` (a cache miss), 30 ns plus the handler
/// for `expiry`. An advance() over more than one revolution of the first ring looks at all due timers before the first
/// one fires, at two `entry` each. Their sort costs a few `slot` each, in steps of at most 1,024 timers.
///
///     const auto result = wheel.advance(now, cogwheel::work_budget::expiries(1024));
///     if (result.more) call_again_soon();
struct work_budget {
    static constexpr std::int64_t slot = 1;    ///< a step over empty slots, or an entry moved without reading its node
    static constexpr std::int64_t entry = 4;   ///< a look at a node that does not expire, or up to 62 entries put back
    static constexpr std::int64_t expiry = 32; ///< a timer that fires

    std::int64_t units;

    constexpr work_budget(std::int64_t u) noexcept : units(u) {}

    /// Returns a budget for at most `n` expiries.
    static constexpr work_budget expiries(std::uint32_t n) noexcept { return work_budget(expiry * n); }
    static constexpr work_budget unlimited() noexcept { return work_budget(std::int64_t{1} << 62); }

    constexpr bool spent() const noexcept { return units <= 0; }
    constexpr void charge(std::int64_t cost) noexcept { units -= cost; }
    constexpr void spend_all() noexcept { units = 0; }
};

} // namespace cogwheel::COGWHEEL_ABI
