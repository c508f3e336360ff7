// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The Lua scripts of src/durable/scripts, which the build embeds.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <span>
#include <string_view>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

struct script_text {
    std::string_view name; // of the file, without .lua
    std::string_view text; // without comment lines
};

/// Returns all scripts, sorted by name.
std::span<const script_text> script_texts() noexcept;

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
