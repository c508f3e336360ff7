// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A limit on any asynchronous operation, as a completion token:
//
//     socket.async_read_some(buffer, cogwheel::timeout_after(wheel, 5s, token));
//
// - timeout_after, timeout_at: an operation that the timer has cancelled completes with asio::error::timed_out.
// - cancel_after, cancel_at: it completes with what it makes of the cancellation, operation_aborted as a rule (Asio 1.31 has the
//   same by a steady_timer).
// The limit cancels through the operation's cancellation slot, by `type`. An operation that does not heed it, or is done before
// it does, completes with its own results, and exactly once in any case; data that has arrived is never lost to the limit.
//
// An outer cancellation passes through. If the wheel is stopped or destroyed meanwhile, or its timers are cancelled, the
// operation is cancelled, without timed_out. If the wheel takes no timer, the operation is not started, and completes with
// errc::stopped or errc::too_many_timers.
//
// Memory: one block for timer, handler and signal: the wheel's pool, or the handler's associated allocator.
// Executor: the cancellation is emitted on the handler's associated executor, else on the operation's.
// Lifetime: the wheel's execution context must outlive the operation; the wheel need not.
// Complexity: O(1). Thread safety: the wheel's.
#pragma once

#include <cogwheel/asio/detail/timed_handler.hpp>
#include <cogwheel/asio/timer_wheel.hpp>

namespace cogwheel {

namespace detail {

template <class State, class When>
struct limit {
    State* state;
    When when;
    asio::cancellation_type type;
    bool report; // as timed_out
};

template <class Limit, class Token>
struct timed_token {
    Limit limit;
    Token token;
};

/// A limit without a token: stands for the default token of the operation it is given to, or takes one by a call.
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

/// Starts the operation that `Initiation` would have started, with a limit.
template <class Initiation, class State, class When, class... Signatures>
class timed_initiation {
    using engine = typename State::engine;

    static auto home_of(const Initiation& initiation, const State& state) noexcept {
        if constexpr (knows_executor<Initiation>)
            return initiation.get_executor();
        else
            return state.executor();
    }

public:
    using executor_type = std::decay_t<decltype(home_of(std::declval<Initiation>(), std::declval<State>()))>;

    template <class I>
    timed_initiation(I&& initiation, const limit<State, When>& l)
        : initiation_(std::forward<I>(initiation)), limit_(l) {}

