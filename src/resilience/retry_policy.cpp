// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The transient errors, and the check of a policy.
#include <cogwheel/resilience/retry_policy.hpp>

#include <asio/error.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>
#include <string>

namespace cogwheel::inline v0 {

std::string_view to_string(retry_end e) noexcept {
    constexpr std::array<std::string_view, 7> names{"succeeded", "not_retryable", "attempts_used", "out_of_time",
                                                    "budget",    "cancelled",     "wheel"};
    return names[static_cast<std::size_t>(e)];
}

bool is_transient(const std::error_code& ec) noexcept {
    struct passing {
        std::error_code asio;
        std::errc standard;
    };
    using namespace asio::error;
    // Both names of each error: only some versions of Asio map its codes to the standard's conditions.
    const passing all[] = {
        {timed_out, std::errc::timed_out},
        {connection_refused, std::errc::connection_refused},
        {connection_reset, std::errc::connection_reset},
        {connection_aborted, std::errc::connection_aborted},
        {broken_pipe, std::errc::broken_pipe},
        {host_unreachable, std::errc::host_unreachable},
        {network_unreachable, std::errc::network_unreachable},
        {network_down, std::errc::network_down},
        {network_reset, std::errc::network_reset},
        {asio::error::basic_errors::try_again, std::errc::resource_unavailable_try_again},
        {interrupted, std::errc::interrupted},
    };
    return ec == eof || ec == host_not_found_try_again ||
           std::any_of(std::begin(all), std::end(all),
                       [&](const passing& p) { return ec == p.asio || ec == p.standard; });
}

void detail::refuse_attempts(std::uint32_t attempts) {
    throw std::invalid_argument("cogwheel::retry_policy: attempts is " + std::to_string(attempts) +
                                ", but must be at least 1, the first one included; for no limit: 4294967295");
}

} // namespace cogwheel::inline v0
