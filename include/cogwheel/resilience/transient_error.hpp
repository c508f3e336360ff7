// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Which errors pass by themselves.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include COGWHEEL_ASIO_HEADER(error.hpp)

#include <algorithm>
#include <iterator>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Returns true if another attempt may succeed: the peer or the way to it was unavailable, or did not answer in time.
/// True for timed_out, connection_refused, connection_reset, connection_aborted, broken_pipe, eof, host_unreachable,
/// network_unreachable, network_down, network_reset, try_again, interrupted, host_not_found_try_again, and for codes
/// that equal the std::errc of the same meaning. False for all other codes, such as operation_aborted (a cancellation).
inline bool is_transient(const error_code& ec) noexcept {
    struct passing {
        error_code asio;
        detail::sys::error_condition standard;
    };
    using namespace asio::error;
    // Both names of each error, because only some versions of Asio map its codes to the standard's conditions. And its
    // number: with MinGW, the standard's system category knows no errors of sockets.
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

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
