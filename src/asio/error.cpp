// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "../detail/errc_category.hpp"

#include <cogwheel/asio/error.hpp>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

namespace {

const char* words_of_errc(int code) noexcept {
    switch (static_cast<errc>(code)) {
    case errc::stopped:
        return "the timer wheel, or the scheduler on it, has been stopped";
    case errc::too_many_timers:
        return "too many timers pending (wheel_options::max_pending)";
    case errc::too_many_requests:
        return "too many requests in flight (request_options::max_in_flight)";
    case errc::duplicate_key:
        return "a request in flight, or something scheduled, has this key or name already";
    case errc::circuit_open:
        return "not called: the circuit breaker is open";
    }
    return nullptr;
}

} // namespace

const detail::sys::error_category& errc_category() noexcept {
    static const detail::errc_category category("cogwheel", words_of_errc);
    return category;
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
