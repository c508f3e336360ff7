// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#pragma once

#include <cogwheel/testing/manual_time.hpp>

#include <mutex>
#include <optional>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// An alarm of the manual clock: rings once, when the clock has reached a point. The clock's mutex guards it.
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
    /// Returns the time at which the alarm rings. Preconditions: as above.
    std::optional<time_point> planned() const noexcept { return armed_ ? std::optional(at_) : std::nullopt; }

protected:
    using lock_type = std::unique_lock<std::mutex>;

    manual_alarm() = default;
    ~manual_alarm() = default;

    // While it is attached, advance() may call ring().
    void attach();
    void detach() noexcept;

    /// Unsets the alarm. Returns the lock of the clock's mutex.
    [[nodiscard]] lock_type unset() noexcept;
    /// Sets the alarm, which rings at once if the clock has reached `at` already.
    void set(time_point at, const lock_type&) noexcept;

private:
    virtual void ring() noexcept = 0; // under the clock's mutex

    time_point at_{};
    bool armed_ = false;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
