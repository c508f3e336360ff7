// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What the wheel itself can answer. A timer that was cancelled answers asio::error::operation_aborted, as Asio's do.
#pragma once

#include <system_error>

namespace cogwheel {

enum class errc {
    stopped = 1,     ///< the wheel was stopped: it takes no more timers
    too_many_timers, ///< as many timers are pending as wheel_options::max_pending allows
};

/// The category "cogwheel". Thread-safe.
const std::error_category& error_category() noexcept;

inline std::error_code make_error_code(errc e) noexcept { return {static_cast<int>(e), error_category()}; }

} // namespace cogwheel

template <>
struct std::is_error_code_enum<cogwheel::errc> : std::true_type {};
