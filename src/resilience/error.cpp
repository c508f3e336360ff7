// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "../detail/errc_category.hpp"

#include <cogwheel/resilience/error.hpp>

namespace cogwheel::inline v0::inline COGWHEEL_ASIO {

namespace {

const char* words(resilience_errc e) noexcept {
    return e == resilience_errc::circuit_open ? "not called: the circuit breaker is open" : nullptr;
}

} // namespace

const detail::sys::error_category& resilience_category() noexcept {
    static const detail::errc_category<resilience_errc> category("cogwheel.resilience", words);
    return category;
}

} // namespace cogwheel::inline v0::inline COGWHEEL_ASIO
