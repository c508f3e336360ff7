// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Checks the options of a hedge.
#include <cogwheel/resilience/hedge_options.hpp>

#include <stdexcept>
#include <string>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

void hedge_options::validate() const {
    if (attempts < 1 || attempts > 16)
        throw std::invalid_argument("cogwheel::hedge_options: attempts is " + std::to_string(attempts) +
                                    ", but must be 1 .. 16, the first one included; 2 suit most clients");
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
