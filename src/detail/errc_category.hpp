// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Makes an error category from its name and a function that returns the messages.
#pragma once

#include "error_text.hpp"

#include <cogwheel/detail/which_asio.hpp>

#include <string>

namespace cogwheel::inline v0::detail::inline COGWHEEL_ASIO {

/// An error category. Errc is its enumeration. `words` returns the message of a value, or nullptr for an unknown value.
template <class Errc>
class errc_category final : public sys::error_category {
public:
    using words_function = const char* (*)(Errc) noexcept;

    constexpr errc_category(const char* name, words_function words) noexcept : name_(name), words_(words) {}

    const char* name() const noexcept override { return name_; }
    [[gnu::cold]] std::string message(int code) const override {
        const char* text = words_(static_cast<Errc>(code));
        return text != nullptr ? text : error_text("unknown ").add(name_).add(" error %", {code}).c_str();
    }

private:
    const char* name_;
    words_function words_;
};

} // namespace cogwheel::inline v0::detail::inline COGWHEEL_ASIO
