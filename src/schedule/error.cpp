// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The error category of schedules.
#include <cogwheel/asio/detail/error_category.hpp>
#include <cogwheel/schedule/error.hpp>

namespace cogwheel {

namespace {

const char* words(schedule_errc e) noexcept {
    switch (e) {
    case schedule_errc::duplicate_key:
        return "something is scheduled under this key already; remove it first, or ask to replace it";
    case schedule_errc::bad_period:
        return "the period must be above zero, and given for more than one run";
    case schedule_errc::bad_times:
        return "the number of runs must be at least 1";
    }
    return nullptr;
}

} // namespace

const std::error_category& schedule_category() noexcept {
    static const detail::error_category<schedule_errc> category("cogwheel.schedule", words);
    return category;
}

} // namespace cogwheel
