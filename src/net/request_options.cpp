// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Checks the options of a pending_requests.
#include <cogwheel/net/request_options.hpp>

#include <stdexcept>
#include <string>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

void request_options::validate() const {
    const auto refuse = [](const std::string& why) {
        throw std::invalid_argument("cogwheel::request_options: " + why);
    };
    constexpr std::size_t most = std::size_t{1} << 31;
    if (max_in_flight < 1) refuse("max_in_flight is 0, but must be at least 1; leave it out for no limit");
    if (reserve > most)
        refuse("reserve is " + std::to_string(reserve) + ", but must be 0 .. " + std::to_string(most) +
               "; reserve what you expect in flight at once");
    if (reserve > max_in_flight)
        refuse("reserve is " + std::to_string(reserve) + ", but max_in_flight only " + std::to_string(max_in_flight) +
               "; reserve no more than may be in flight");
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
