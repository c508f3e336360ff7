// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The target of a request, taken apart: "/v1/tasks/order%2F17:run?count=5". An id in a path is percent-encoded (RFC
// 3986), so it may have any bytes. A colon that is not encoded begins the action.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cogwheeld {

struct target {
    std::string_view place; ///< such as "/v1/tasks", or the whole path if it is known as such
    std::string id;         ///< empty: none
    std::string action;     ///< such as "run"; empty: none
    std::vector<std::pair<std::string, std::string>> query;

    /// Errors: refusal: 400 (a bad percent-encoding), 422 (a parameter that occurs twice).
    static target parse(std::string_view path, std::string_view query, bool has_action);

    /// Returns the value of a parameter, or an empty text.
    std::string_view parameter(std::string_view name) const;
    /// Returns a whole number from 1 to 1,000. Errors: refusal.
    std::uint32_t count(std::uint32_t by_default) const;
    /// Errors: refusal: 422, if there are other parameters than these.
    void allow(std::initializer_list<std::string_view> names) const;
};

/// Returns the text without percent-encoding, or nothing if that is wrong. `plus`: "+" is a space.
std::optional<std::string> percent_decoded(std::string_view text, bool plus);

} // namespace cogwheeld
