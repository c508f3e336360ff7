// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The errors of net/, in addition to those of Asio and of the wheel (asio/error.hpp).
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <system_error>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

enum class net_errc {
    duplicate_key = 1, ///< a request with this key is in flight, and continues; the new one was not started
    too_many_requests, ///< as many requests are in flight as request_options::max_in_flight allows
};

/// Returns the category "cogwheel.net". Thread safety: any thread.
const detail::sys::error_category& net_category() noexcept;

inline error_code make_error_code(net_errc e) noexcept { return {static_cast<int>(e), net_category()}; }

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

template <>
struct cogwheel::detail::sys::is_error_code_enum<cogwheel::net_errc> : std::true_type {};
