// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The clock of one wheel. exact() reads the system's clock, for turns. not_before() is for deadlines: it returns a time
// that is not before the present, and at most 0.1 ms after it. A reading of the system's clock has a fence, so the
// cache misses of two timers would not overlap. not_before() reads the processor's counter without a fence, and adds
// the time since the last reading of the system's clock, the anchor (docs/adr/0014).
//
// - Never before the present: the kernel slews its clock by at most 22.6 % (adjtimex(2)), so not_before() takes the
//   time since the anchor as 23 % longer, and adds 2 us.
// - At most 0.1 ms after the present: after 0.2 ms, not_before() reads the system's clock again.
// - The counter is used only if the kernel uses it for this clock. If the counter steps back or far ahead, its anchor
//   is no longer used. If the system's clock gets ahead of not_before(), the counter is wrong, and never used again.
// Elsewhere, and for other clocks, both functions read the clock.
//
// For the activity of a connection, the anchor can also be read without the lock. Its version is a sequence lock, as in
// H.-J. Boehm, "Can seqlocks get along with programming language memory models?" (2012).
#pragma once

#include <cogwheel/asio/detail/clock/counter_rate.hpp>
#include <cogwheel/detail/platform.hpp>
#include <cogwheel/wheel/tick.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// The counter with which a clock advances. Specialised for std::chrono::steady_clock below, and by tests.
template <class Clock>
struct tick_counter {
    static constexpr bool exists = false;
};

#if COGWHEEL_TICK_COUNTER
template <>
struct tick_counter<std::chrono::steady_clock> {
    static constexpr bool exists = true;

    /// Reads the counter, not fenced.
    static std::uint64_t read() noexcept {
#if COGWHEEL_X86_64
        return __builtin_ia32_rdtsc();
#else
        std::uint64_t count;
        asm volatile("mrs %0, cntvct_el0" : "=r"(count));
        return count;
#endif
    }
    /// Reads the clock that the kernel does not slew.
    static std::chrono::nanoseconds unslewed() noexcept;
    /// Returns true if the counter is wanted, and the kernel uses it as the source of its clocks.
    /// Errors: std::invalid_argument if a reading would end this thread. Short paths read an unused counter, too: a
    ///   check would cost each timer 3 instructions.
    static bool is_usable(bool wanted);
};
#endif

/// A value that one thread at a time changes, and that other threads read without its lock.
template <class T>
class shared_value {
public:
    constexpr shared_value(T value = {}) noexcept : value_(value) {} // NOLINT(google-explicit-constructor)

    /// For the thread that has the lock. A plain read: an atomic one would cost three instructions a timer.
    operator T() const noexcept { return value_; } // NOLINT(google-explicit-constructor)
#ifdef __cpp_lib_atomic_ref
    shared_value& operator=(T value) noexcept {
        std::atomic_ref<T>(value_).store(value, std::memory_order_release);
        return *this;
    }
    /// For the others.
    T load() const noexcept { return std::atomic_ref<T>(value_).load(std::memory_order_acquire); }
#else // libc++ before 19
    shared_value& operator=(T value) noexcept {
        __atomic_store(&value_, &value, __ATOMIC_RELEASE);
        return *this;
    }
    T load() const noexcept {
        T value;
        __atomic_load(&value_, &value, __ATOMIC_ACQUIRE);
        return value;
    }
#endif

private:
    alignas(sizeof(T)) mutable T value_; // i386 aligns 64 bits to 32, which is not enough for an atomic access
};

/// Thread safety: the wheel's lock guards all functions but try_not_before_unlocked() and uses_counter().
template <class Clock>
class tick_clock {
    using counter = tick_counter<Clock>;
    using nanoseconds = std::chrono::nanoseconds;

public:
    static constexpr nanoseconds most_ahead = std::chrono::microseconds(100);

    tick_clock() noexcept = default;
    /// Starts at `origin`. `with_counter`: not_before() may use the counter, which is_usable().
    tick_clock(typename Clock::time_point origin, bool with_counter) noexcept
        : origin_(ns_of(origin)), use_(with_counter) {}

    /// Returns the time since the origin.
    [[gnu::noinline]] nanoseconds read() const noexcept { return saturating_add(ns_of(Clock::now()), -origin_); }
    /// Does the same, and sets the anchor of not_before().
    nanoseconds exact() noexcept {
        if constexpr (counter::exists)
            if (use_) return anchored();
        return read();
    }

