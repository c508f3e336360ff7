// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "../detail/errc_category.hpp"

#include <cogwheel/resilience/error.hpp>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

namespace {

const char* words_of_resilience(int code) noexcept {
    return static_cast<resilience_errc>(code) == resilience_errc::circuit_open
               ? "not called: the circuit breaker is open"
               : nullptr;
}

} // namespace

const detail::sys::error_category& resilience_category() noexcept {
    static const detail::errc_category category("cogwheel.resilience", words_of_resilience);
    return category;
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
