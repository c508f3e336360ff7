// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A timeout for any asynchronous operation, as a completion token:
//
//     socket.async_read_some(buffer, cogwheel::timeout_after(wheel, 5s, token));
//     co_await socket.async_read_some(buffer, cogwheel::timeout_after(5s)); // the wheel of the socket's context
//
// - timeout_after, timeout_at: an operation that the timer has cancelled completes with asio::error::timed_out.
// - cancel_after, cancel_at: it completes with its own error, usually operation_aborted. (Asio 1.31 has functions of
//   these names.)
// The timer emits a signal of `type` through the operation's cancellation slot. Only an error that means a cancellation
// becomes timed_out. All other results reach the handler unchanged, for instance if the operation ignores the signal or
// ends before it. Each operation completes exactly once, unless an execution context is destroyed first. A cancellation
// through the handler's own slot passes to the operation. If the wheel is destroyed, or stop() or cancel_all() cancels
// its timers, a later turn cancels the operation, which completes with its own result.
//
// If the wheel refuses the timer, the operation does not start; it completes with errc::stopped or
// errc::too_many_timers. But if the first result is no error, or a result has no default constructor, the operation
// starts, and a later turn cancels it.
// Memory: one block for timer, handler and signal, from the same sources as in async_wait().
// Without a wheel, the timer goes to the wheel of the context of the operation's executor (timer_wheel_of.hpp). The
// operation must say its executor, as for asio::cancel_after.
// Executor: the timer emits the signal on the handler's associated executor, else on the operation's.
// Complexity: O(1). Thread safety: the wheel's.
// Lifetime: the wheel must exist when the operation starts; the wheel's execution context, until the operation ends.
#pragma once

#include <cogwheel/asio/detail/context_wheel.hpp>
#include <cogwheel/asio/detail/on_wheel.hpp>
#include <cogwheel/asio/detail/timed_handler.hpp>

namespace cogwheel::inline v0 {

namespace detail {

/// The wheel that the caller names.
template <class Impl>
struct given_wheel {
    using impl_type = Impl;
    static constexpr bool named = true;
    Impl* impl;

    template <class Executor>
    Impl& find(const Executor&) const noexcept {
        return *impl;
    }
    const asio::any_io_executor& default_executor() const noexcept { return impl->executor(); }
};

/// The wheel of the context of the operation's executor.
template <class Wheel>
struct context_wheel {
    using impl_type = detail::impl_type<Wheel>;
    static constexpr bool named = false;
    detail::call_site where;

    template <class Executor>
    impl_type& find(const Executor& executor) const {
        return impl_of(find_wheel<Wheel>(executor, where));
    }
    static asio::any_io_executor default_executor() noexcept { return {}; } // named only: see start()
};

/// The timer of a timed token: on which wheel, when, and what it does.
template <class Place, class When>
struct timeout_spec {
    Place place;
    When when;
    asio::cancellation_type type;
    bool report; // a cancellation by the timer completes as timed_out
};

/// A completion token with a timeout.
template <class Spec, class Token>
struct timed_token {
    Spec spec;
    Token token;
};

/// A timeout without a token. As a token, it means the operation's default token. A call with a token adds that token.
template <class Spec>
struct partial_timed_token {
    Spec spec;

    template <class Token>
    timed_token<Spec, std::decay_t<Token>> operator()(Token&& token) const {
        return {spec, std::forward<Token>(token)};
    }
};

template <class T>
concept knows_executor = requires(const T& t) {
    typename T::executor_type;
    t.get_executor();
};

/// Starts the operation of `Initiation`, with a timeout.
template <class Initiation, class Place, class When, class... Signatures>
class timed_initiation {
    using engine = typename Place::impl_type::engine;

    static auto executor_of(const Initiation& initiation, [[maybe_unused]] const Place& place) noexcept {
        if constexpr (knows_executor<Initiation>)
            return initiation.get_executor();
        else
            return place.default_executor();
    }

public:
    using executor_type = std::decay_t<decltype(executor_of(std::declval<Initiation>(), std::declval<Place>()))>;

    template <class I>
    timed_initiation(I&& initiation, const timeout_spec<Place, When>& s)
        : initiation_(std::forward<I>(initiation)), spec_(s) {}

    executor_type get_executor() const noexcept { return executor_of(initiation_, spec_.place); }

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
        static_assert(knows_executor<Initiation> || Place::named,
                      "this operation does not say its executor: name a wheel, timeout_after(wheel, delay, token)");
        using operation = timed_operation<engine, std::decay_t<Handler>, executor_type, Signatures...>;
        const executor_type io_executor = executor_of(initiation, spec_.place);
        operation::start(spec_.place.find(io_executor), std::forward<Handler>(handler), io_executor, point(),
                         spec_.type, spec_.report, [&](typename operation::owner p) {
                             std::move(initiation)(timed_handler<operation>(std::move(p)), std::forward<Args>(args)...);
                         });
    }