    /// Returns a time since the origin: from the present to `most_ahead` after it. Goes back only if the clock does.
    nanoseconds not_before() noexcept {
        nanoseconds now{};
        return try_not_before(now) ? now : not_before_by_system();
    }
    /// Sets `now` to the result of not_before(), or returns false if that needs a new anchor. The caller's path then
    /// contains no function call, and saves no registers.
    COGWHEEL_ALWAYS_INLINE bool try_not_before(nanoseconds& now) const noexcept {
        if constexpr (counter::exists) {
            const std::uint64_t age = counter::read() - anchor_count_;
            const nanoseconds by_anchor = by_count(age), floor = floor_;
            now = by_anchor > floor ? by_anchor : floor;
            return age < usable_;
        } else {
            now = read();
            return true;
        }
    }
    /// Does the same on any thread, without the lock. Also returns false while another thread sets the anchor. `now`
    /// may go back by less than `most_ahead` when the anchor changes.
    COGWHEEL_ALWAYS_INLINE bool try_not_before_unlocked([[maybe_unused]] nanoseconds& now) const noexcept {
        if constexpr (counter::exists) {
            const std::uint64_t version = version_.load();
            const std::uint64_t anchor_count = anchor_count_.load();
            const std::uint64_t age = counter::read() - anchor_count;
            const std::uint64_t usable = usable_.load(), per_count = per_count_.load();
            const nanoseconds anchor = anchor_.load(), floor = floor_.load();
            const nanoseconds by_anchor = anchor + nanoseconds((age * per_count) >> counter_rate::shift);
            now = by_anchor > floor ? by_anchor : floor;
            return age < usable && version % 2 == 0 && version_.load() == version;
        } else {
            return false;
        }
    }
    /// Returns false if not_before() always reads the clock. Any thread may call it.
    bool uses_counter() const noexcept {
        if constexpr (counter::exists) return use_.load();
        return false;
    }

private:
    static constexpr nanoseconds longest_use = std::chrono::microseconds(200);
    static constexpr nanoseconds slack = std::chrono::microseconds(2); // the counter is read a little early
    static constexpr nanoseconds longest_reading = std::chrono::microseconds(3);
    static constexpr std::uint64_t slew_percent = 23;

    static nanoseconds ns_of(typename Clock::time_point t) noexcept { return saturate_to_ns(t.time_since_epoch()); }

    [[gnu::noinline]] nanoseconds not_before_by_system() noexcept {
        const nanoseconds now = exact();
        const change under_way(*this);
        const nanoseconds floor = floor_;
        return floor_ = now > floor ? now : floor;
    }
    /// While it lives, try_not_before_unlocked() returns false.
    class change {
    public:
        explicit change(tick_clock& of) noexcept : of_(of) { of_.version_ = of_.version_ + 1; }
        change(const change&) = delete;
        change& operator=(const change&) = delete;
        ~change() { of_.version_ = of_.version_ + 1; }

    private:
        tick_clock& of_;
    };
    nanoseconds by_count(std::uint64_t age) const noexcept {
        return nanoseconds(anchor_) + nanoseconds((age * per_count_) >> counter_rate::shift);
    }

    // Reads the clock and sets the anchor. Without a counter it would be called for nothing, so it is a template.
    template <class Counter = counter>
    [[gnu::noinline]] nanoseconds anchored() noexcept {
        const std::uint64_t before = Counter::read();
        const nanoseconds now = read();
        const std::uint64_t after = Counter::read();
        const change under_way(*this);
        if (usable_ != 0) {
            const std::uint64_t age = after - anchor_count_;
            // The latest time that not_before() may have returned. Beyond `most_ahead`, the counter has stepped.
            nanoseconds latest = by_count(age < usable_ ? age : std::uint64_t(usable_));
            if (latest > now + most_ahead) latest = now + most_ahead;
            if (latest > nanoseconds(floor_)) floor_ = latest;
            if (has_outrun(age, now)) {
                use_ = false;
                usable_ = 0;
                return now;
            }
        }
        if (now >= next_sample_) {
            const std::uint64_t first = Counter::read();
            const nanoseconds unslewed = Counter::unslewed();
            rate_.observe({first, Counter::read(), unslewed});
            next_sample_ = now + std::chrono::milliseconds(1);
            usable_ = 0;
            if (rate_.known()) {
                per_count_ = rate_.per_count() + rate_.per_count() / 100 * slew_percent;
                usable_now_ =
                    (static_cast<std::uint64_t>(longest_use.count()) << counter_rate::shift) / rate_.per_count();
            }
        }
        // If the thread was suspended between the readings, the anchor would be too far ahead.
        const bool at_once = after - before < usable_now_ / static_cast<std::uint64_t>(longest_use / longest_reading);
        usable_ = rate_.known() && at_once ? usable_now_ : 0;
        anchor_count_ = before;
        anchor_ = now + slack;
        return now;
    }

    // Returns true if the clock has advanced more than the counts since the anchor explain.
    bool has_outrun(std::uint64_t age, nanoseconds now) const noexcept {
        constexpr std::uint64_t largest = std::uint64_t{1} << 63;
        return age < largest / per_count_ && now > by_count(age);
    }

    // The members that not_before() needs come first.
    shared_value<std::uint64_t> version_ = 0; // odd while the others change
    shared_value<std::uint64_t> anchor_count_ = 0;
    shared_value<std::uint64_t> usable_ = 0; // counts after the anchor; zero: no anchor
    shared_value<std::uint64_t> per_count_ = 0;
    shared_value<nanoseconds> anchor_; // since the origin
    shared_value<nanoseconds> floor_;  // not_before() does not go back behind this

    nanoseconds origin_{};
    shared_value<bool> use_ = false;
    std::uint64_t usable_now_ = 0;
    nanoseconds next_sample_{};
    counter_rate rate_{};
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
