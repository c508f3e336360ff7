// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Error texts with numbers in them. Each program contains the checks of the options that it may set; with sums of
// std::string, they would be ten times as much code.
#pragma once

#include <cogwheel/detail/platform.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace cogwheel::COGWHEEL_ABI::detail {

class any_integer {
public:
    template <std::integral T>
    constexpr any_integer(T value) noexcept : negative_(value < T{}), bits_(static_cast<std::uint64_t>(value)) {}

    constexpr bool negative() const noexcept { return negative_; }
    constexpr std::uint64_t magnitude() const noexcept { return negative_ ? 0 - bits_ : bits_; }

private:
    bool negative_;
    std::uint64_t bits_;
};

/// A text of at most 399 bytes; the rest is cut off. No allocation.
class error_text {
public:
    error_text() = default;
    explicit error_text(const char* text) noexcept { add(text); }

    /// Appends the text with a number in place of each %. Preconditions: there are as many numbers.
    error_text& add(const char* text, std::initializer_list<any_integer> numbers = {}) noexcept;

    const char* c_str() const noexcept { return bytes_; }

private:
    void add(char c) noexcept {
        if (length_ + 1 < sizeof(bytes_)) bytes_[length_++] = c;
    }

    std::size_t length_ = 0;
    char bytes_[400] = {};
};

} // namespace cogwheel::COGWHEEL_ABI::detail
