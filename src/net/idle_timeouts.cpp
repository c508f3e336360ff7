// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Checks the timeouts of idle connections.
#include <cogwheel/net/idle_timeouts.hpp>

#include <array>
#include <stdexcept>
#include <string>

namespace cogwheel::inline v0::inline COGWHEEL_ASIO {

std::string_view to_string(idle_kind k) noexcept {
    constexpr std::array<std::string_view, 3> names{"reader", "writer", "all"};
    return names[static_cast<std::size_t>(k)];
}

void idle_timeouts::validate() const {
    if (!(jitter >= 0 && jitter <= 1))
        throw std::invalid_argument("cogwheel::idle_timeouts: jitter is " + std::to_string(jitter) +
                                    ", but must be 0 .. 1; 0.1 spreads 60 s over 60 .. 66 s");
}

} // namespace cogwheel::inline v0::inline COGWHEEL_ASIO
