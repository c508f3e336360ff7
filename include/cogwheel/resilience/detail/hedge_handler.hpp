// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The handler that starts an attempt of a hedge, and the token that the operation receives.
#pragma once

#include <cogwheel/resilience/detail/composed_operation.hpp>

#include COGWHEEL_ASIO_HEADER(associated_allocator.hpp)
#include COGWHEEL_ASIO_HEADER(async_result.hpp)
#include COGWHEEL_ASIO_HEADER(cancellation_signal.hpp)

#include <cstdint>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

template <class Operation>
struct branch_token {
    Operation* operation;
    std::uint32_t number;
};

/// The handler of an attempt. It has the associations of the user's handler, but the attempt's own slot.
template <class Operation>
class branch_handler_base {
public:
    using executor_type = typename Operation::executor_type;
    using cancellation_slot_type = asio::cancellation_slot;

    explicit branch_handler_base(branch_token<Operation> t) : operation_(t.operation), number_(t.number) {
        operation_->made(number_);
    }
    branch_handler_base(branch_handler_base&& other) noexcept
        : operation_(std::exchange(other.operation_, nullptr)), number_(other.number_) {}
    branch_handler_base& operator=(branch_handler_base&&) = delete;
    ~branch_handler_base() {
        if (operation_ != nullptr) operation_->dropped(number_);
    }

    executor_type get_executor() const noexcept { return operation_->executor(); }
    cancellation_slot_type get_cancellation_slot() const noexcept { return operation_->slot(number_); }

    template <class... Args>
    void operator()(Args&&... args) {
        std::exchange(operation_, nullptr)->ended(number_, std::forward<Args>(args)...);
    }

protected:
    Operation& operation() const noexcept { return *operation_; }

private:
    Operation* operation_;
    std::uint32_t number_;
};

template <class Operation>
using branch_handler = with_user_allocator<branch_handler_base<Operation>, Operation>;

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

template <class Operation, class... Signatures>
struct cogwheel::asio::async_result<cogwheel::detail::branch_token<Operation>, Signatures...> {
    template <class Initiation, class Token, class... Args>
    static void initiate(Initiation&& initiation, Token&& token, Args&&... args) {
        std::forward<Initiation>(initiation)(cogwheel::detail::branch_handler<Operation>(token),
                                             std::forward<Args>(args)...);
    }
};
