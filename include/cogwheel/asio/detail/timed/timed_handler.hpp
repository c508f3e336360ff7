// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The handler with which timeout() and its relatives start an operation.
#pragma once

#include <cogwheel/asio/detail/timed/timed_operation.hpp>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// A copy of a handler's associated allocator, or nothing if the handler has none.
template <class Handler, bool = has_allocator<Handler>>
struct kept_allocator {
    explicit kept_allocator(const Handler&) noexcept {}
    template <class Default>
    const Default& get(const Default& d) const noexcept {
        return d;
    }
};
template <class Handler>
struct kept_allocator<Handler, true> {
    asio::associated_allocator_t<Handler> allocator;
    explicit kept_allocator(const Handler& h) noexcept : allocator(asio::get_associated_allocator(h)) {}
    template <class Default>
    const auto& get(const Default&) const noexcept {
        return allocator;
    }
};

/// Completes a timed_operation. Holds one pointer, and the user's allocator if that has a state. Has the associations
/// of the user's handler, but the operation's cancellation slot.
template <class Operation>
class timed_handler {
public:
    using associations = of_handler;

    explicit timed_handler(typename Operation::owner p) noexcept
        : allocator_((*p).handler()), operation_(std::move(p)) {}

    template <class... Args>
    void operator()(Args&&... args) {
        operation_.release().complete(std::forward<Args>(args)...);
    }

    const auto& handler() const noexcept { return (*operation_).handler(); }
    asio::cancellation_slot slot() const noexcept { return (*operation_).slot(); }

    const auto& allocator() const noexcept { return allocator_; }

private:
    // A copy: if an operation fails to start, Asio asks a moved-from handler for its allocator.
    [[no_unique_address]] kept_allocator<std::decay_t<decltype(std::declval<const Operation&>().handler())>> allocator_;
    typename Operation::owner operation_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

template <class Operation, class Default>
struct cogwheel::asio::associated_cancellation_slot<cogwheel::detail::timed_handler<Operation>, Default> {
    using type = cogwheel::asio::cancellation_slot;
    static type get(const cogwheel::detail::timed_handler<Operation>& h, const Default& = Default()) noexcept {
        return h.slot();
    }
};

template <class Operation, class Default>
struct cogwheel::asio::associated_allocator<cogwheel::detail::timed_handler<Operation>, Default> {
    using type =
        cogwheel::asio::associated_allocator_t<std::decay_t<decltype(std::declval<const Operation&>().handler())>,
                                               Default>;
    static type get(const cogwheel::detail::timed_handler<Operation>& h, const Default& d = Default()) noexcept {
        return h.allocator().get(d);
    }
};
