// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A timeout for operations that ignore cancellation, as a completion token:
//
//     auto found = co_await resolver.async_resolve(host, port, cogwheel::abandon_after(5s));
//
// When the timeout passes, the operation completes at once with asio::error::timed_out, although it still runs. Its
// late result is destroyed when it comes. So nothing that it uses may belong to the caller.
//
// - Right for: async_resolve (it waits for getaddrinfo, which nothing can interrupt), work in a thread pool, a co_spawn
//   of a coroutine that owns what it uses.
// - Wrong for: reads and writes, which use the caller's buffer; operations on objects that are destroyed or used for
//   something else after the timeout. Use timeout_after() there. Tokens for operations whose results do not own their
//   data, or are a number of bytes, do not compile (owns_its_data).
//
// A cancellation through the handler's slot passes to the operation, and the operation completes at once with
// operation_aborted. The same happens, but nothing passes, if the wheel is destroyed, or stop() or cancel_all() cancels
// its timers. Everything else is as with timeout_after(): the handler is called exactly once, on its associated
// executor, else on the operation's, and never inside the initiating function. If the wheel takes no timer, the
// operation does not start; it completes with errc::stopped or errc::too_many_timers.
//
// Memory: one block of the heap, freed when the operation has ended, and a timer of the wheel.
// Complexity: O(1).
// Thread safety: the wheel's; the operation and the timer may end on different threads. As always in Asio, emit a
//   cancellation on the handler's executor only. If there is no memory to bring a timeout to that executor, the
//   exception leaves run(), and the operation has no timeout any more.
// Lifetime: as with timeout_after(). The context of the operation must live until the operation has ended.
#pragma once

#include <cogwheel/asio/detail/timed/abandonable.hpp>
#include <cogwheel/asio/detail/timed/timed_token.hpp>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// A timer that abandons the operation.
template <class Place>
struct abandon_spec {
    Place place;
    std::chrono::nanoseconds when;

    /// Starts the operation by `initiate(handler)`.
    template <class Signature, class Handler, class Executor, class Initiate>
    void start(Handler&& handler, const Executor& io_executor, Initiate initiate) const {
        using results = typename signature_traits<Signature>::results;
        static_assert(can_fail<Signature>, "the operation cannot report a timeout: its first result is "
                                           "no error, or one has no default constructor");
        static_assert(all_own_their_data<results>, "a late result of this operation may use memory of the "
                                                   "caller: use timeout_after()");
        abandonable<typename Place::impl_type, std::decay_t<Handler>, Executor, results>::start(
            place.find(io_executor), std::forward<Handler>(handler), io_executor, when, initiate);
    }
};

template <class Wheel>
auto abandon_spec_on(const Wheel& wheel, std::chrono::nanoseconds delay) {
    return abandon_spec<given_wheel<impl_type<Wheel>>>{{&impl_of(wheel)}, delay};
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Returns a token that abandons its operation after `delay`: the operation then completes with timed_out, and its late
/// result is destroyed. token: the operation's completion token. The delay counts from the operation's start.
/// Errors: std::bad_alloc when the operation starts; it has then not started.
template <any_timer_wheel Wheel, class Rep, class Period, class Token>
auto abandon_after(const Wheel& wheel, std::chrono::duration<Rep, Period> delay, Token&& token) {
    return detail::timed(detail::abandon_spec_on(wheel, detail::saturate_to_ns(delay)), std::forward<Token>(token));
}
/// The same with the operation's default token.
template <any_timer_wheel Wheel, class Rep, class Period>
auto abandon_after(const Wheel& wheel, std::chrono::duration<Rep, Period> delay) {
    return detail::timed(detail::abandon_spec_on(wheel, detail::saturate_to_ns(delay)));
}
/// The same two on the wheel of the context of the operation's executor (timer_wheel_of.hpp).
template <any_timer_wheel Wheel = timer_wheel, class Rep, class Period, class Token>
    requires(!std::same_as<std::decay_t<Token>, detail::call_site>)
auto abandon_after(std::chrono::duration<Rep, Period> delay, Token&& token,
                   detail::call_site where = detail::call_site::here()) {
    return detail::timed(detail::abandon_spec<detail::context_wheel<Wheel>>{{where}, detail::saturate_to_ns(delay)},
                         std::forward<Token>(token));
}
template <any_timer_wheel Wheel = timer_wheel, class Rep, class Period>
auto abandon_after(std::chrono::duration<Rep, Period> delay, detail::call_site where = detail::call_site::here()) {
    return detail::timed(detail::abandon_spec<detail::context_wheel<Wheel>>{{where}, detail::saturate_to_ns(delay)});
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
