// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Starts an attempt by a function object of the user. Finds out its form and its completion signature, and turns its
// errors into error codes. Each call starts one attempt. The forms:
//
//     [&](auto token) { return client.async_get(token); }
//     [&](Attempt& attempt, auto token) { ... }
//     [&]() -> asio::awaitable<T> { ... }
//     [&](Attempt& attempt) -> asio::awaitable<T> { ... }
#pragma once

#include <cogwheel/asio/detail/on_wheel.hpp>
#include <cogwheel/asio/timeout.hpp>

#include COGWHEEL_ASIO_HEADER(async_result.hpp)
#include COGWHEEL_ASIO_HEADER(multiple_exceptions.hpp)

#include <concepts>
#include <functional>
#include <new>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

template <class... Signatures>
struct signature_list {};

/// A completion token that starts nothing: an operation with this token returns its completion signature as a type.
struct signature_probe {};

/// Where the coroutines of attempts run: on the operation's executor if it converts to theirs, else on the wheel's.
template <class Own, class Wheels>
class spawning_place {
public:
    spawning_place(const Own& own, const Wheels& wheels) noexcept : own_(own), wheels_(wheels) {}

#if COGWHEEL_ASIO_MACRO(HAS_CO_AWAIT)
    template <class T, class Executor, class Token>
    auto spawn(asio::awaitable<T, Executor> a, Token token) const {
        if constexpr (std::convertible_to<const Own&, Executor>) {
            return asio::co_spawn(own_, accept_all_cancellations(std::move(a)), std::move(token));
        } else {
            static_assert(std::convertible_to<const Wheels&, Executor>,
                          "the coroutine needs an executor that neither the handler nor the wheel has: declare it as "
                          "asio::awaitable<T>");
            return asio::co_spawn(wheels_, accept_all_cancellations(std::move(a)), std::move(token));
        }
    }
#endif

private:
    [[maybe_unused]] const Own& own_;
    [[maybe_unused]] const Wheels& wheels_;
};

template <class Operation, class Attempt, class Place, class Token>
auto call_attempt(Operation& operation, [[maybe_unused]] Attempt& attempt, [[maybe_unused]] const Place& place,
                  Token token) {
    if constexpr (std::invocable<Operation&, Attempt&, Token>) {
        return std::invoke(operation, attempt, std::move(token));
    } else if constexpr (std::invocable<Operation&, Token>) {
        return std::invoke(operation, std::move(token));
    } else if constexpr (std::invocable<Operation&, Attempt&>) {
        static_assert(is_awaitable<std::invoke_result_t<Operation&, Attempt&>>,
                      "an operation that takes no completion token must return asio::awaitable");
        return place.spawn(std::invoke(operation, attempt), std::move(token));
    } else {
        static_assert(std::invocable<Operation&>, "the operation must be callable as operation(token), "
                                                  "operation(attempt, token), operation() or operation(attempt)");
        static_assert(is_awaitable<std::invoke_result_t<Operation&>>,
                      "an operation that takes no completion token must return asio::awaitable");
        return place.spawn(std::invoke(operation), std::move(token));
    }
}

template <class Operation, class Retryable>
struct judged_operation {
    Operation operation;
    Retryable retryable;

    template <class... Args>
        requires std::invocable<Operation&, Args...>
    decltype(auto) operator()(Args&&... args) {
        return std::invoke(operation, std::forward<Args>(args)...);
    }
};

template <class Operation>
inline constexpr bool is_judged = false;
template <class Operation, class Retryable>
inline constexpr bool is_judged<judged_operation<Operation, Retryable>> = true;

