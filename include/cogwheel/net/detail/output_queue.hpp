// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How much of what was written to a socket the peer has not taken yet.
#pragma once

#include <cstddef>
#include <optional>

namespace cogwheel::detail {

/// Bytes in the send queue of a TCP or local stream socket (SIOCOUTQ; unix(7), tcp(7)). nullopt where the system does
/// not tell. A system call.
std::optional<std::size_t> output_queue(int socket) noexcept;

} // namespace cogwheel::detail
