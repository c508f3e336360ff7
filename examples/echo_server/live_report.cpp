// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The texts of the live report.

#include "live_report.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace echo {

void live_report::show(std::size_t connections) {
    most_connections_ = std::max(most_connections_, connections);
    const auto chatting = std::min(counts_.activity.active(), connections); // one that has just left may still be in it
    const auto bytes = counts_.echoed_bytes();
    const auto closed = counts_.kicks(kick_reason::idle) + counts_.kicks(kick_reason::peer_does_not_read);
    const auto lateness = output::to_text(counts_.idle_lateness());

    const auto now = std::chrono::steady_clock::now();
    const auto rates = fmt::format(
        "{:.0f} messages/s, {}/s, {:.0f} connections closed/s", messages_.per_second(counts_.messages(), now),
        readable_bytes(static_cast<std::uint64_t>(bytes_.per_second(bytes, now))), closed_.per_second(closed, now));
    view_.show({output::labelled_bar("chatting", chatting, most_connections_),
                output::labelled_bar("silent", connections - chatting, most_connections_),
                output::labelled("rates", rates), output::labelled("lateness", lateness + " after the idle limit")},
               fmt::format("open {} | chatting {} | echoed {} | kicked {} | late {}", connections, chatting,
                           readable_bytes(bytes), closed, lateness));
}

} // namespace echo
