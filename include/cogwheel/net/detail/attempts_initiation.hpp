// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What Asio calls to start an operation made of attempts, once it has made the token a handler.
#pragma once

#include <cogwheel/asio/timeout_after.hpp>
#include <cogwheel/net/detail/attempt_call.hpp>

namespace cogwheel::detail {

/// Function: the user's, called with an Attempt. Operation: retry_operation, hedge_operation.
template <class Wheel, class Function, class Attempt, template <class, class, class, class, class> class Operation>
class attempts_initiation {
    using state = state_type<Wheel>;

public:
    using executor_type = typename Wheel::executor_type;
    using signature = attempt_signature<Function, Attempt, executor_type>;

    explicit attempts_initiation(const Wheel& wheel) : state_(&state_of::get(wheel)), executor_(wheel.get_executor()) {}
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

} // namespace cogwheel::detail
