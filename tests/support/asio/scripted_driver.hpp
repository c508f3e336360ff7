// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A clock whose driver is the test itself: it sees every arming, may refuse one, and decides when to wake.
// For one wheel at a time.
#pragma once

#include <cogwheel/asio/timer_wheel.hpp>

#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>

#include <new>
#include <optional>
#include <utility>

namespace cogwheel_tests {

struct scripted_clock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<scripted_clock>;
    static constexpr bool is_steady = true;

    static inline time_point current{};
    static time_point now() noexcept { return current; }
};

struct script {
    int arms = 0;
    int calls_off = 0;
    bool fail = false;
    bool lose = false; // the next wait: its executor drops it at once
    std::optional<scripted_clock::time_point> armed_for;

    static script& the() {
        static script s;
        return s;
    }
};

using scripted_wheel = cogwheel::basic_timer_wheel<scripted_clock, cogwheel::single_threaded>;

} // namespace cogwheel_tests

template <>
class cogwheel::detail::wheel_driver<cogwheel_tests::scripted_clock> {
public:
    wheel_driver(const asio::any_io_executor& executor, wake_target& target, driver_memory&)
        : executor_(executor), target_(&target) {
        script() = {};
        current() = this;
    }
    ~wheel_driver() { current() = nullptr; }
    wheel_driver(const wheel_driver&) = delete;
    wheel_driver& operator=(const wheel_driver&) = delete;

    void arm(cogwheel_tests::scripted_clock::time_point at, std::uint64_t serial) {
        ++script().arms;
        if (script().armed_for) wake(); // as an asio timer: the wait before is on its way, whatever comes
        if (script().fail) throw std::bad_alloc();
        if (std::exchange(script().lose, false)) return target_->wake_lost(serial);
        script().armed_for = at;
        serial_ = serial;
    }
    void cancel_wait() noexcept {
        ++script().calls_off;
        wake();
    }

    static wheel_driver*& current() {
        static wheel_driver* driver = nullptr;
        return driver;
    }
    void wake() {
        script().armed_for.reset();
        asio::post(executor_, [target = target_, serial = serial_] { target->wake(serial); });
    }

private:
    static cogwheel_tests::script& script() { return cogwheel_tests::script::the(); }

    asio::any_io_executor executor_;
    wake_target* target_;
    std::uint64_t serial_ = 0;
};

namespace cogwheel_tests {

/// Time passes; an armed driver whose time has come wakes its wheel.
inline void pass_scripted(asio::io_context& io, std::chrono::nanoseconds by) {
    scripted_clock::current += by;
    for (;;) {
        const auto due = script::the().armed_for;
        if (due && *due <= scripted_clock::current) cogwheel::detail::wheel_driver<scripted_clock>::current()->wake();
        io.restart();
        if (io.poll() == 0) return;
    }
}

} // namespace cogwheel_tests
