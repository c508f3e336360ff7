// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#pragma once

#include <cogwheel/detail/platform.hpp>

#include <cstddef>
#include <cstdint>

namespace cogwheel::COGWHEEL_ABI::detail {

/// The state of one trim() in steps, of one wheel. A new position is at the beginning.
///
///     cogwheel::detail::trim_position at;
///     while (wheel.trim(at, cogwheel::work_budget(10'000))) do_something_else();
///     if (!at.done()) { /* a timer was due */ }
struct trim_position {
    enum class phase : std::uint8_t { begin, leftovers, slots, chunks, nodes, done, refused };

    phase next = phase::begin;
    std::size_t ring = 0;
    std::size_t slot = 0;
    std::uint32_t chunks_left = 0; // of that slot

    /// Returns true after the last step; false if the first one did nothing, because a timer was due.
    bool done() const noexcept { return next == phase::done; }
};

} // namespace cogwheel::COGWHEEL_ABI::detail
