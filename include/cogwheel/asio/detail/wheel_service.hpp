// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Owns the states of all wheels of one kind on one execution context, and hands them out again.
#pragma once

#include <cogwheel/asio/detail/wheel_state.hpp>

#include <asio/execution_context.hpp>

#include <algorithm>
#include <memory>
#include <vector>

namespace cogwheel::detail {

template <class State>
class wheel_service final : public asio::execution_context::service, public State::owner {
public:
    using key_type = wheel_service;
    static inline asio::execution_context::id id;

    explicit wheel_service(asio::execution_context& context) : asio::execution_context::service(context) {}

    /// A state nobody uses. One without a lock goes to the executor that it had, whence its stale tokens come.
    /// Complexity: O(1), without a lock O(idle states). Errors: std::bad_alloc.
    State& acquire(const asio::any_io_executor& executor) {
        const std::lock_guard lock(mutex_);
        const auto fits = [&](const State* s) { return State::concurrent || s->was_at(executor); };
        if (const auto at = std::find_if(idle_.rbegin(), idle_.rend(), fits); at != idle_.rend()) {
            State* state = *at;
            idle_.erase(std::next(at).base());
            return *state;
        }
        idle_.reserve(states_.size() + 1); // so that recycle() cannot fail
        states_.push_back(std::make_unique<State>(*this));
        return *states_.back();
    }

    void recycle(State& state) noexcept override {
        const std::lock_guard lock(mutex_);
        idle_.push_back(&state);
    }

private:
    void shutdown() noexcept override {
        for (const auto& state : states_) state->shutdown();
    }

    std::mutex mutex_;
    std::vector<std::unique_ptr<State>> states_;
    std::vector<State*> idle_;
};

} // namespace cogwheel::detail