    auto point() const {
        if constexpr (std::is_same_v<When, std::chrono::nanoseconds>)
            return typename engine::from_now{spec_.when, engine::clock_type::now()};
        else
            return spec_.when;
    }

    Initiation initiation_;
    timeout_spec<Place, When> spec_;
};

template <class T>
concept not_a_type = !std::same_as<std::decay_t<T>, asio::cancellation_type>;

template <class Wheel, class When>
auto spec_on(const Wheel& wheel, When when, asio::cancellation_type type, bool report) {
    using place = given_wheel<impl_type<Wheel>>;
    return timeout_spec<place, When>{{&impl_of(wheel)}, when, type, report};
}
template <class Wheel, class When>
auto spec_in_context(When when, asio::cancellation_type type, bool report, detail::call_site where) {
    return timeout_spec<context_wheel<Wheel>, When>{{where}, when, type, report};
}

template <class Spec, class Token>
auto timed(const Spec& spec, Token&& token) {
    return timed_token<Spec, std::decay_t<Token>>{spec, std::forward<Token>(token)};
}
template <class Spec>
auto timed(const Spec& spec) {
    return partial_timed_token<Spec>{spec};
}

} // namespace detail

/// Returns a token that cancels its operation after `delay`. If the operation then fails with an error that means
/// a cancellation, it completes with timed_out. token: the operation's completion token. type: what the timer emits.
/// The delay counts from the operation's start.
template <any_timer_wheel Wheel, class Rep, class Period, detail::not_a_type Token>
auto timeout_after(const Wheel& wheel, std::chrono::duration<Rep, Period> delay, Token&& token,
                   asio::cancellation_type type = asio::cancellation_type::terminal) {
    return detail::timed(detail::spec_on(wheel, saturate_to_ns(delay), type, true), std::forward<Token>(token));
}
/// The same with the operation's default token.
template <any_timer_wheel Wheel, class Rep, class Period>
auto timeout_after(const Wheel& wheel, std::chrono::duration<Rep, Period> delay,
                   asio::cancellation_type type = asio::cancellation_type::terminal) {
    return detail::timed(detail::spec_on(wheel, saturate_to_ns(delay), type, true));
}
/// The same two on the wheel of the operation's context.
template <any_timer_wheel Wheel = timer_wheel, class Rep, class Period, detail::not_a_type Token>
auto timeout_after(std::chrono::duration<Rep, Period> delay, Token&& token,
                   asio::cancellation_type type = asio::cancellation_type::terminal,
                   detail::call_site where = detail::call_site::here()) {
    return detail::timed(detail::spec_in_context<Wheel>(saturate_to_ns(delay), type, true, where),
                         std::forward<Token>(token));
}
template <any_timer_wheel Wheel = timer_wheel, class Rep, class Period>
auto timeout_after(std::chrono::duration<Rep, Period> delay,
                   asio::cancellation_type type = asio::cancellation_type::terminal,
                   detail::call_site where = detail::call_site::here()) {
    return detail::timed(detail::spec_in_context<Wheel>(saturate_to_ns(delay), type, true, where));
}

/// The same as timeout_after(), with a point in time.
template <any_timer_wheel Wheel, detail::not_a_type Token>
auto timeout_at(const Wheel& wheel, typename Wheel::time_point at, Token&& token,
                asio::cancellation_type type = asio::cancellation_type::terminal) {
    return detail::timed(detail::spec_on(wheel, at, type, true), std::forward<Token>(token));
}
/// The same with the operation's default token.
template <any_timer_wheel Wheel>
auto timeout_at(const Wheel& wheel, typename Wheel::time_point at,
                asio::cancellation_type type = asio::cancellation_type::terminal) {
    return detail::timed(detail::spec_on(wheel, at, type, true));
}
/// The same two on the wheel of the operation's context.
template <any_timer_wheel Wheel = timer_wheel, detail::not_a_type Token>
auto timeout_at(typename Wheel::time_point at, Token&& token,
                asio::cancellation_type type = asio::cancellation_type::terminal,
                detail::call_site where = detail::call_site::here()) {
    return detail::timed(detail::spec_in_context<Wheel>(at, type, true, where), std::forward<Token>(token));
}
template <any_timer_wheel Wheel = timer_wheel>
auto timeout_at(typename Wheel::time_point at, asio::cancellation_type type = asio::cancellation_type::terminal,
                detail::call_site where = detail::call_site::here()) {
    return detail::timed(detail::spec_in_context<Wheel>(at, type, true, where));
}

