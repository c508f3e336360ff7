// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What depends on how Asio waits for the kernel.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <asio/detail/config.hpp>

#include <cstddef>

namespace cogwheel_tests {

#ifdef ASIO_HAS_IO_URING_AS_DEFAULT
inline constexpr bool on_io_uring = true;
#else
inline constexpr bool on_io_uring = false;
#endif

/// Whether run() or poll(), which returned `count`, ran so many handlers. With io_uring, they also run, and count,
/// operations of Asio's own.
inline bool handlers_ran(std::size_t count, std::size_t handlers) {
    return on_io_uring ? count >= handlers : count == handlers;
}

} // namespace cogwheel_tests
