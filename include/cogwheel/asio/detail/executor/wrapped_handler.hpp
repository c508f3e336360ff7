// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include COGWHEEL_ASIO_HEADER(associator.hpp)

#include <concepts>
#include <type_traits>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// A type states `using associations = of_handler;` to have the associations of its handler. The handler is the member
/// `handler`, or the result of the member function `handler()`.
struct of_handler {};
template <class T>
concept wraps_handler = requires { requires std::same_as<typename T::associations, of_handler>; };

template <wraps_handler T>
const auto& handler_of(const T& t) noexcept {
    if constexpr (std::is_member_object_pointer_v<decltype(&T::handler)>)
        return t.handler;
    else
        return t.handler();
}
template <wraps_handler T>
using handler_type = std::decay_t<decltype(handler_of(std::declval<const T&>()))>;

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

template <template <class, class> class Associator, cogwheel::detail::wraps_handler T, class Default>
struct cogwheel::asio::associator<Associator, T, Default> : Associator<cogwheel::detail::handler_type<T>, Default> {
    using base = Associator<cogwheel::detail::handler_type<T>, Default>;
    static decltype(auto) get(const T& t) noexcept { return base::get(cogwheel::detail::handler_of(t)); }
    static decltype(auto) get(const T& t, const Default& d) noexcept {
        return base::get(cogwheel::detail::handler_of(t), d);
    }
};