/// Returns a token that cancels its operation after `delay`; the operation then completes with its own error.
/// The parameters are those of timeout_after().
template <any_timer_wheel Wheel, class Rep, class Period, detail::not_a_type Token>
auto cancel_after(const Wheel& wheel, std::chrono::duration<Rep, Period> delay, Token&& token,
                  asio::cancellation_type type = asio::cancellation_type::terminal) {
    return detail::timed(detail::spec_on(wheel, saturate_to_ns(delay), type, false), std::forward<Token>(token));
}
/// The same with the operation's default token.
template <any_timer_wheel Wheel, class Rep, class Period>
auto cancel_after(const Wheel& wheel, std::chrono::duration<Rep, Period> delay,
                  asio::cancellation_type type = asio::cancellation_type::terminal) {
    return detail::timed(detail::spec_on(wheel, saturate_to_ns(delay), type, false));
}
/// The same two on the wheel of the operation's context.
template <any_timer_wheel Wheel = timer_wheel, class Rep, class Period, detail::not_a_type Token>
auto cancel_after(std::chrono::duration<Rep, Period> delay, Token&& token,
                  asio::cancellation_type type = asio::cancellation_type::terminal,
                  detail::call_site where = detail::call_site::here()) {
    return detail::timed(detail::spec_in_context<Wheel>(saturate_to_ns(delay), type, false, where),
                         std::forward<Token>(token));
}
template <any_timer_wheel Wheel = timer_wheel, class Rep, class Period>
auto cancel_after(std::chrono::duration<Rep, Period> delay,
                  asio::cancellation_type type = asio::cancellation_type::terminal,
                  detail::call_site where = detail::call_site::here()) {
    return detail::timed(detail::spec_in_context<Wheel>(saturate_to_ns(delay), type, false, where));
}

/// The same as cancel_after(), with a point in time.
template <any_timer_wheel Wheel, detail::not_a_type Token>
auto cancel_at(const Wheel& wheel, typename Wheel::time_point at, Token&& token,
               asio::cancellation_type type = asio::cancellation_type::terminal) {
    return detail::timed(detail::spec_on(wheel, at, type, false), std::forward<Token>(token));
}
/// The same with the operation's default token.
template <any_timer_wheel Wheel>
auto cancel_at(const Wheel& wheel, typename Wheel::time_point at,
               asio::cancellation_type type = asio::cancellation_type::terminal) {
    return detail::timed(detail::spec_on(wheel, at, type, false));
}
/// The same two on the wheel of the operation's context.
template <any_timer_wheel Wheel = timer_wheel, detail::not_a_type Token>
auto cancel_at(typename Wheel::time_point at, Token&& token,
               asio::cancellation_type type = asio::cancellation_type::terminal,
               detail::call_site where = detail::call_site::here()) {
    return detail::timed(detail::spec_in_context<Wheel>(at, type, false, where), std::forward<Token>(token));
}
template <any_timer_wheel Wheel = timer_wheel>
auto cancel_at(typename Wheel::time_point at, asio::cancellation_type type = asio::cancellation_type::terminal,
               detail::call_site where = detail::call_site::here()) {
    return detail::timed(detail::spec_in_context<Wheel>(at, type, false, where));
}

} // namespace cogwheel::inline v0

// initiate() spells out its return type. With a deduced one, a check of whether the token fits would instantiate the
// function's body.
template <class Place, class When, class Token, class... Signatures>
struct asio::async_result<cogwheel::detail::timed_token<cogwheel::detail::timeout_spec<Place, When>, Token>,
                          Signatures...> {
    template <class Initiation>
    using timed = cogwheel::detail::timed_initiation<std::decay_t<Initiation>, Place, When, Signatures...>;
    template <class RawToken>
    using token = std::conditional_t<std::is_const_v<std::remove_reference_t<RawToken>>, const Token, Token>;

    template <class Initiation, class RawToken, class... Args>
    static auto initiate(Initiation&& initiation, RawToken&& raw, Args&&... args)
        -> decltype(asio::async_initiate<token<RawToken>, Signatures...>(std::declval<timed<Initiation>>(),
                                                                         std::declval<token<RawToken>&>(),
                                                                         std::declval<Args>()...)) {
        return asio::async_initiate<token<RawToken>, Signatures...>(
            timed<Initiation>(std::forward<Initiation>(initiation), raw.spec), raw.token, std::forward<Args>(args)...);
    }
};

template <class Place, class When, class... Signatures>
struct asio::async_result<cogwheel::detail::partial_timed_token<cogwheel::detail::timeout_spec<Place, When>>,
                          Signatures...> {
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

    // Asio's check of whether a token fits names this function, with an initiation without executor. It never calls it.
    template <class Initiation, class RawToken, class... Args>
    static void initiate(Initiation&&, const RawToken&, Args&&...) {
        static_assert(cogwheel::detail::knows_executor<std::decay_t<Initiation>>,
                      "this operation does not say what its default token is: give timeout_after(...) one");
    }
};
