// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The handlers with which a retry starts its steps, and the token that an attempt receives.
#pragma once

#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/resilience/detail/composed_operation.hpp>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// The handler of an attempt or a wait: one pointer, with the associations of the user's handler except for the slot.
template <class Operation>
class step_handler_base {
public:
    using executor_type = typename Operation::executor_type;
    using cancellation_slot_type = asio::cancellation_slot;

    explicit step_handler_base(Operation& o) noexcept : owner_(o) { o.pin().make(); }
    executor_type get_executor() const noexcept { return owner_->executor(); }
    cancellation_slot_type get_cancellation_slot() const noexcept { return owner_->slot(); }

protected:
    operation_owner<Operation> owner_;
};

/// The handler of a wait. It has no associated allocator, so the wait's memory comes from the wheel's pool.
template <class Operation>
class wait_handler : public step_handler_base<Operation> {
public:
    using step_handler_base<Operation>::step_handler_base;
    void operator()(const error_code& ec) { this->owner_.release().wait_done(ec); }
};

template <class Operation>
class attempt_handler_base : public step_handler_base<Operation> {
public:
    using step_handler_base<Operation>::step_handler_base;
    template <class... Args>
    void operator()(Args&&... args) {
        this->owner_.release().attempt_done(std::forward<Args>(args)...);
    }

protected:
    Operation& operation() const noexcept { return *this->owner_; }
};
template <class Operation>
using attempt_handler = with_user_allocator<attempt_handler_base<Operation>, Operation>;

/// The token that the operation receives. Cheap to copy. The handler is made when the operation takes the token.
template <class Operation>
struct attempt_token {
    Operation* operation;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

// Starts the attempt, with a timeout if it has one.
template <class Operation, class... Signatures>
struct cogwheel::asio::async_result<cogwheel::detail::attempt_token<Operation>, Signatures...> {
    template <class Initiation, class Token, class... Args>
    static void initiate(Initiation&& initiation, Token&& token, Args&&... args) {
        using cogwheel::detail::attempt_handler;
        using state = std::remove_cvref_t<decltype(token.operation->state())>;
        using point = typename state::time_point;
        Operation& o = *token.operation;
        if (const auto until = o.attempt_limit()) {
            using timeout = cogwheel::detail::timeout_spec<cogwheel::detail::given_wheel<state>, point>;
            cogwheel::detail::timed_initiation<std::decay_t<Initiation>, timeout, Signatures...> limited(
                std::forward<Initiation>(initiation), {{&o.state()}, until.expiry(), {}});
            std::move(limited)(attempt_handler<Operation>(o), std::forward<Args>(args)...);
        } else {
            std::forward<Initiation>(initiation)(attempt_handler<Operation>(o), std::forward<Args>(args)...);
        }
    }
};
