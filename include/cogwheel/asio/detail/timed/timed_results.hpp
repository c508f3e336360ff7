// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The results of an operation with a timeout: their types, and the translation of a cancellation into timed_out.
#pragma once

#include <cogwheel/asio/detail/executor/wrapped_handler.hpp>

#include COGWHEEL_ASIO_HEADER(error.hpp)
#include COGWHEEL_ASIO_HEADER(experimental/channel_error.hpp)
#include COGWHEEL_ASIO_HEADER(multiple_exceptions.hpp)

#include <concepts>
#include <exception>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

template <class Signature>
struct signature_traits;
template <class R, class... Args>
struct signature_traits<R(Args...)> {
    using results = std::tuple<std::decay_t<Args>...>;
};
template <class R, class... Args>
struct signature_traits<R(Args...) noexcept> : signature_traits<R(Args...)> {};
template <class R, class... Args>
struct signature_traits<R(Args...)&> : signature_traits<R(Args...)> {};
template <class R, class... Args>
struct signature_traits<R(Args...) &&> : signature_traits<R(Args...)> {};

template <class T>
concept error_result = std::same_as<T, error_code> || std::same_as<T, std::exception_ptr>;

template <class Tuple>
struct first_result {
    using type = void;
};
template <class First, class... Rest>
struct first_result<std::tuple<First, Rest...>> {
    using type = First;
};

/// Finds the signature for a call of the handler with Args: the exact one, else the first that accepts them.
template <class... Args>
struct fitting_results {
    template <class First, class... Rest>
    static auto find() {
        if constexpr ((std::same_as<std::tuple<std::decay_t<Args>...>, First> || ... ||
                       std::same_as<std::tuple<std::decay_t<Args>...>, Rest>))
            return std::type_identity<std::tuple<std::decay_t<Args>...>>();
        else
            return convertible<First, Rest...>();
    }

private:
    template <class First, class... Rest>
    static auto convertible() {
        if constexpr (std::tuple_size_v<First> == sizeof...(Args) && std::is_constructible_v<First, Args...>)
            return std::type_identity<First>();
        else
            return convertible<Rest...>();
    }
};

/// True if the first signature can report an error.
template <class First, class... Signatures>
inline constexpr bool can_fail = error_result<typename first_result<typename signature_traits<First>::results>::type> &&
                                 std::default_initializable<typename signature_traits<First>::results>;

/// Returns whether the error means a cancellation. Only such an error becomes timed_out.
inline bool says_cancelled(const error_code& ec) noexcept {
    return ec == asio::error::operation_aborted || ec == sys::errc::operation_canceled ||
           ec == asio::experimental::error::channel_cancelled;
}
/// Turns a cancellation into timed_out. Leaves success and other errors unchanged.
inline void report_timeout(error_code& ec) noexcept {
    if (says_cancelled(ec)) ec = asio::error::timed_out;
}
inline void report_timeout(std::exception_ptr& e) noexcept {
    if (!e) return;
#ifdef __cpp_exceptions
    try {
        std::rethrow_exception(e);
    } catch (const sys::system_error& error) {
        if (says_cancelled(error.code()))
            e = std::make_exception_ptr(sys::system_error(error_code(asio::error::timed_out)));
    } catch (const asio::multiple_exceptions& all) { // of a && b and a || b: the first one counts
        std::exception_ptr first = all.first_exception();
        report_timeout(first);
        if (first != all.first_exception()) e = first;
    } catch (...) {
        // not a cancellation: unchanged
    }
#endif
}
template <class T>
void report_timeout(T&) noexcept {}
/// Does the same for results in one tuple, of as_tuple around a timeout.
template <class First, class... Rest>
void report_timeout(std::tuple<First, Rest...>& all) noexcept {
    report_timeout(std::get<0>(all));
}

/// Makes the results of a failed operation. Preconditions: the first one is an error_code or an exception_ptr.
template <class Results>
Results failed_results(const error_code& ec) {
    Results r;
    if constexpr (std::same_as<std::tuple_element_t<0, Results>, error_code>)
        std::get<0>(r) = ec;
    else
        std::get<0>(r) = std::make_exception_ptr(sys::system_error(ec));
    return r;
}

/// Calls a handler with its results. std::apply() costs more to compile, because it also calls pointers to members.
template <class Handler, class... Results>
void call_with(Handler&& handler, std::tuple<Results...>&& results) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        std::forward<Handler>(handler)(std::forward<Results>(std::get<I>(results))...);
    }(std::index_sequence_for<Results...>());
}

/// A handler with its results. It keeps the handler's associations.
template <class Handler, class Results>
struct handler_with_results {
    using associations = of_handler;
    Handler handler;
    Results results;

    void operator()() { detail::call_with(std::move(handler), std::move(results)); }
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
