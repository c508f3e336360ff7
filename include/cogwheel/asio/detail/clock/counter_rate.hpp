// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Measures the rate of the processor's counter against a clock that is never slewed. A measurement is a window between
// two samples. The rate is known after two windows in a row that agree. A window that does not agree makes it unknown
// again: a counter that steps, or changes its frequency, is not used. No clock, no I/O.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <chrono>
#include <cstdint>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// Complexity: O(1) for each function. Thread safety: none.
class counter_rate {
public:
    using nanoseconds = std::chrono::nanoseconds;

    /// A reading of the clock, between two readings of the counter.
    struct sample {
        std::uint64_t before = 0, after = 0;
        nanoseconds clock{};
    };

    static constexpr nanoseconds shortest_window = std::chrono::milliseconds(4);
    static constexpr nanoseconds longest_window = std::chrono::seconds(1);
    static constexpr unsigned shift = 32; ///< of per_count()

    /// Takes a sample. Samples within the present window change nothing.
    void observe(const sample& s) noexcept;

    bool known() const noexcept { return agreed_; }
    /// Returns an upper bound of the nanoseconds for a count, times 2^shift. Preconditions: known().
    std::uint64_t per_count() const noexcept { return most_; }

    /// Forgets everything.
    void reset() noexcept { *this = {}; }

private:
    void begin(const sample& s) noexcept;

    sample first_{}; // of the present window
    nanoseconds window_ = shortest_window;
    std::uint64_t least_ = 0, most_ = 0; // bounds by the last window; zero: there was none
    bool began_ = false, agreed_ = false;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
