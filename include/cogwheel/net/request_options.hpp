// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How a pending_requests is set up.
#pragma once

#include <cstddef>
#include <limits>

namespace cogwheel {

struct request_options {
    /// Requests that may be in flight at once; more are answered with net_errc::too_many_requests. At least 1.
    std::size_t max_in_flight = std::numeric_limits<std::size_t>::max();

    /// Requests to make room for beforehand: up to that many in flight, the table of keys does not grow. 0 .. 2^31.
    std::size_t reserve = 0;

    /// Throws std::invalid_argument that names the value, the range and the remedy.
    void validate() const;
};

} // namespace cogwheel
