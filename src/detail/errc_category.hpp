// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#pragma once

#include "error_text.hpp"

#include <cogwheel/detail/which_asio.hpp>

#include <string>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// An error category. `words` returns the message of a code, or nullptr. One class, no template, for all categories.
class errc_category final : public sys::error_category {
public:
    using words_function = const char* (*)(int) noexcept;

    constexpr errc_category(const char* name, words_function words) noexcept : name_(name), words_(words) {}

    const char* name() const noexcept override { return name_; }
    [[gnu::cold]] std::string message(int code) const override {
        const char* text = words_(code);
        return text != nullptr ? text : error_text("unknown ").add(name_).add(" error %", {code}).c_str();
    }

private:
    const char* name_;
    words_function words_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
