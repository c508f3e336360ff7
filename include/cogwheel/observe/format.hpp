// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Formats the counts of a wheel in one line, for logs. Needs fmt; nothing else in Cogwheel includes this header.
//
//     fmt::print("{}\n", wheel.stats());
//     // 12 pending, 1200 scheduled, 600 fired, 588 cancelled, 0 rejected; late p50 0.52 ms, p99 9.50 ms, max 12.00 ms;
//     // 310 turns, longest 1.20 ms
#pragma once

#include <cogwheel/counts/wheel_stats.hpp>
#include <cogwheel/detail/which_asio.hpp>

#include <fmt/format.h>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

inline double in_milliseconds(std::chrono::nanoseconds d) noexcept { return static_cast<double>(d.count()) / 1e6; }

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

/// Takes no format specification.
template <>
struct fmt::formatter<cogwheel::wheel_stats> {
    constexpr auto parse(format_parse_context& context) { return context.begin(); }

    template <class Context>
    auto format(const cogwheel::wheel_stats& s, Context& context) const {
        using cogwheel::detail::in_milliseconds;
        auto out = fmt::format_to(context.out(), "{} pending, {} scheduled, {} fired, {} cancelled, {} rejected; ",
                                  s.pending, s.scheduled, s.fired, s.cancelled, s.rejected);
        if (s.due != 0) out = fmt::format_to(out, "{} due; ", s.due);
        return fmt::format_to(out, "late p50 {:.2f} ms, p99 {:.2f} ms, max {:.2f} ms; {} turns, longest {:.2f} ms",
                              in_milliseconds(s.lateness.p50), in_milliseconds(s.lateness.p99),
                              in_milliseconds(s.lateness.max), s.turns, in_milliseconds(s.turn_duration.max()));
    }
};
