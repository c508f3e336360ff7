// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Bad limits are refused with a sentence that says what to do.
#include <cogwheel/net/idle_limits.hpp>

#include <stdexcept>
#include <string>

namespace cogwheel {

void idle_limits::validate() const {
    if (!(jitter >= 0 && jitter <= 1))
        throw std::invalid_argument("cogwheel::idle_limits: jitter is " + std::to_string(jitter) +
                                    ", but must be 0 .. 1; 0.1 spreads 60 s over 60 .. 66 s");
}

} // namespace cogwheel
