// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The position of a call in slices: for_each_pending(), snapshot() or trim() of a basic_timer_wheel. A new cursor is at
// the beginning. Use a cursor for one call, with one wheel.
//
//     cogwheel::wheel_cursor cursor;
//     while (wheel.for_each_pending(cursor, visit)) co_await asio::post(asio::use_awaitable); // other handlers run
#pragma once

#include <cogwheel/detail/which_asio.hpp>
#include <cogwheel/wheel/detail/level_census.hpp>
#include <cogwheel/wheel/detail/trim_position.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {
struct cursor_access;
} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

class wheel_cursor {
public:
    wheel_cursor() = default;
    /// Makes a cursor for a snapshot with level_stats::groups, at most `groups` of each level.
    explicit wheel_cursor(std::size_t groups) noexcept : most_groups_(groups) {}

    /// Returns true after the last slice; false if the first slice of a trim() did nothing.
    bool done() const noexcept { return done_; }

private:
    friend detail::cursor_access;
    bool done_ = false;

    std::uint32_t next_ = 0; // for_each_pending(): an index of the node_table

    detail::trim_position position_; // trim(): in the core wheel
    bool begun_ = false;
    bool waits_ = false; // the core wheel is done; then comes the table of waits

    std::size_t level_ = 0, slot_ = 0;  // snapshot()
    bool counted_ = false;              // the counts have been read; then come the levels
    detail::level_census census_;       // of level_, as far as slot_
    std::size_t most_groups_ = 0;       // 0: none
    std::vector<std::uint64_t> groups_; // of level_
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {
struct cursor_access {
    static bool& done(wheel_cursor& c) noexcept { return c.done_; }
    static std::uint32_t& next(wheel_cursor& c) noexcept { return c.next_; }
    static trim_position& position(wheel_cursor& c) noexcept { return c.position_; }
    static bool& begun(wheel_cursor& c) noexcept { return c.begun_; }
    static bool& waits(wheel_cursor& c) noexcept { return c.waits_; }
    static std::size_t& level(wheel_cursor& c) noexcept { return c.level_; }
    static std::size_t& slot(wheel_cursor& c) noexcept { return c.slot_; }
    static bool& counted(wheel_cursor& c) noexcept { return c.counted_; }
    static level_census& census(wheel_cursor& c) noexcept { return c.census_; }
    static std::size_t most_groups(const wheel_cursor& c) noexcept { return c.most_groups_; }
    static std::vector<std::uint64_t>& groups(wheel_cursor& c) noexcept { return c.groups_; }
};
} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
