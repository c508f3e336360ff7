// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include <cogwheel/testing/detail/manual_alarm.hpp>
#include <cogwheel/wheel/tick.hpp>

#include <vector>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

namespace {

struct dial {
    std::mutex mutex; // guards the members below, and those of the alarms
    std::chrono::nanoseconds now{};
    std::vector<detail::manual_alarm*> alarms;

    static dial& the() {
        static dial& d = *new dial; // never destroyed: a static context may be destroyed after all other objects
        return d;
    }
};

} // namespace

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::testing::COGWHEEL_ASIO {

manual_clock::time_point manual_clock::now() noexcept {
    dial& d = dial::the();
    const std::lock_guard lock(d.mutex);
    return time_point(d.now);
}

void manual_clock::advance(duration by) {
    dial& d = dial::the();
    const std::lock_guard lock(d.mutex);
    d.now = detail::saturating_add(d.now, by);
    for (auto* alarm : d.alarms) alarm->notify(time_point(d.now));
}

std::optional<manual_clock::time_point> manual_clock::next_wake() noexcept {
    dial& d = dial::the();
    const std::lock_guard lock(d.mutex);
    std::optional<time_point> next;
    for (const auto* alarm : d.alarms)
        if (const auto at = alarm->planned(); at && (!next || *at < *next)) next = at;
    return next;
}

} // namespace cogwheel::COGWHEEL_ABI::testing::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

void manual_alarm::attach() {
    dial& d = dial::the();
    const std::lock_guard lock(d.mutex);
    d.alarms.push_back(this);
}

void manual_alarm::detach() noexcept {
    dial& d = dial::the();
    const std::lock_guard lock(d.mutex);
    std::erase(d.alarms, this);
}

manual_alarm::lock_type manual_alarm::unset() noexcept {
    lock_type lock(dial::the().mutex);
    armed_ = false;
    return lock;
}

void manual_alarm::set(time_point at, const lock_type&) noexcept {
    armed_ = true;
    at_ = at;
    notify(time_point(dial::the().now));
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
