// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What is said to bad options.
#pragma once

#include <stdexcept>
#include <string>

namespace cogwheel_tests {

/// The text of the std::invalid_argument that f throws; empty if it throws none.
template <class F>
std::string refusal_of(F f) {
    try {
        f();
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
    return "";
}

inline bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

} // namespace cogwheel_tests
