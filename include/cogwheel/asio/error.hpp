// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The errors of a wheel and of the parts on top of it, for a refused timer, request, key or call. A cancelled wait
// completes with asio::error::operation_aborted, as in Asio.
//
//     wheel.async_wait(5s, [](std::error_code ec) {
//         if (ec == cogwheel::errc::too_many_timers) shed_load();
//     });
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <system_error>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Why a wheel refuses a timer, pending_requests a request, keyed_timers and task_scheduler an entry, or a
/// circuit_breaker a call.
enum class errc {
    stopped = 1,       ///< the wheel was stopped or destroyed
    too_many_timers,   ///< as many timers are pending as wheel_options::max_pending allows
    too_many_requests, ///< as many requests are in flight as request_options::max_in_flight allows
    duplicate_key,     ///< the key or name is in use: the old request or entry stays, the new one is refused
    circuit_open,      ///< for your code, when circuit_breaker::allow() refuses. is_transient() returns false for it
};

/// Returns the category of errc, "cogwheel". Thread safety: any thread.
const detail::sys::error_category& errc_category() noexcept;

inline error_code make_error_code(errc e) noexcept { return {static_cast<int>(e), errc_category()}; }

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

template <>
struct cogwheel::detail::sys::is_error_code_enum<cogwheel::errc> : std::true_type {};

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// Returns true if a wheel refused a timer.
inline bool refused_by_wheel(const error_code& ec) noexcept {
    return ec == errc::stopped || ec == errc::too_many_timers;
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
