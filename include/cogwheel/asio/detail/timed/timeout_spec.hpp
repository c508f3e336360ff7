// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The specification of a timeout() or abandon(): when, on which wheel, and how.
#pragma once

#include <cogwheel/asio/detail/clock/when.hpp>
#include <cogwheel/asio/detail/executor/cancellation.hpp>
#include <cogwheel/asio/detail/timed/abandonable.hpp>
#include <cogwheel/asio/detail/timed/awaited.hpp>
#include <cogwheel/asio/detail/timed/timed_handler.hpp>
#include <cogwheel/asio/detail/timed/timed_token.hpp>
#include <cogwheel/detail/assertion.hpp>

#include <concepts>
#include <exception>
#include <type_traits>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// How timeout() cancels an operation.
struct timeout_options {
    asio::cancellation_type type = asio::cancellation_type::terminal; ///< what the timer emits; not none
    bool own_error = false; ///< the operation keeps its own error, usually operation_aborted, in place of timed_out
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

template <class When, class Wheel>
concept timeout_when = when<When, typename Wheel::clock_type>;

/// Not a result: else Asio would take a timeout_scope for a handler, and the operation would have no timeout.
template <class T>
concept scope_token = !std::same_as<std::decay_t<T>, error_code> && !std::same_as<std::decay_t<T>, std::exception_ptr>;

/// An awaitable has functions of its own, which take no options.
template <class T>
concept timeout_token = !std::same_as<std::decay_t<T>, timeout_options> && !is_awaitable<std::decay_t<T>>;

/// A timer that cancels the operation. When: from_present, or a point in time.
template <class Place, class When>
struct timeout_spec {
    using engine = typename Place::impl_type::engine;

    Place place;
    When when;
    timeout_options options;

    template <class... Signatures, class Handler, class Executor, class Initiate>
    void start(Handler&& handler, const Executor& io_executor, Initiate initiate) const {
        using operation = timed_operation<engine, std::decay_t<Handler>, Executor, Signatures...>;
        operation::start(place.find(io_executor), std::forward<Handler>(handler), io_executor, when, options.type,
                         !options.own_error,
                         [&](typename operation::owner p) { initiate(timed_handler<operation>(std::move(p))); });
    }
};

/// A timer that abandons the operation.
template <class Place, class When>
struct abandon_spec {
    Place place;
    When when;

    template <class Signature, class Handler, class Executor, class Initiate>
    void start(Handler&& handler, const Executor& io_executor, Initiate initiate) const {
        using results = typename signature_traits<Signature>::results;
        static_assert(can_fail<Signature>, "the operation cannot report a timeout: its first result is "
                                           "no error, or one has no default constructor");
        static_assert(all_own_their_data<results>, "a late result of this operation may use memory of the "
                                                   "caller: use timeout()");
        abandonable<typename Place::impl_type, std::decay_t<Handler>, Executor, results>::start(
            place.find(io_executor), std::forward<Handler>(handler), io_executor, when, initiate);
    }
};

template <class Wheel, class When>
using time_on = decltype(time_of<typename Wheel::clock_type>(std::declval<const When&>()));

template <class Wheel, class When>
auto spec_on(const Wheel& wheel, const When& when, timeout_options options) {
    COGWHEEL_ASSERT(cancels(options.type) && "a timeout with cancellation_type::none never cancels");
    return timeout_spec<given_wheel<impl_type<Wheel>>, time_on<Wheel, When>>{
        {&impl_of(wheel)}, time_of<typename Wheel::clock_type>(when), options};
}
template <class Wheel, class When>
auto spec_in_context(const When& when, timeout_options options) {
    COGWHEEL_ASSERT(cancels(options.type) && "a timeout with cancellation_type::none never cancels");
    return timeout_spec<context_wheel<Wheel>, time_on<Wheel, When>>{
        {}, time_of<typename Wheel::clock_type>(when), options};
}
template <class Wheel, class When>
auto abandon_on(const Wheel& wheel, const When& when) {
    return abandon_spec<given_wheel<impl_type<Wheel>>, time_on<Wheel, When>>{{&impl_of(wheel)},
                                                                             time_of<typename Wheel::clock_type>(when)};
}
template <class Wheel, class When>
auto abandon_in_context(const When& when) {
    return abandon_spec<context_wheel<Wheel>, time_on<Wheel, When>>{{}, time_of<typename Wheel::clock_type>(when)};
}

/// The wheel that takes the timers of a timeout_scope.
template <class Wheel>
struct scope_place {
    using wheel_type = Wheel;
    using type = given_wheel<impl_type<Wheel>>;
};
template <>
struct scope_place<void> {
    using wheel_type = timer_wheel;
    using type = context_wheel<timer_wheel>;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
