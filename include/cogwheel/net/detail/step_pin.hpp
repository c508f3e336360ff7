// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// One step of a composed operation: something is started with a handler that owns the operation, and it may be over, or dropped,
// before the call that starts it returns, on this thread or another. The pin settles who goes on: the handler, as a rule; the
// one who starts, if the handler came first. So nothing touches an operation that is gone, nothing completes inside its
// initiating function, and what throws while it is started leaves its owner in place.
#pragma once

#include <cogwheel/asio/detail/pin_bits.hpp>

#include <cassert>

namespace cogwheel::detail {

enum class step_state {
    pending,   ///< its handler goes on, perhaps it has: the operation is not ours any more
    completed, ///< the handler was called meanwhile: the operation is ours
    dropped,   ///< the handler was destroyed meanwhile, or never made: the operation is ours
};

template <bool Concurrent>
class step_pin {
public:
    // ---- for the one who starts ----

    void begin() noexcept {
        made_ = false;
        bits_.clear(completed | dropped);
        bits_.set(starting);
    }
    /// For the emission of a cancellation: what is under way may end by it.
    void hold() noexcept { bits_.set(starting); }
    step_state let_go() noexcept { return let_go_of(starting); }

    bool is_over() const noexcept { return (bits_.get() & (completed | dropped)) != 0; }

    // ---- for a function that is posted, and goes on if the step has ended by then ----

    /// False: there is one already.
    bool park() noexcept { return (bits_.set(parked) & parked) == 0; }
    step_state leave() noexcept { return let_go_of(parked); }

    // ---- for the handler ----

    /// Once for each begin().
    void make() noexcept {
        assert(!made_ && "an operation may use its token once");
        made_ = true;
    }
    bool is_held() const noexcept { return (bits_.get() & starting) != 0; }
    /// True: the handler's caller goes on. False: somebody else does, and the operation is not ours any more.
    bool complete() noexcept { return (bits_.set(completed) & (starting | parked)) == 0; }
    bool drop() noexcept { return (bits_.set(dropped) & (starting | parked)) == 0; }

private:
    static constexpr unsigned starting = 1;
    static constexpr unsigned completed = 2;
    static constexpr unsigned dropped = 4;
    static constexpr unsigned parked = 8;

    step_state let_go_of(unsigned pin) noexcept {
        const bool made = made_; // before the handler may run
        const unsigned bits = bits_.clear(pin) & ~pin;
        if ((bits & (starting | parked)) != 0) return step_state::pending;
        if ((bits & completed) != 0) return step_state::completed;
        return (bits & dropped) != 0 || !made ? step_state::dropped : step_state::pending;
    }

    pin_bits<Concurrent> bits_;
    bool made_ = false;
};

/// The right to go on with an operation; who gives it up without doing so drops the operation.
template <class Operation>
class step_owner {
public:
    explicit step_owner(Operation& o) noexcept : operation_(&o) {}
    step_owner(step_owner&& other) noexcept : operation_(std::exchange(other.operation_, nullptr)) {}
    step_owner& operator=(step_owner&&) = delete;
    ~step_owner() {
        if (operation_ != nullptr) operation_->drop();
    }
    explicit operator bool() const noexcept { return operation_ != nullptr; }
    Operation& operator*() const noexcept { return *operation_; }
    Operation* operator->() const noexcept { return operation_; }
    Operation& release() noexcept { return *std::exchange(operation_, nullptr); }

private:
    Operation* operation_;
};

} // namespace cogwheel::detail
