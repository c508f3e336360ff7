// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// An observer that measures the handlers of a wheel's timers, by their type: which of them blocks the loop?
//
//     using watched_wheel = cogwheel::basic_timer_wheel<std::chrono::steady_clock, cogwheel::multi_threaded,
//                                                       cogwheel::observed_wheel<cogwheel::hashed_wheel,
//                                                                                cogwheel::handler_times>>;
//     const auto rows = wheel.with_observer([](const cogwheel::handler_times& times) { return times.table(); });
//
// - The time of a handler ends with the next handler or the turn. So it includes the wheel's work between two handlers.
//   The last handler of a turn also has the time of handlers of waits that were cancelled meanwhile.
// - A handler on another executor has a row, but only with the time to pass it on.
// - For a timer object, an idle monitor or a request, the type is Cogwheel's own.
// - It reads the clock once for each timer that fires, and once for each turn.
#pragma once

#include <cogwheel/detail/which_asio.hpp>
#include <cogwheel/wheel/observed_wheel.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// The observer: a fixed number of rows of 40 bytes. It allocates nothing while it measures.
class handler_times {
    using clock = std::chrono::steady_clock;

public:
    /// The handlers of one type.
    struct entry {
        std::string_view what; ///< the compiler's name of the type; lives as long as the program
        std::uint64_t calls = 0;
        std::chrono::nanoseconds total{}, longest{};
    };

    static constexpr std::size_t most_types = 64; ///< further types share the last row, "(others)"

    void on_expire(const timer_node&, std::string_view what) noexcept {
        const auto now = clock::now();
        end_handler(now);
        running_ = &row_of(what);
        started_ = now;
    }
    void on_turn_end() noexcept {
        if (running_ != nullptr) end_handler(clock::now());
    }

    /// Returns the rows, longest single call first. Complexity: O(n log n) for n types. Errors: std::bad_alloc.
    std::vector<entry> table() const {
        std::vector<entry> rows(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(used_));
        std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.longest > b.longest; });
        return rows;
    }

private:
    void end_handler(clock::time_point now) noexcept {
        entry* const row = std::exchange(running_, nullptr);
        if (row == nullptr) return;
        const auto took = now - started_;
        ++row->calls;
        row->total += took;
        row->longest = std::max<std::chrono::nanoseconds>(row->longest, took);
    }

    // A type usually has one name at one address. Shared libraries may each have a copy.
    entry& row_of(std::string_view what) noexcept {
        for (std::size_t i = 0; i < used_; ++i)
            if (rows_[i].what.data() == what.data() || rows_[i].what == what) return rows_[i];
        if (used_ == most_types) {
            rows_.back().what = "(others)";
            return rows_.back();
        }
        rows_[used_].what = what;
        return rows_[used_++];
    }

    std::array<entry, most_types> rows_;
    std::size_t used_ = 0;
    entry* running_ = nullptr;
    clock::time_point started_;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
