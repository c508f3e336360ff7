// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The error category.
#include <cogwheel/asio/error.hpp>

#include <string>

namespace cogwheel {

const std::error_category& error_category() noexcept {
    static const struct : std::error_category {
        const char* name() const noexcept override { return "cogwheel"; }
        std::string message(int code) const override {
            switch (static_cast<errc>(code)) {
            case errc::stopped:
                return "the timer wheel has been stopped";
            case errc::too_many_timers:
                return "too many timers pending (wheel_options::max_pending)";
            }
            return "unknown cogwheel error " + std::to_string(code);
        }
    } category;
    return category;
}

} // namespace cogwheel
