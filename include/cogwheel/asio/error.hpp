// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The errors with which a wheel refuses a timer. A cancelled wait completes with asio::error::operation_aborted
// instead, as in Asio.
//
//     wheel.async_wait(5s, [](std::error_code ec) {
//         if (ec == cogwheel::errc::too_many_timers) shed_load();
//     });
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <system_error>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Why a wheel refuses a timer.
enum class errc {
    stopped = 1,     ///< the wheel was stopped or destroyed
    too_many_timers, ///< as many timers are pending as wheel_options::max_pending allows
};

/// Returns the category "cogwheel". Thread safety: any thread.
const detail::sys::error_category& error_category() noexcept;

inline error_code make_error_code(errc e) noexcept { return {static_cast<int>(e), error_category()}; }

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

template <>
struct cogwheel::detail::sys::is_error_code_enum<cogwheel::errc> : std::true_type {};
