// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The errors of resilience/, in addition to those of Asio and of the wheel (asio/error.hpp).
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <system_error>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

enum class resilience_errc {
    circuit_open = 1, ///< for your code, when circuit_breaker::allow() refuses. is_transient() returns false for it
};

/// Returns the category "cogwheel.resilience". Thread safety: any thread.
const detail::sys::error_category& resilience_category() noexcept;

inline error_code make_error_code(resilience_errc e) noexcept { return {static_cast<int>(e), resilience_category()}; }

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

template <>
struct cogwheel::detail::sys::is_error_code_enum<cogwheel::resilience_errc> : std::true_type {};
