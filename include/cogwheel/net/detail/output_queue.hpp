// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The bytes that were written to a socket and that the peer has not taken yet.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// Returns the bytes in the send queue of a TCP or local stream socket (SIOCOUTQ; unix(7), tcp(7)). nullopt: the system
/// does not report them; only Linux does. `socket`: a descriptor, or a SOCKET of Windows. Complexity: a system call.
std::optional<std::size_t> output_queue(std::intptr_t socket) noexcept;

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
