// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include <cogwheel/asio/detail/clock/counter_rate.hpp>

#include <algorithm>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

// A shorter count would need more bits than the products of tick_clock have. A longer one is of no use.
constexpr std::uint64_t least_sensible = std::uint64_t{1} << 28; // 1/16 ns
constexpr std::uint64_t most_sensible = std::uint64_t{1} << 42;  // about 1 us

// Two windows agree if their bounds overlap when widened by this part.
constexpr std::uint64_t tolerance = 2'000;

} // namespace

void counter_rate::begin(const sample& s) noexcept {
    first_ = s;
    began_ = true;
}

void counter_rate::observe(const sample& s) noexcept {
    if (!began_) return begin(s);
    const nanoseconds elapsed = s.clock - first_.clock;
    if (elapsed >= nanoseconds::zero() && elapsed < window_) return;
    // The counter may be read just before it changes: one count more, one less.
    const std::uint64_t fewest = s.before - first_.after - 1, most_counts = s.after - first_.before + 1;
    const bool forwards = s.before > first_.after + 1 && s.after >= s.before && first_.after >= first_.before;
    if (!forwards || elapsed <= nanoseconds::zero() || elapsed > 64 * longest_window) {
        reset();
        return begin(s);
    }
    const auto ns = static_cast<std::uint64_t>(elapsed.count()); // below 2^36
    const auto per_count = [&](std::uint64_t counts, std::uint64_t more) {
        return (ns << 27) / counts << (shift - 27) | more; // rounded down, or up
    };
    const std::uint64_t least = per_count(most_counts, 0);
    const std::uint64_t most = per_count(fewest, (1U << (shift - 27)) - 1) + 1;
    const bool had_window = most_ != 0;
    const bool agrees = had_window && least <= most_ + most_ / tolerance && most >= least_ - least_ / tolerance;
    if (least < least_sensible || most > most_sensible || (had_window && !agrees)) {
        reset();
        return begin(s);
    }
    // The later window is the longer one, so its bounds are closer.
    least_ = least;
    most_ = most;
    agreed_ = agrees;
    window_ = std::min(2 * window_, longest_window);
    begin(s);
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
