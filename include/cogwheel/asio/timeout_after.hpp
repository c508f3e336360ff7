// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A timeout for any asynchronous operation, as a completion token:
//
//     socket.async_read_some(buffer, cogwheel::timeout_after(wheel, 5s, token));
//
// - timeout_after, timeout_at: an operation that the timer has cancelled completes with asio::error::timed_out.
// - cancel_after, cancel_at: it completes with its own error, usually operation_aborted. (Asio 1.31 has this on a
//   steady_timer.)
// The timer cancels the operation through its cancellation slot, with `type`. An operation that ignores the signal, or
// ends before it, completes with its own results. Each operation completes exactly once. Data that has arrived is never
// lost. A cancellation from outside passes through to the operation. If the wheel ends or its timers are cancelled, the
// wheel cancels the operation, without timed_out.
//
// If the wheel takes no timer, the operation does not start; it completes with errc::stopped or errc::too_many_timers.
// An operation that cannot report an error starts nevertheless, and the next turn cancels it.
// Memory: one block for timer, handler and signal, from the handler's associated allocator, else from the wheel's pool.
// Executor: the wheel emits the signal on the handler's associated executor, else on the operation's.
// Complexity: O(1). Thread safety: the wheel's.
// Lifetime: the wheel's execution context must outlive the operation. The wheel may be destroyed before it ends.
#pragma once

#include <cogwheel/asio/detail/on_wheel.hpp>
#include <cogwheel/asio/detail/timed_handler.hpp>

namespace cogwheel {

namespace detail {

/// The timer of a timed token: where, when, and what it does.
template <class Impl, class When>
struct limit {
    Impl* impl;
    When when;
    asio::cancellation_type type;
    bool report; // a cancellation by the timer completes as timed_out
};

/// A completion token with a timeout.
template <class Limit, class Token>
struct timed_token {
    Limit limit;
    Token token;
};

/// A timeout without a token. It stands for the default token of its operation, or takes a token by a call.
template <class Limit>
struct partial_timed_token {
    Limit limit;

    template <class Token>
    timed_token<Limit, std::decay_t<Token>> operator()(Token&& token) const {
        return {limit, std::forward<Token>(token)};
    }
};

template <class T>
concept knows_executor = requires(const T& t) {
    typename T::executor_type;
    t.get_executor();
};

/// Starts the operation of `Initiation`, with a timeout.
template <class Initiation, class Impl, class When, class... Signatures>
class timed_initiation {
    using engine = typename Impl::engine;

    static auto home_of(const Initiation& initiation, const Impl& impl) noexcept {
        if constexpr (knows_executor<Initiation>)
            return initiation.get_executor();
        else
            return impl.executor();
    }

public:
    using executor_type = std::decay_t<decltype(home_of(std::declval<Initiation>(), std::declval<Impl>()))>;

    template <class I>
    timed_initiation(I&& initiation, const limit<Impl, When>& l)
        : initiation_(std::forward<I>(initiation)), limit_(l) {}

    executor_type get_executor() const noexcept { return home_of(initiation_, *limit_.impl); }

    template <class Handler, class... Args>
    void operator()(Handler&& handler, Args&&... args) && {
        start(std::move(initiation_), std::forward<Handler>(handler), std::forward<Args>(args)...);
    }
    template <class Handler, class... Args>
    void operator()(Handler&& handler, Args&&... args) const& {
        start(Initiation(initiation_), std::forward<Handler>(handler), std::forward<Args>(args)...);
    }

private:
    template <class Handler, class... Args>
    void start(Initiation initiation, Handler&& handler, Args&&... args) const {
        using operation = timed_operation<engine, std::decay_t<Handler>, executor_type, Signatures...>;
        const executor_type home = home_of(initiation, *limit_.impl);
        operation::start(*limit_.impl, std::forward<Handler>(handler), home, point(), limit_.type, limit_.report,
                         [&](typename operation::owner p) {
                             std::move(initiation)(timed_handler<operation>(std::move(p)), std::forward<Args>(args)...);
                         });
    }

    auto point() const {
        if constexpr (std::is_same_v<When, std::chrono::nanoseconds>)
            return typename engine::from_now{limit_.when, engine::clock_type::now()};
        else
            return limit_.when;
    }

