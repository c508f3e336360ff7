// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What an operation under a limit completes with when the wheel takes no timer for it: it is never started.
#pragma once

#include <cogwheel/asio/detail/own_executor.hpp>
#include <cogwheel/asio/detail/timed_results.hpp>
#include <cogwheel/asio/error.hpp>

namespace cogwheel::detail {

/// Posts the handler with the wheel's error code as its first result. Preconditions: that is one that can tell of errors.
template <class Handler, class Results, class Home, class H>
void post_refusal(const Home& home, outcome how, H&& handler) {
    const std::error_code ec = how == outcome::stopped ? errc::stopped : errc::too_many_timers;
    Results r;
    if constexpr (std::same_as<std::tuple_element_t<0, Results>, std::error_code>)
        std::get<0>(r) = ec;
    else
        std::get<0>(r) = std::make_exception_ptr(std::system_error(ec));
    handler_with_results<Handler, Results> bound{std::forward<H>(handler), std::move(r)};
    post_to_its_own(home, std::move(bound));
}

} // namespace cogwheel::detail
