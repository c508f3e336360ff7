// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Where a call in slices continues: basic_timer_wheel::for_each_pending(), snapshot() and trim(). A new cursor is at
// the beginning. Use a cursor with one wheel.
//
//     cogwheel::pending_cursor cursor;
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

class pending_cursor {
    friend detail::cursor_access;
    std::uint32_t next_ = 0; // an index of the node_table
};

class snapshot_cursor {
public:
    snapshot_cursor() = default;
    /// The snapshot also has level_stats::groups, at most `groups` of each level.
    explicit snapshot_cursor(std::size_t groups) noexcept : most_groups_(groups) {}

private:
    friend detail::cursor_access;
    std::size_t level_ = 0, slot_ = 0;
    bool counted_ = false;              // the counts have been read; then come the levels
    detail::level_census census_;       // of level_, as far as slot_
    std::size_t most_groups_ = 0;       // 0: none
    std::vector<std::uint64_t> groups_; // of level_
};

class trim_cursor {
public:
    /// Returns true after the last slice of a trim(); false if the first one did nothing.
    bool done() const noexcept { return done_; }

private:
    friend detail::cursor_access;
    detail::trim_position position_; // in the core wheel
    bool begun_ = false;
    bool waits_ = false; // the core wheel is done; then comes the table of waits
    bool done_ = false;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {
struct cursor_access {
    static trim_position& position(trim_cursor& c) noexcept { return c.position_; }
    static bool& begun(trim_cursor& c) noexcept { return c.begun_; }
    static bool& waits(trim_cursor& c) noexcept { return c.waits_; }
    static bool& done(trim_cursor& c) noexcept { return c.done_; }
    static std::uint32_t& next(pending_cursor& c) noexcept { return c.next_; }
    static std::size_t& level(snapshot_cursor& c) noexcept { return c.level_; }
    static std::size_t& slot(snapshot_cursor& c) noexcept { return c.slot_; }
    static bool& counted(snapshot_cursor& c) noexcept { return c.counted_; }
    static level_census& census(snapshot_cursor& c) noexcept { return c.census_; }
    static std::size_t most_groups(const snapshot_cursor& c) noexcept { return c.most_groups_; }
    static std::vector<std::uint64_t>& groups(snapshot_cursor& c) noexcept { return c.groups_; }
};
} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
