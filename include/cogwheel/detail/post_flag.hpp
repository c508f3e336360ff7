// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Tracks a function on its way through an executor. The executor may destroy the function without a call: later or
// during the post, on any thread. Then nothing must wait for the function any more. But during a post, the executor
// must not destroy another function of Cogwheel: some posts hold a lock that the destruction needs.
#pragma once

#include <cogwheel/detail/platform.hpp>

#include <atomic>
#include <memory>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail {

/// Thread safety: begin(), succeed() and fail() need the guard of the post; clear() and lose() need none.
class post_flag {
public:
    /// Returns true while a function is on its way.
    bool is_set() const noexcept { return state_.load(std::memory_order_relaxed) != none; }

    // ---- for the poster ----

    /// Begins a post. Preconditions: !is_set().
    void begin() noexcept { state_.store(posting, std::memory_order_relaxed); }
    /// Ends a post. Returns false if the function is lost already: the poster handles the loss.
    bool succeed() noexcept {
        state before = posting;
        if (state_.compare_exchange_strong(before, posted) || before != lost) [[likely]]
            return true;
        clear();
        return false;
    }
    /// Ends a post that threw. Returns false if the function was called nevertheless.
    bool fail() noexcept {
        const state before = state_.load(std::memory_order_relaxed);
        if (before == none || before == posted) return false;
        clear();
        return true;
    }

    // ---- for the function ----

    /// Resets the flag: the function does so when it is called, and after lose().
    void clear() noexcept { state_.store(none, std::memory_order_relaxed); }
    /// Records a destruction without a call. Returns true if the post has ended: the function handles the loss.
    bool lose() noexcept {
        state before = posting;
        return !state_.compare_exchange_strong(before, lost);
    }

private:
    enum state : unsigned char { none, posting, lost, posted };
    std::atomic<state> state_ = none;
};

/// A function to be posted: calls Arrive of an object that it keeps. If it is destroyed without a call, calls Lost.
template <auto Arrive, auto Lost, class Object>
class posted_call {
public:
    explicit posted_call(std::shared_ptr<Object> object) noexcept : object_(std::move(object)) {}
    posted_call(posted_call&&) noexcept = default;
    posted_call& operator=(posted_call&&) = delete;
    ~posted_call() {
        if (object_ != nullptr) (*object_.*Lost)();
    }
    void operator()() {
        const auto object = std::move(object_);
        (*object.*Arrive)();
    }

private:
    std::shared_ptr<Object> object_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail
