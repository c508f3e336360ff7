// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Times as a store keeps them: in ms since 1970.
#pragma once

#include <cogwheel/tasks/task_trigger.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// Converts from ms. Saturates.
constexpr std::chrono::nanoseconds ns_of(std::int64_t ms) noexcept {
    constexpr std::int64_t ns_per_ms = 1'000'000;
    constexpr std::int64_t most = std::chrono::nanoseconds::max().count() / ns_per_ms;
    return std::chrono::nanoseconds(std::clamp(ms, -most, most) * ns_per_ms);
}
constexpr task_trigger::wall_point point_of(std::int64_t ms) noexcept { return task_trigger::wall_point(ns_of(ms)); }

/// Converts to ms, rounded up, so that nothing is early.
constexpr std::int64_t ms_of(std::chrono::nanoseconds d) noexcept {
    return std::chrono::ceil<std::chrono::milliseconds>(d).count();
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
