// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The error category of errc.
#include "../detail/errc_category.hpp"

#include <cogwheel/asio/error.hpp>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

namespace {

const char* words_of_wheel(int code) noexcept {
    switch (static_cast<errc>(code)) {
    case errc::stopped:
        return "the timer wheel, or the scheduler on it, has been stopped";
    case errc::too_many_timers:
        return "too many timers pending (wheel_options::max_pending)";
    }
    return nullptr;
}

} // namespace

const detail::sys::error_category& error_category() noexcept {
    static const detail::errc_category category("cogwheel", words_of_wheel);
    return category;
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
