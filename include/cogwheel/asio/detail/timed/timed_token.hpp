// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Completion tokens that add a timer to an operation, for timeout() and abandon(). A `Spec` says when its timer is due
// and on which wheel (`place`). Its start() starts the operation with that timer.
#pragma once

#include <cogwheel/asio/detail/executor/context_wheel.hpp>
#include <cogwheel/asio/detail/on_wheel.hpp>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

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

    template <class Executor>
    impl_type& find(const Executor& executor) const {
        return impl_of(find_wheel<context_wheel_type<Wheel>>(executor));
    }
    static asio::any_io_executor default_executor() noexcept { return {}; } // never used: see timed_initiation
};

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

/// Starts the operation of `Initiation`, with the timer of a spec.
template <class Initiation, class Spec, class... Signatures>
class timed_initiation {
    using place = decltype(Spec::place);

    static auto executor_of(const Initiation& initiation, [[maybe_unused]] const place& p) noexcept {
        if constexpr (knows_executor<Initiation>)
            return initiation.get_executor();
        else
            return p.default_executor();
    }

public:
    using executor_type = std::decay_t<decltype(executor_of(std::declval<Initiation>(), std::declval<place>()))>;

    template <class I>
    timed_initiation(I&& initiation, const Spec& spec) : initiation_(std::forward<I>(initiation)), spec_(spec) {}

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
        static_assert(knows_executor<Initiation> || place::named,
                      "this operation does not say its executor: name a wheel, timeout(wheel, when, token). If an "
                      "adapter of its token hides it, put that inside: timeout(when, as_tuple(token))");
        const executor_type io_executor = executor_of(initiation, spec_.place);
        spec_.template start<Signatures...>(std::forward<Handler>(handler), io_executor, [&](auto&& timed) {
            std::move(initiation)(std::forward<decltype(timed)>(timed), std::forward<Args>(args)...);
        });
    }

    Initiation initiation_;
    Spec spec_;
};

template <class Spec, class Token>
auto timed(const Spec& spec, Token&& token) {
    return timed_token<Spec, std::decay_t<Token>>{spec, std::forward<Token>(token)};
}
template <class Spec>
auto timed(const Spec& spec) {
    return partial_timed_token<Spec>{spec};
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

// initiate() spells out its return type: with a deduced type, a check of the token would instantiate its body.
template <class Spec, class Token, class... Signatures>
struct cogwheel::asio::async_result<cogwheel::detail::timed_token<Spec, Token>, Signatures...> {
    template <class Initiation>
    using timed = cogwheel::detail::timed_initiation<std::decay_t<Initiation>, Spec, Signatures...>;
    template <class RawToken>
    using token = std::conditional_t<std::is_const_v<std::remove_reference_t<RawToken>>, const Token, Token>;

    template <class Initiation, class RawToken, class... Args>
    static auto initiate(Initiation&& initiation, RawToken&& raw, Args&&... args)
        -> decltype(cogwheel::asio::async_initiate<token<RawToken>, Signatures...>(std::declval<timed<Initiation>>(),
                                                                                   std::declval<token<RawToken>&>(),
                                                                                   std::declval<Args>()...)) {
        return cogwheel::asio::async_initiate<token<RawToken>, Signatures...>(
            timed<Initiation>(std::forward<Initiation>(initiation), raw.spec), raw.token, std::forward<Args>(args)...);
    }
};

template <class Spec, class... Signatures>
struct cogwheel::asio::async_result<cogwheel::detail::partial_timed_token<Spec>, Signatures...> {
    template <class Initiation, class RawToken, class... Args>
        requires cogwheel::detail::knows_executor<std::decay_t<Initiation>>
    static auto initiate(Initiation&& initiation, const RawToken& raw, Args&&... args) {
        using default_token =
            typename cogwheel::asio::default_completion_token<typename std::decay_t<Initiation>::executor_type>::type;
        static_assert(!std::is_void_v<default_token>,
                      "this operation has no default token: give timeout() or abandon() one, or use as_default_on");
        auto token = raw(default_token());
        return cogwheel::asio::async_initiate<decltype(token), Signatures...>(std::forward<Initiation>(initiation),
                                                                              token, std::forward<Args>(args)...);
    }

    // Asio's check of a token names this function, with an initiation without an executor, but never calls it.
    template <class Initiation, class RawToken, class... Args>
    static void initiate(Initiation&&, const RawToken&, Args&&...) {
        static_assert(cogwheel::detail::knows_executor<std::decay_t<Initiation>>,
                      "this operation does not say its default token: give timeout() or abandon() one");
    }
};
