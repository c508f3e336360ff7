// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The driver: the one Asio timer that wakes the engine. testing/manual_clock.hpp specialises it for the manual clock.
//
// Each wait wakes the target exactly once: when its time has come, or soon after it was replaced or cancelled. Turns
// come even without memory: cancel_wait() needs none, and arm() none if no earlier wait is still to arrive.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include COGWHEEL_ASIO_HEADER(any_io_executor.hpp)
#include COGWHEEL_ASIO_HEADER(basic_waitable_timer.hpp)

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// The object that the driver wakes. `serial` is the number that arm() was given. The functions are not virtual,
/// because each type of wheel would need a table and type information.
class wake_target {
public:
    void wake(std::uint64_t serial) { wake_(*this, serial); }
    /// Reports that the wait was destroyed without a call: its executor could not take it, or its context is gone.
    void wake_lost(std::uint64_t serial) noexcept { lost_(*this, serial); }

protected:
    wake_target(void (*wake_up)(wake_target&, std::uint64_t),
                void (*lost)(wake_target&, std::uint64_t) noexcept) noexcept
        : wake_(wake_up), lost_(lost) {}
    ~wake_target() = default;

private:
    void (*wake_)(wake_target&, std::uint64_t);
    void (*lost_)(wake_target&, std::uint64_t) noexcept;
};

/// Memory for two waits of the driver: the present one, and a replaced one that has not arrived yet. Further waits take
/// memory from the heap. Lifetime: must outlive the driver, because a cancelled wait may still be in it.
class driver_memory {
public:
    void* take(std::size_t bytes) {
        if (bytes <= sizeof(place::space))
            for (place& p : places_)
                if (!p.taken.exchange(true, std::memory_order_acquire)) return p.space;
        return std::allocator<std::byte>().allocate(bytes);
    }
    void give(void* memory, std::size_t bytes) noexcept {
        for (place& p : places_)
            if (memory == p.space) return p.taken.store(false, std::memory_order_release);
        std::allocator<std::byte>().deallocate(static_cast<std::byte*>(memory), bytes);
    }

private:
    struct place {
        alignas(std::max_align_t) std::byte space[240];
        std::atomic<bool> taken{false};
    };
    place places_[2];
};

template <class T>
struct driver_allocator {
    using value_type = T;
    driver_memory* memory;

    explicit driver_allocator(driver_memory& m) noexcept : memory(&m) {}
    template <class U>
    driver_allocator(const driver_allocator<U>& other) noexcept : memory(other.memory) {}

    T* allocate(std::size_t n) { return static_cast<T*>(memory->take(n * sizeof(T))); }
    void deallocate(T* p, std::size_t n) noexcept { memory->give(p, n * sizeof(T)); }

    template <class U>
    bool operator==(const driver_allocator<U>& other) const noexcept {
        return memory == other.memory;
    }
};

/// The handler of a driver's wait. Wakes its target, with success and with an error.
class driver_wait {
public:
    using allocator_type = driver_allocator<void>;

    driver_wait(wake_target& target, std::uint64_t serial, driver_memory& memory) noexcept
        : target_(&target), serial_(serial), memory_(&memory) {}
    driver_wait(driver_wait&& other) noexcept
        : target_(std::exchange(other.target_, nullptr)), serial_(other.serial_), memory_(other.memory_) {}
    driver_wait& operator=(driver_wait&&) = delete;
    ~driver_wait() {
        if (target_ != nullptr) target_->wake_lost(serial_);
    }

    allocator_type get_allocator() const noexcept { return allocator_type(*memory_); }

    template <class Error>
    void operator()(const Error&) {
        std::exchange(target_, nullptr)->wake(serial_);
    }

private:
    wake_target* target_;
    std::uint64_t serial_;
    driver_memory* memory_;
};

/// The driver of a wheel on a clock that Asio can wait for.
template <class Clock>
class wheel_driver {
public:
    wheel_driver(const asio::any_io_executor& executor, wake_target& target, driver_memory& memory)
        : timer_(executor), target_(&target), memory_(&memory) {}

    /// Wakes the target at `at`, and replaces the previous wait. run() does not return before that.
    /// Errors: std::bad_alloc; the previous wait is replaced nevertheless.
    void arm(typename Clock::time_point at, std::uint64_t serial) {
        timer_.expires_at(at);
        timer_.async_wait(driver_wait(*target_, serial, *memory_));
    }

    /// Wakes the target soon. Preconditions: a wait is armed.
    void cancel_wait() noexcept { timer_.cancel(); }

private:
    asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, asio::any_io_executor> timer_;
    wake_target* target_;
    driver_memory* memory_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
