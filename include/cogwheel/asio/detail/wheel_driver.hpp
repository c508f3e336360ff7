// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What wakes a wheel: one asio timer. Specialised for clocks that are turned by hand (testing/manual_clock.hpp).
#pragma once

#include <cogwheel/asio/detail/before_asio.hpp>

#include <asio/any_io_executor.hpp>
#include <asio/basic_waitable_timer.hpp>

#include <cstdint>

namespace cogwheel::detail {

/// Whoever is woken. `serial` is what arm() was given: a wait that was replaced may still arrive, and is ignored by it.
class wake_target {
public:
    virtual void wake(std::uint64_t serial) = 0;

protected:
    ~wake_target() = default;
};

template <class Clock>
class wheel_driver {
public:
    wheel_driver(const asio::any_io_executor& executor, wake_target& target) : timer_(executor), target_(&target) {}

    /// Wakes the target at `at`, once, instead of whenever it was armed for. Keeps the context's run() alive until then.
    void arm(typename Clock::time_point at, std::uint64_t serial) {
        timer_.expires_at(at);
        timer_.async_wait([target = target_, serial](const std::error_code& ec) {
            if (!ec) target->wake(serial);
        });
    }

private:
    asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, asio::any_io_executor> timer_;
    wake_target* target_;
};

} // namespace cogwheel::detail
