// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The parts from which other rooms build their timers. Of asio/detail/, they include this header only.
//
// - impl_of(wheel): the impl of a timer_wheel, with lock(), admit(), arm(), rearm(), disarm() and request_turn().
// - wheel_hold: keeps the impl in use, so that the timer_wheel may be destroyed first.
// - operation, payload: a node with the handler or callable that its completion calls.
// - wheel_timer_impl: a timer that several waits share.
// - unchecked_lock: the type that the engine's lock() returns, for a mutex of their own.
// - back_link: finds the operation of a cancellation slot, if the operation still exists.
#pragma once

#include <cogwheel/asio/detail/engine/pin_bits.hpp>
#include <cogwheel/asio/detail/engine/unchecked_lock.hpp>
#include <cogwheel/asio/detail/engine/wheel_timer_impl.hpp>
#include <cogwheel/asio/detail/executor/cancellation.hpp>
#include <cogwheel/asio/detail/executor/executors.hpp>
#include <cogwheel/asio/detail/timed/timed_results.hpp>
#include <cogwheel/asio/timer_wheel.hpp>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// Keeps an impl in use: the service does not hand it out to another wheel meanwhile.
/// Complexity: takes the engine's lock twice. Lifetime: the execution context must outlive it.
template <class Engine>
class wheel_hold {
public:
    explicit wheel_hold(Engine& engine) noexcept : engine_(&engine) {
        const auto lock = engine.lock();
        engine.join();
    }
    ~wheel_hold() {
        auto lock = engine_->lock();
        engine_->leave(lock);
    }
    wheel_hold(const wheel_hold&) = delete;
    wheel_hold& operator=(const wheel_hold&) = delete;
    Engine& operator*() const noexcept { return *engine_; }
    Engine* operator->() const noexcept { return engine_; }

private:
    Engine* engine_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
