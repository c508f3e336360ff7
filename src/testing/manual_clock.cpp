// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The time of the manual clock, and the drivers that it wakes.
#include <cogwheel/testing/manual_clock.hpp>

#include <algorithm>

namespace cogwheel::inline v0::inline COGWHEEL_ASIO {

namespace {

struct dial {
    std::mutex mutex; // guards the members below, and those of the drivers
    std::chrono::nanoseconds now{};
    std::vector<detail::wheel_driver<testing::manual_clock>*> drivers;

    static dial& the() {
        static dial& d = *new dial; // never destroyed: a static context may be destroyed after all other objects
        return d;
    }
};

} // namespace

} // namespace cogwheel::inline v0::inline COGWHEEL_ASIO

namespace cogwheel::inline v0::testing::inline COGWHEEL_ASIO {

manual_clock::time_point manual_clock::now() noexcept {
    dial& d = dial::the();
    const std::lock_guard lock(d.mutex);
    return time_point(d.now);
}

void manual_clock::advance(duration by) {
    dial& d = dial::the();
    const std::lock_guard lock(d.mutex);
    d.now = saturating_add(d.now, by);
    for (auto* driver : d.drivers) driver->notify(time_point(d.now));
}

std::optional<manual_clock::time_point> manual_clock::next_wake() noexcept {
    dial& d = dial::the();
    const std::lock_guard lock(d.mutex);
    std::optional<time_point> next;
    for (const auto* driver : d.drivers)
        if (const auto at = driver->planned(); at && (!next || *at < *next)) next = at;
    return next;
}

} // namespace cogwheel::inline v0::testing::inline COGWHEEL_ASIO

namespace cogwheel::inline v0::detail::inline COGWHEEL_ASIO {

wheel_driver<testing::manual_clock>::wheel_driver(const asio::any_io_executor& executor, wake_target& target,
                                                  driver_memory& memory)
    : timer_(executor), target_(&target), memory_(&memory) {
    dial& d = dial::the();
    const std::lock_guard lock(d.mutex);
    d.drivers.push_back(this);
}

wheel_driver<testing::manual_clock>::~wheel_driver() {
    dial& d = dial::the();
    const std::lock_guard lock(d.mutex);
    std::erase(d.drivers, this);
}

void wheel_driver<testing::manual_clock>::arm(testing::manual_clock::time_point at, std::uint64_t serial) {
    dial& d = dial::the();
    const std::lock_guard lock(d.mutex);
    armed_ = false;
    timer_.expires_at(std::chrono::steady_clock::time_point::max());
    timer_.async_wait(driver_wait(*target_, serial, *memory_));
    armed_ = true;
    at_ = at;
    notify(testing::manual_clock::time_point(d.now));
}

void wheel_driver<testing::manual_clock>::cancel_wait() noexcept {
    dial& d = dial::the();
    const std::lock_guard lock(d.mutex);
    armed_ = false;
    timer_.cancel();
}

void wheel_driver<testing::manual_clock>::notify(testing::manual_clock::time_point now) noexcept {
    if (!armed_ || now < at_) return;
    armed_ = false;
    timer_.cancel();
}

} // namespace cogwheel::inline v0::detail::inline COGWHEEL_ASIO

namespace cogwheel::inline v0::testing::inline COGWHEEL_ASIO {
} // namespace cogwheel::inline v0::testing::inline COGWHEEL_ASIO
