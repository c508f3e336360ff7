// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#pragma once

#include <cogwheel/asio/detail/before_asio.hpp>

#include <asio/cancellation_type.hpp>

namespace cogwheel::detail {

/// Whether an emission asks for anything at all: cancellation_type::none does not.
inline bool cancels(asio::cancellation_type_t type) noexcept {
    return (type & asio::cancellation_type::all) != asio::cancellation_type::none;
}

} // namespace cogwheel::detail
