// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The transient errors, and the check of a policy.
#include <cogwheel/resilience/retry_policy.hpp>

#include COGWHEEL_ASIO_HEADER(error.hpp)

#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>
#include <string>

namespace cogwheel::inline v0::inline COGWHEEL_ASIO {

std::string_view to_string(retry_end e) noexcept {
    constexpr std::array<std::string_view, 7> names{"succeeded", "not_retryable", "attempts_used", "out_of_time",
                                                    "budget",    "cancelled",     "wheel"};
    return names[static_cast<std::size_t>(e)];
}

bool is_transient(const error_code& ec) noexcept {
    struct passing {
        error_code asio;
        detail::sys::error_condition standard;
    };
    using namespace asio::error;
    // Both names of each error: only some versions of Asio map its codes to the standard's conditions. And its number:
    // with MinGW, the standard's category of the system knows no errors of sockets.
    const passing all[] = {
        {timed_out, detail::sys::errc::timed_out},
        {connection_refused, detail::sys::errc::connection_refused},
        {connection_reset, detail::sys::errc::connection_reset},
        {connection_aborted, detail::sys::errc::connection_aborted},
        {broken_pipe, detail::sys::errc::broken_pipe},
        {host_unreachable, detail::sys::errc::host_unreachable},
        {network_unreachable, detail::sys::errc::network_unreachable},
        {network_down, detail::sys::errc::network_down},
        {network_reset, detail::sys::errc::network_reset},
        {asio::error::basic_errors::try_again, detail::sys::errc::resource_unavailable_try_again},
        {interrupted, detail::sys::errc::interrupted},
    };
    return ec == eof || ec == host_not_found_try_again ||
           std::any_of(std::begin(all), std::end(all), [&](const passing& p) {
               return ec == p.asio || ec == p.standard ||
                      (ec.value() == p.asio.value() && ec.category() == detail::sys::system_category());
           });
}

} // namespace cogwheel::inline v0::inline COGWHEEL_ASIO

namespace cogwheel::inline v0::detail::inline COGWHEEL_ASIO {

void refuse_attempts(std::uint32_t attempts) {
    throw std::invalid_argument("cogwheel::retry_policy: attempts is " + std::to_string(attempts) +
                                ", but must be at least 1, the first one included; for no limit: 4294967295");
}

} // namespace cogwheel::inline v0::detail::inline COGWHEEL_ASIO
