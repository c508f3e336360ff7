// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The manual clock, and the alarms that it rings. Nothing here names a type of Asio, so the library contains the clock:
// a process has one, however many of its libraries use it.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <chrono>
#include <mutex>
#include <optional>

namespace cogwheel::inline v0::testing::inline COGWHEEL_ASIO {

/// A clock for tests; meets the standard's Clock requirements. Thread safety: any thread may call both functions.
class manual_clock {
public:
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<manual_clock>;
    static constexpr bool is_steady = false; // advance() can move it back

    static time_point now() noexcept;

    /// Moves the time by `by`; saturates. Each wheel whose planned wake-up has come posts one turn to its executor. A
    /// negative `by` moves the time back: wheels then do not advance until the clock has caught up.
    static void advance(duration by);

    /// Returns when the next wheel plans to wake up, of all wheels on this clock in the process. A wheel may wake up
    /// without firing a timer. Returns nothing if no wheel plans it: they have no timers, or have posted a turn.
    static std::optional<time_point> next_wake() noexcept;
};

} // namespace cogwheel::inline v0::testing::inline COGWHEEL_ASIO

namespace cogwheel::inline v0::detail::inline COGWHEEL_ASIO {

/// Rings once, when the clock has come to a point. The clock's mutex guards it.
class manual_alarm {
public:
    using time_point = testing::manual_clock::time_point;

    manual_alarm(const manual_alarm&) = delete;
    manual_alarm& operator=(const manual_alarm&) = delete;

    /// Rings if the alarm is set for `now` or earlier. Preconditions: the caller holds the clock's mutex.
    void notify(time_point now) noexcept {
        if (!armed_ || now < at_) return;
        armed_ = false;
        ring();
    }
    /// Returns when it rings. Preconditions: as above.
    std::optional<time_point> planned() const noexcept { return armed_ ? std::optional(at_) : std::nullopt; }

protected:
    using lock_type = std::unique_lock<std::mutex>;

    manual_alarm() = default;
    ~manual_alarm() = default;

    // While it is attached, advance() may call ring().
    void attach();
    void detach() noexcept;

    /// Takes the alarm back. Returns the lock of the clock's mutex.
    [[nodiscard]] lock_type unset() noexcept;
    /// Sets it, and rings at once if the clock is there already.
    void set(time_point at, const lock_type&) noexcept;

private:
    virtual void ring() noexcept = 0; // under the clock's mutex

    time_point at_{};
    bool armed_ = false;
};

} // namespace cogwheel::inline v0::detail::inline COGWHEEL_ASIO
