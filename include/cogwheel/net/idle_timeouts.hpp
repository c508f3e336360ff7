// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The timeouts after which a connection is idle, and the event that reports it. The semantics are those of Netty's
// IdleStateHandler; docs/net.md lists the differences.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <chrono>
#include <cstdint>
#include <string_view>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

enum class idle_kind : unsigned char {
    reader, ///< nothing was read
    writer, ///< no write completed
    all,    ///< nothing was read, and no write completed
    ping,   ///< time to send a ping: nothing was read, or no write completed
};
std::string_view to_string(idle_kind) noexcept; ///< the name of the constant

/// When a connection is idle.
/// Example:
///
///     cogwheel::idle_timeouts limits{.reader = 60s, .all = 300s, .jitter = 0.1};
///     cogwheel::idle_timeouts with_heartbeats{.reader = 30s, .ping = 10s};
struct idle_timeouts {
    // Zero or less: that kind is off.
    std::chrono::nanoseconds reader{}; ///< no read for this long
    std::chrono::nanoseconds writer{}; ///< no completed write for this long
    std::chrono::nanoseconds all{};    ///< neither for this long: traffic in one direction prevents the event

    /// No read, or no completed write, for this long: the program sends a ping, which the peer hears or answers. A
    /// third of `reader` suits most protocols. Do not use `writer` for this: its events mean that the connection is to
    /// be closed. A reader event comes at least `reader - ping` after the ping that asked, even if the program has
    /// slept or an overload factor has fallen.
    std::chrono::nanoseconds ping{};

    /// Lengthens each period by a random part, up to this share of the timeout. 0 .. 1. This spreads the events of
    /// connections that became idle together. No event is early.
    double jitter = 0;

    /// The seed of the random parts. 0: each monitor has its own. Any other seed gives the same periods each time.
    std::uint64_t seed = 0;

    /// Checks the jitter, and that `ping` is less than `reader` and `writer`; `ping` and `all` together need `reader`.
    /// Errors: std::invalid_argument, which names the value and the range.
    void validate() const;
};

struct idle_event {
    idle_kind kind{};
    bool first = false; ///< the first since the last activity of this kind; others may follow, one each period
    std::chrono::nanoseconds idle_for{}; ///< the time since the last activity of this kind
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
