// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#pragma once

#include <cogwheel/asio/detail/timed_operation.hpp>

namespace cogwheel::detail {

/// The handler that the operation is started with: one pointer, and the user's associations, but for the slot.
template <class Operation>
class timed_handler {
public:
    explicit timed_handler(typename Operation::timed_pointer p) noexcept : operation_(std::move(p)) {}

    template <class... Args>
    void operator()(Args&&... args) {
        operation_.release().complete(std::forward<Args>(args)...);
    }

    const auto& handler() const noexcept { return (*operation_).handler(); }
    asio::cancellation_slot slot() const noexcept { return (*operation_).slot(); }

private:
    typename Operation::timed_pointer operation_;
};

} // namespace cogwheel::detail

template <template <class, class> class Associator, class Operation, class Default>
struct asio::associator<Associator, cogwheel::detail::timed_handler<Operation>, Default>
    : Associator<std::decay_t<decltype(std::declval<const Operation&>().handler())>, Default> {
    using base = Associator<std::decay_t<decltype(std::declval<const Operation&>().handler())>, Default>;
    static decltype(auto) get(const cogwheel::detail::timed_handler<Operation>& h) noexcept {
        return base::get(h.handler());
    }
    static decltype(auto) get(const cogwheel::detail::timed_handler<Operation>& h, const Default& d) noexcept {
        return base::get(h.handler(), d);
    }
};

template <class Operation, class Default>
struct asio::associated_cancellation_slot<cogwheel::detail::timed_handler<Operation>, Default> {
    using type = asio::cancellation_slot;
    static type get(const cogwheel::detail::timed_handler<Operation>& h, const Default& = Default()) noexcept {
        return h.slot();
    }
};
