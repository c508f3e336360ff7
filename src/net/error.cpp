// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The error category of the helpers for networks.
#include <cogwheel/net/error.hpp>

#include <string>

namespace cogwheel {

const std::error_category& net_category() noexcept {
    static const struct : std::error_category {
        const char* name() const noexcept override { return "cogwheel.net"; }
        std::string message(int code) const override {
            switch (static_cast<net_errc>(code)) {
            case net_errc::duplicate_key:
                return "a request with this key is in flight already";
            case net_errc::too_many_requests:
                return "too many requests in flight (request_options::max_in_flight)";
            case net_errc::circuit_open:
                return "not called: the circuit breaker is open";
            }
            return "unknown cogwheel.net error " + std::to_string(code);
        }
    } category;
    return category;
}

} // namespace cogwheel
