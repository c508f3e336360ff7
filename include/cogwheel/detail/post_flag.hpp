// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Whether a function is on its way through an executor. An executor may destroy uncalled what it has taken: later, or
// while it takes it, also on another thread. Then nothing must wait for the function any more. What it must not do is
// to destroy another function of ours while it takes one: some are posted under a lock, and the other one needs that.
#pragma once

#include <cogwheel/detail/platform.hpp>

#include <atomic>
#include <memory>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail {

/// Thread safety: begin(), succeed() and fail() need what guards the post; the function's own calls need nothing.
class post_flag {
public:
    /// Returns whether a function is on its way.
    bool is_set() const noexcept { return state_.load(std::memory_order_relaxed) != none; }

    // ---- for the poster ----

    /// To be called before the post. Preconditions: !is_set().
    void begin() noexcept { state_.store(posting, std::memory_order_relaxed); }
    /// After the post. Returns false if the function is lost already: the poster deals with that.
    bool succeed() noexcept {
        state before = posting;
        if (state_.compare_exchange_strong(before, posted) || before != lost) [[likely]]
            return true;
        clear();
        return false;
    }
    /// After a post that threw. Returns false if the function was called nevertheless.
    bool fail() noexcept {
        const state before = state_.load(std::memory_order_relaxed);
        if (before == none || before == posted) return false;
        clear();
        return true;
    }

    // ---- for the function ----

    /// When it is called, and after lose().
    void clear() noexcept { state_.store(none, std::memory_order_relaxed); }
    /// When it is destroyed without a call. Returns true if the post has ended: the function deals with its loss.
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