    Initiation initiation_;
    limit<Impl, When> limit_;
};

template <class Wheel>
using delay_limit = limit<impl_type<Wheel>, std::chrono::nanoseconds>;
template <class Wheel>
using point_limit = limit<impl_type<Wheel>, typename Wheel::time_point>;

} // namespace detail

/// Returns a token that cancels its operation after `delay`; the operation then completes with timed_out.
/// token: the operation's completion token. type: the cancellation type. The delay counts from the operation's start.
template <any_timer_wheel Wheel, class Rep, class Period, class Token>
    requires(!std::same_as<std::decay_t<Token>, asio::cancellation_type>)
auto timeout_after(const Wheel& wheel, std::chrono::duration<Rep, Period> delay, Token&& token,
                   asio::cancellation_type type = asio::cancellation_type::terminal) {
    return detail::timed_token<detail::delay_limit<Wheel>, std::decay_t<Token>>{
        {&detail::impl_of(wheel), saturate_to_ns(delay), type, true}, std::forward<Token>(token)};
}
/// The same with the operation's default token.
template <any_timer_wheel Wheel, class Rep, class Period>
auto timeout_after(const Wheel& wheel, std::chrono::duration<Rep, Period> delay,
                   asio::cancellation_type type = asio::cancellation_type::terminal) {
    return detail::partial_timed_token<detail::delay_limit<Wheel>>{
        {&detail::impl_of(wheel), saturate_to_ns(delay), type, true}};
}

/// The same as timeout_after(), with a point in time.
template <any_timer_wheel Wheel, class Token>
    requires(!std::same_as<std::decay_t<Token>, asio::cancellation_type>)
auto timeout_at(const Wheel& wheel, typename Wheel::time_point at, Token&& token,
                asio::cancellation_type type = asio::cancellation_type::terminal) {
    return detail::timed_token<detail::point_limit<Wheel>, std::decay_t<Token>>{
        {&detail::impl_of(wheel), at, type, true}, std::forward<Token>(token)};
}
/// The same with the operation's default token.
template <any_timer_wheel Wheel>
auto timeout_at(const Wheel& wheel, typename Wheel::time_point at,
                asio::cancellation_type type = asio::cancellation_type::terminal) {
    return detail::partial_timed_token<detail::point_limit<Wheel>>{{&detail::impl_of(wheel), at, type, true}};
}

/// Returns a token that cancels its operation after `delay`; the operation then completes with its own error.
/// The delay counts from the start of the operation.
template <any_timer_wheel Wheel, class Rep, class Period, class Token>
    requires(!std::same_as<std::decay_t<Token>, asio::cancellation_type>)
auto cancel_after(const Wheel& wheel, std::chrono::duration<Rep, Period> delay, Token&& token,
                  asio::cancellation_type type = asio::cancellation_type::terminal) {
    return detail::timed_token<detail::delay_limit<Wheel>, std::decay_t<Token>>{
        {&detail::impl_of(wheel), saturate_to_ns(delay), type, false}, std::forward<Token>(token)};
}
/// The same with the operation's default token.
template <any_timer_wheel Wheel, class Rep, class Period>
auto cancel_after(const Wheel& wheel, std::chrono::duration<Rep, Period> delay,
                  asio::cancellation_type type = asio::cancellation_type::terminal) {
    return detail::partial_timed_token<detail::delay_limit<Wheel>>{
        {&detail::impl_of(wheel), saturate_to_ns(delay), type, false}};
}

/// The same as cancel_after(), with a point in time.
template <any_timer_wheel Wheel, class Token>
    requires(!std::same_as<std::decay_t<Token>, asio::cancellation_type>)
auto cancel_at(const Wheel& wheel, typename Wheel::time_point at, Token&& token,
               asio::cancellation_type type = asio::cancellation_type::terminal) {
    return detail::timed_token<detail::point_limit<Wheel>, std::decay_t<Token>>{
        {&detail::impl_of(wheel), at, type, false}, std::forward<Token>(token)};
}
/// The same with the operation's default token.
template <any_timer_wheel Wheel>
auto cancel_at(const Wheel& wheel, typename Wheel::time_point at,
               asio::cancellation_type type = asio::cancellation_type::terminal) {
    return detail::partial_timed_token<detail::point_limit<Wheel>>{{&detail::impl_of(wheel), at, type, false}};
}

} // namespace cogwheel

// initiate() spells out its return type. With a deduced one, a check of whether the token fits would instantiate its
// body.
template <class Impl, class When, class Token, class... Signatures>
struct asio::async_result<cogwheel::detail::timed_token<cogwheel::detail::limit<Impl, When>, Token>, Signatures...> {
    template <class Initiation>
    using timed = cogwheel::detail::timed_initiation<std::decay_t<Initiation>, Impl, When, Signatures...>;
    template <class RawToken>
    using token = std::conditional_t<std::is_const_v<std::remove_reference_t<RawToken>>, const Token, Token>;

    template <class Initiation, class RawToken, class... Args>
    static auto initiate(Initiation&& initiation, RawToken&& raw, Args&&... args)
        -> decltype(asio::async_initiate<token<RawToken>, Signatures...>(std::declval<timed<Initiation>>(),
                                                                         std::declval<token<RawToken>&>(),
                                                                         std::declval<Args>()...)) {
        return asio::async_initiate<token<RawToken>, Signatures...>(
            timed<Initiation>(std::forward<Initiation>(initiation), raw.limit), raw.token, std::forward<Args>(args)...);
    }
};

template <class Impl, class When, class... Signatures>
struct asio::async_result<cogwheel::detail::partial_timed_token<cogwheel::detail::limit<Impl, When>>, Signatures...> {
    template <class Initiation, class RawToken, class... Args>
        requires cogwheel::detail::knows_executor<std::decay_t<Initiation>>
    static auto initiate(Initiation&& initiation, const RawToken& raw, Args&&... args) {
        using default_token =
            typename asio::default_completion_token<typename std::decay_t<Initiation>::executor_type>::type;
        static_assert(!std::is_void_v<default_token>,
                      "this operation has no default token: give timeout_after(...) one, or use as_default_on");
        auto token = raw(default_token());
        return asio::async_initiate<decltype(token), Signatures...>(std::forward<Initiation>(initiation), token,
                                                                    std::forward<Args>(args)...);
    }

    // For Asio's check of whether a token fits. Its initiation has no executor, and it does not call this function.
    template <class Initiation, class RawToken, class... Args>
    static void initiate(Initiation&&, const RawToken&, Args&&...) {
        static_assert(cogwheel::detail::knows_executor<std::decay_t<Initiation>>,
                      "this operation does not say what its default token is: give timeout_after(...) one");
    }
};
