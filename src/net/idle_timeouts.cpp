// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Checks the timeouts of idle connections.
#include <cogwheel/detail/constant_name.hpp>
#include <cogwheel/net/idle_timeouts.hpp>

#include <stdexcept>
#include <string>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

std::string_view to_string(idle_kind k) noexcept {
    return detail::constant_name(k, {"reader", "writer", "all", "ping"});
}

void idle_timeouts::validate() const {
    if (!(jitter >= 0 && jitter <= 1))
        throw std::invalid_argument("cogwheel::idle_timeouts: jitter is " + std::to_string(jitter) +
                                    ", but must be 0 .. 1; 0.1 spreads 60 s over 60 .. 66 s");
    const auto check_ping = [this](const char* name, std::chrono::nanoseconds other) {
        if (ping <= ping.zero() || other <= other.zero() || ping < other) return;
        throw std::invalid_argument("cogwheel::idle_timeouts: ping is " + std::to_string(ping.count()) +
                                    " ns, but must be less than " + name + ", " + std::to_string(other.count()) +
                                    " ns, or the peer has no time to answer; a third of it suits most protocols");
    };
    check_ping("reader", reader);
    check_ping("writer", writer);
    if (ping > ping.zero() && all > all.zero() && reader <= reader.zero())
        throw std::invalid_argument(
            "cogwheel::idle_timeouts: with a ping, which is a write, `all` would not come while "
            "the peer is gone: set reader, too");
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
