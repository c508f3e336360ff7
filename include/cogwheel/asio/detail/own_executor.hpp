// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#pragma once

#include <cogwheel/asio/detail/payload.hpp>
#include <cogwheel/asio/detail/post_on.hpp>

namespace cogwheel::detail {

/// Of whatever types. False for what cannot be told.
template <class A, class B>
bool same_executor(const A& a, const B& b) noexcept {
    if constexpr (std::is_same_v<A, B>)
        return a == b;
    else if constexpr (std::is_same_v<A, asio::any_io_executor>)
        return is_executor(a, b);
    else if constexpr (std::is_same_v<B, asio::any_io_executor>)
        return is_executor(b, a);
    else
        return false;
}

/// Posts a handler that is called for the first time: to its own executor, else to `home`.
template <class Executor, class F>
void post_to_its_own(const Executor& home, F&& handler) {
    if constexpr (has_executor<std::decay_t<F>>)
        way_to(asio::get_associated_executor(handler, home), asio::any_io_executor(home))
            .post(std::forward<F>(handler));
    else
        asio::post(home, std::forward<F>(handler));
}

} // namespace cogwheel::detail
