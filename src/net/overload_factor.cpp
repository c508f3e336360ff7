// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Checks an overload factor.
#include <cogwheel/net/overload_factor.hpp>

#include <stdexcept>
#include <string>

namespace cogwheel::inline v0::detail::inline COGWHEEL_ASIO {

void check_overload_factor(double factor) {
    if (!(factor > 0 && factor <= 1))
        throw std::invalid_argument("cogwheel::overload_factor: the factor is " + std::to_string(factor) +
                                    ", but must be above 0 and at most 1; 1 leaves the limits as they are");
}

} // namespace cogwheel::inline v0::detail::inline COGWHEEL_ASIO
