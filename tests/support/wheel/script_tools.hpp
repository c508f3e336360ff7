// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Making scripts at random, shrinking the one that failed, and printing it.
#pragma once

#include "support/random.hpp"
#include "support/wheel/wheel_script.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>

namespace cogwheel_tests {

/// Runs a script to its end or to its first fault: empty, or what went wrong and where.
using script_runner = std::function<std::string(script_view)>;

/// `operations` random operations on a wheel of `slots` (1, 4, 8, 512) that know `timers` timers (6, 16, 64, 4000).
inline script_bytes random_script(std::uint64_t seed, std::size_t slots, std::size_t timers, std::size_t operations) {
    random_source random(seed);
    script_bytes bytes(script_header::size + operations * script_op::size);
    for (std::uint8_t& b : bytes) b = static_cast<std::uint8_t>(random());
    const auto at = [](const auto& choices, std::size_t value) {
        return static_cast<std::uint8_t>(std::find(choices.begin(), choices.end(), value) - choices.begin());
    };
    bytes[0] = at(script_detail::slot_choices, slots);
    bytes[2] = at(script_detail::timer_choices, timers);
    return bytes;
}

/// The script without the operations that the fault does not need.
inline script_bytes shrink(script_bytes failing, const script_runner& run) {
    const auto operations = [&] { return (failing.size() - script_header::size) / script_op::size; };
    for (std::size_t step = std::max<std::size_t>(operations() / 2, 1);; step = std::max<std::size_t>(step / 2, 1)) {
        bool removed = false;
        for (std::size_t from = 0; from < operations();) {
            script_bytes without = failing;
            const auto first =
                without.begin() + static_cast<std::ptrdiff_t>(script_header::size + from * script_op::size);
            const std::size_t count = std::min(step, operations() - from);
            without.erase(first, first + static_cast<std::ptrdiff_t>(count * script_op::size));
            if (run(without).empty()) {
                from += step;
            } else {
                failing = std::move(without);
                removed = true;
            }
        }
        if (step == 1 && !removed) return failing;
    }
}

/// For people: one operation a line.
inline std::string describe(const script_op& op) {
    static constexpr std::array<const char*, 11> names{"schedule", "cancel", "reschedule",          "replace",
                                                       "advance",  "drain",  "advance_to_deadline", "drop",
                                                       "burst",    "clear",  "advance_to_next"};
    std::array<char, 160> line{};
    std::snprintf(line.data(), line.size(), "%-20s timer %-5zu delay/step kind %-2d %-5d budget %-20lld handler %d.%d",
                  names[static_cast<std::size_t>(op.what())], op.timer(), op.raw[3] & 15, op.raw[4] | op.raw[5] << 8,
                  static_cast<long long>(op.budget()), op.handler() & 15, op.handler() >> 4);
    return line.data();
}

/// The header, the operations, and the bytes.
inline std::string describe(script_view script) {
    const script_header h = script_header::decode(script);
    std::string text = "slots " + std::to_string(h.slots) + ", start " + std::to_string(h.start) + ", timers " +
                       std::to_string(h.timers) + "\n";
    for (std::size_t i = script_header::size; i + script_op::size <= script.size(); i += script_op::size)
        text += "  " + describe(script_op::decode(script.subspan(i))) + "\n";
    text += "bytes:";
    std::array<char, 4> hex{};
    for (const std::uint8_t b : script) {
        std::snprintf(hex.data(), hex.size(), " %02x", b);
        text += hex.data();
    }
    return text + "\n";
}

} // namespace cogwheel_tests