template <class T>
struct only_signature {
    static_assert(!std::same_as<T, T>,
                  "the operation must return what the asynchronous operation returns that it starts with the token it "
                  "is given, and that one must complete with an error code or an exception: is a `return` missing?");
};
template <class First, class Second, class... More>
struct only_signature<signature_list<First, Second, More...>> {
    static_assert(!std::same_as<First, First>,
                  "the operation must have one completion signature, this one has several");
};
template <class R, class First, class... Rest>
struct only_signature<signature_list<R(First, Rest...)>> {
    using error = std::decay_t<First>;
    using results = std::tuple<error, std::decay_t<Rest>...>;
    static_assert(error_result<error>,
                  "the operation's first result must be error_code or std::exception_ptr, else it cannot fail");
    static_assert(std::default_initializable<results>,
                  "the operation's results must be default constructible: it may be over without any");
    /// The completion signature of the whole retry or hedge. A summary of all attempts follows the error.
    template <class Summary>
    using summarized = void(error, Summary, std::decay_t<Rest>...);
};

template <class Operation, class Attempt, class Executor>
using attempt_signature =
    only_signature<decltype(call_attempt(std::declval<Operation&>(), std::declval<Attempt&>(),
                                         std::declval<const spawning_place<Executor, Executor>&>(),
                                         signature_probe()))>;

/// Returns the results of the last attempt, with a summary of all attempts behind the error.
template <class Error, class... Rest, class Summary>
auto with_summary(std::tuple<Error, Rest...>&& results, Summary summary) {
    return std::apply(
        [&](Error& error, Rest&... rest) {
            return std::tuple<Error, Summary, Rest...>(std::move(error), std::move(summary), std::move(rest)...);
        },
        results);
}

/// Returns the code of an exception that has none.
inline error_code no_code() noexcept { return make_error_code(sys::errc::state_not_recoverable); }

inline error_code code_of(const error_code& ec) noexcept { return ec; }
inline error_code code_of(const std::exception_ptr& e) noexcept {
    if (!e) return {};
#ifdef __cpp_exceptions
    try {
        std::rethrow_exception(e);
    } catch (const sys::system_error& error) {
        return error.code();
    } catch (const asio::multiple_exceptions& all) { // of a && b and a || b: the first one counts
        return code_of(all.first_exception());
    } catch (const std::bad_alloc&) {
        return make_error_code(sys::errc::not_enough_memory);
    } catch (...) {
    }
#endif
    return no_code();
}

inline void assign_error(error_code& to, const error_code& ec) noexcept { to = ec; }
inline void assign_error(std::exception_ptr& to, const error_code& ec) {
    to = ec ? std::make_exception_ptr(sys::system_error(ec)) : nullptr;
}

/// Stores an exception. Returns false if the error code does not say what the exception was.
inline bool assign_exception(error_code& to, const std::exception_ptr& e) noexcept {
    to = code_of(e);
    return to != no_code();
}
inline bool assign_exception(std::exception_ptr& to, const std::exception_ptr& e) noexcept {
    to = e;
    return true;
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

template <class... Signatures>
struct cogwheel::asio::async_result<cogwheel::detail::signature_probe, Signatures...> {
    template <class Initiation, class... Args>
    static cogwheel::detail::signature_list<Signatures...>
    initiate(Initiation&&, const cogwheel::detail::signature_probe&, Args&&...) {
        return {};
    }
};

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// What Asio calls with a handler to start a retry or a hedge.
/// Function: the user's function object, called with an Attempt. Operation: retry_operation or hedge_operation.
template <class Wheel, class Function, class Attempt, template <class, class, class, class, class> class Operation>
class attempts_initiation {
    using state = impl_type<Wheel>;

public:
    using executor_type = typename Wheel::executor_type;
    using signature = attempt_signature<Function, Attempt, executor_type>;

    explicit attempts_initiation(const Wheel& wheel) : state_(&impl_of(wheel)), executor_(wheel.get_executor()) {}
    executor_type get_executor() const noexcept { return executor_; }

    template <class Handler, class Options, class F>
    void operator()(Handler&& handler, const Options& options, F&& f) const {
        using operation = Operation<state, executor_type, Function, signature, std::decay_t<Handler>>;
        operation::start(*state_, executor_, options, std::forward<F>(f), std::forward<Handler>(handler));
    }

private:
    state* state_;
    executor_type executor_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
