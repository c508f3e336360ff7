// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A choice that keyed_timers and tasks share.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <string_view>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// What add() does if the key, or the name of the task, is in use. The name of a finished task is not.
enum class on_duplicate {
    reject, ///< returns errc::duplicate_key; the old entry stays
    /// Removes the old entry, which begins no further run, and adds the new one, without waiting for a running job.
    replace,
    /// Returns success; the old entry stays. But a cancelled task whose job still runs is replaced.
    keep,
};
std::string_view to_string(on_duplicate) noexcept; ///< the name of the constant

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
