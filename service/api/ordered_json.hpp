// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// JSON whose members are written in the order in which they were added.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace cogwheeld {

using nlohmann::ordered_json;

/// On one line. What is not UTF-8 is replaced.
inline std::string text_of(const ordered_json& j) {
    return j.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

} // namespace cogwheeld