    executor_type get_executor() const noexcept { return home_of(initiation_, *limit_.state); }

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
        const executor_type home = home_of(initiation, *limit_.state);
        operation::start(*limit_.state, std::forward<Handler>(handler), home, point(), limit_.type, limit_.report,
                         [&](typename operation::timed_pointer p) {
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
    limit<State, When> limit_;
};

template <class Wheel>
using state_type = std::remove_reference_t<decltype(state_of::get(std::declval<const Wheel&>()))>;
template <class Wheel>
using delay_limit = limit<state_type<Wheel>, std::chrono::nanoseconds>;
template <class Wheel>
using point_limit = limit<state_type<Wheel>, typename Wheel::time_point>;

template <class T>
inline constexpr bool is_timer_wheel = false;
template <class Clock, class Locking, class Wheel, class Executor>
inline constexpr bool is_timer_wheel<basic_timer_wheel<Clock, Locking, Wheel, Executor>> = true;

} // namespace detail

/// A timer_wheel of any kind.
template <class T>
concept any_timer_wheel = detail::is_timer_wheel<T>;

/// `token` for an operation that is cancelled after `delay`, counted from its start, and then completes with timed_out.
template <any_timer_wheel Wheel, class Rep, class Period, class Token>
    requires(!std::same_as<std::decay_t<Token>, asio::cancellation_type>)
auto timeout_after(const Wheel& wheel, std::chrono::duration<Rep, Period> delay, Token&& token,
                   asio::cancellation_type type = asio::cancellation_type::terminal) {
    return detail::timed_token<detail::delay_limit<Wheel>, std::decay_t<Token>>{
        {&detail::state_of::get(wheel), saturate_to_ns(delay), type, true}, std::forward<Token>(token)};
}
/// The same for the operation's default token.
template <any_timer_wheel Wheel, class Rep, class Period>
auto timeout_after(const Wheel& wheel, std::chrono::duration<Rep, Period> delay,
                   asio::cancellation_type type = asio::cancellation_type::terminal) {
    return detail::partial_timed_token<detail::delay_limit<Wheel>>{
        {&detail::state_of::get(wheel), saturate_to_ns(delay), type, true}};
}

/// The same with a point in time.
template <any_timer_wheel Wheel, class Token>
    requires(!std::same_as<std::decay_t<Token>, asio::cancellation_type>)
auto timeout_at(const Wheel& wheel, typename Wheel::time_point at, Token&& token,
                asio::cancellation_type type = asio::cancellation_type::terminal) {
    return detail::timed_token<detail::point_limit<Wheel>, std::decay_t<Token>>{
        {&detail::state_of::get(wheel), at, type, true}, std::forward<Token>(token)};
}
template <any_timer_wheel Wheel>
auto timeout_at(const Wheel& wheel, typename Wheel::time_point at,
                asio::cancellation_type type = asio::cancellation_type::terminal) {
    return detail::partial_timed_token<detail::point_limit<Wheel>>{{&detail::state_of::get(wheel), at, type, true}};
}

/// `token` for an operation that is cancelled after `delay`, counted from its start.
template <any_timer_wheel Wheel, class Rep, class Period, class Token>
    requires(!std::same_as<std::decay_t<Token>, asio::cancellation_type>)
auto cancel_after(const Wheel& wheel, std::chrono::duration<Rep, Period> delay, Token&& token,
                  asio::cancellation_type type = asio::cancellation_type::terminal) {
    return detail::timed_token<detail::delay_limit<Wheel>, std::decay_t<Token>>{
        {&detail::state_of::get(wheel), saturate_to_ns(delay), type, false}, std::forward<Token>(token)};
}
template <any_timer_wheel Wheel, class Rep, class Period>
auto cancel_after(const Wheel& wheel, std::chrono::duration<Rep, Period> delay,
                  asio::cancellation_type type = asio::cancellation_type::terminal) {
    return detail::partial_timed_token<detail::delay_limit<Wheel>>{
        {&detail::state_of::get(wheel), saturate_to_ns(delay), type, false}};
}

/// The same with a point in time.
template <any_timer_wheel Wheel, class Token>
    requires(!std::same_as<std::decay_t<Token>, asio::cancellation_type>)
auto cancel_at(const Wheel& wheel, typename Wheel::time_point at, Token&& token,
               asio::cancellation_type type = asio::cancellation_type::terminal) {
    return detail::timed_token<detail::point_limit<Wheel>, std::decay_t<Token>>{
        {&detail::state_of::get(wheel), at, type, false}, std::forward<Token>(token)};
}
template <any_timer_wheel Wheel>
auto cancel_at(const Wheel& wheel, typename Wheel::time_point at,
               asio::cancellation_type type = asio::cancellation_type::terminal) {
    return detail::partial_timed_token<detail::point_limit<Wheel>>{{&detail::state_of::get(wheel), at, type, false}};
}

} // namespace cogwheel

// The return types are spelt out, lest a mere check whether a token fits instantiates all of this.
template <class State, class When, class Token, class... Signatures>
struct asio::async_result<cogwheel::detail::timed_token<cogwheel::detail::limit<State, When>, Token>, Signatures...> {
    template <class Initiation>
    using timed = cogwheel::detail::timed_initiation<std::decay_t<Initiation>, State, When, Signatures...>;
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

template <class State, class When, class... Signatures>
struct asio::async_result<cogwheel::detail::partial_timed_token<cogwheel::detail::limit<State, When>>, Signatures...> {
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

    // Asio's own check whether a token fits asks with an initiation that knows no executor. It does not call this.
    template <class Initiation, class RawToken, class... Args>
    static void initiate(Initiation&&, const RawToken&, Args&&...) {
        static_assert(cogwheel::detail::knows_executor<std::decay_t<Initiation>>,
                      "this operation does not say what its default token is: give timeout_after(...) one");
    }
};
