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

#include <cogwheel/asio/detail/abandonable.hpp>
#include <cogwheel/asio/timeout_after.hpp>

namespace cogwheel::inline v0 {

namespace detail {

/// A completion token that abandons its operation.
template <class Spec, class Token>
struct abandoning_token {
    Spec spec;
    Token token;
};

/// The same without a token. As a token, it means the operation's default token.
template <class Spec>
struct partial_abandoning_token {
    Spec spec;

    template <class Token>
    abandoning_token<Spec, std::decay_t<Token>> operator()(Token&& token) const {
        return {spec, std::forward<Token>(token)};
    }
};

/// Starts the operation of `Initiation`, which a timer abandons.
template <class Initiation, class Place, class Signature>
class abandoning_initiation {
    using impl = typename Place::impl_type;
    using results = typename signature_traits<Signature>::results;

public:
    using executor_type = typename Initiation::executor_type;

    template <class I>
    abandoning_initiation(I&& initiation, const timeout_spec<Place, std::chrono::nanoseconds>& s)
        : initiation_(std::forward<I>(initiation)), spec_(s) {}

    executor_type get_executor() const noexcept { return initiation_.get_executor(); }

    template <class Handler, class... Args>
    void operator()(Handler&& handler, Args&&... args) && {
        static_assert(can_fail<Signature>, "the operation cannot report a timeout: its first result is "
                                           "no error, or one has no default constructor");
        static_assert(all_own_their_data<results>, "a late result of this operation may use memory of the "
                                                   "caller: use timeout_after()");
        const executor_type executor = get_executor();
        abandonable<impl, std::decay_t<Handler>, executor_type, results>::start(
            spec_.place.find(executor), std::forward<Handler>(handler), executor, spec_.when,
            [&](auto&& instead) { std::move(initiation_)(std::move(instead), std::forward<Args>(args)...); });
    }

private:
    Initiation initiation_;
    timeout_spec<Place, std::chrono::nanoseconds> spec_;
};

} // namespace detail

/// Returns a token that abandons its operation after `delay`: the operation then completes with timed_out, and its late
/// result is destroyed. token: the operation's completion token. The delay counts from the operation's start.
/// Errors: std::bad_alloc when the operation starts; it has then not started.
template <any_timer_wheel Wheel, class Rep, class Period, class Token>
auto abandon_after(const Wheel& wheel, std::chrono::duration<Rep, Period> delay, Token&& token) {
    const auto spec = detail::spec_on(wheel, saturate_to_ns(delay), asio::cancellation_type::none, true);
    return detail::abandoning_token<std::remove_const_t<decltype(spec)>, std::decay_t<Token>>{
        spec, std::forward<Token>(token)};
}
/// The same with the operation's default token.
template <any_timer_wheel Wheel, class Rep, class Period>
auto abandon_after(const Wheel& wheel, std::chrono::duration<Rep, Period> delay) {
    const auto spec = detail::spec_on(wheel, saturate_to_ns(delay), asio::cancellation_type::none, true);
    return detail::partial_abandoning_token<std::remove_const_t<decltype(spec)>>{spec};
}
/// The same two on the wheel of the context of the operation's executor (timer_wheel_of.hpp).
template <any_timer_wheel Wheel = timer_wheel, class Rep, class Period, class Token>
    requires(!std::same_as<std::decay_t<Token>, detail::call_site>)
auto abandon_after(std::chrono::duration<Rep, Period> delay, Token&& token,
                   detail::call_site where = detail::call_site::here()) {
    const auto spec = detail::spec_in_context<Wheel>(saturate_to_ns(delay), asio::cancellation_type::none, true, where);
    return detail::abandoning_token<std::remove_const_t<decltype(spec)>, std::decay_t<Token>>{
        spec, std::forward<Token>(token)};
}
template <any_timer_wheel Wheel = timer_wheel, class Rep, class Period>
auto abandon_after(std::chrono::duration<Rep, Period> delay, detail::call_site where = detail::call_site::here()) {
    const auto spec = detail::spec_in_context<Wheel>(saturate_to_ns(delay), asio::cancellation_type::none, true, where);
    return detail::partial_abandoning_token<std::remove_const_t<decltype(spec)>>{spec};
}

} // namespace cogwheel::inline v0

template <class Spec, class Token, class Signature>
struct asio::async_result<cogwheel::detail::abandoning_token<Spec, Token>, Signature> {
    template <class Initiation>
    using abandoning =
        cogwheel::detail::abandoning_initiation<std::decay_t<Initiation>, decltype(Spec::place), Signature>;
    template <class RawToken>
    using token = std::conditional_t<std::is_const_v<std::remove_reference_t<RawToken>>, const Token, Token>;

    template <class Initiation, class RawToken, class... Args>
        requires cogwheel::detail::knows_executor<std::decay_t<Initiation>>
    static auto initiate(Initiation&& initiation, RawToken&& raw, Args&&... args)
        -> decltype(asio::async_initiate<token<RawToken>, Signature>(std::declval<abandoning<Initiation>>(),
                                                                     std::declval<token<RawToken>&>(),
                                                                     std::declval<Args>()...)) {
        return asio::async_initiate<token<RawToken>, Signature>(
            abandoning<Initiation>(std::forward<Initiation>(initiation), raw.spec), raw.token,
            std::forward<Args>(args)...);
    }

    // Asio's check of whether a token fits names this function, with an initiation without executor. It never calls it.
    template <class Initiation, class RawToken, class... Args>
        requires(!cogwheel::detail::knows_executor<std::decay_t<Initiation>>)
    static void initiate(Initiation&&, const RawToken&, Args&&...) {
        static_assert(cogwheel::detail::knows_executor<std::decay_t<Initiation>>,
                      "this operation does not say its executor, which "
                      "abandon_after() needs");
    }
};

template <class Spec, class Signature>
struct asio::async_result<cogwheel::detail::partial_abandoning_token<Spec>, Signature> {
    template <class Initiation, class RawToken, class... Args>
        requires cogwheel::detail::knows_executor<std::decay_t<Initiation>>
    static auto initiate(Initiation&& initiation, const RawToken& raw, Args&&... args) {
        using default_token =
            typename asio::default_completion_token<typename std::decay_t<Initiation>::executor_type>::type;
        static_assert(!std::is_void_v<default_token>, "this operation has no default token: give "
                                                      "abandon_after(...) one, or use as_default_on");
        auto token = raw(default_token());
        return asio::async_initiate<decltype(token), Signature>(std::forward<Initiation>(initiation), token,
                                                                std::forward<Args>(args)...);
    }

    // As above.
    template <class Initiation, class RawToken, class... Args>
    static void initiate(Initiation&&, const RawToken&, Args&&...) {
        static_assert(cogwheel::detail::knows_executor<std::decay_t<Initiation>>,
                      "this operation does not say what its default token is: give "
                      "abandon_after(...) one");
    }
};
