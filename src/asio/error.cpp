// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "../detail/errc_category.hpp"

#include <cogwheel/asio/error.hpp>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

namespace {

// One literal, without a table of pointers: the smallest program with a wheel has it, too.
const char* words_of_errc(int code) noexcept {
    constexpr int last = static_cast<int>(errc::circuit_open);
    if (code < 1 || code > last) return nullptr;
    const char* words = "the wheel or scheduler has stopped\0"
                        "too many timers (max_pending)\0"
                        "too many requests (max_in_flight)\0"
                        "the key or name is in use\0"
                        "the circuit breaker is open";
    for (; code > 1; --code)
        while (*words++ != '\0') {
        }
    return words;
}

} // namespace

const detail::sys::error_category& errc_category() noexcept {
    static const detail::errc_category category("cogwheel", words_of_errc);
    return category;
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
