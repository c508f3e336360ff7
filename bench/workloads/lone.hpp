// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A synchronous client: one timer of 30 s is started, and cancelled long before; run() returns, and the next one
// begins. The timer stands alone, or limits an operation that completes at once.
#pragma once

#include "contenders/asio_loop.hpp"
#include "leg.hpp"
#include "system_calls.hpp"
#include "workloads/live_set.hpp"

#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/asio/wheel_timer.hpp>

#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/version.hpp>
#if ASIO_VERSION >= 103100
#include <asio/cancel_after.hpp>
#endif

namespace bench {

/// How: round(count) does one, and calls count() when its handler runs, if it has one.
template <class How>
class lone_leg final : public leg {
public:
    explicit lone_leg(std::size_t) {}

    sample repeat(std::uint64_t) override {
        constexpr std::uint64_t operations = 100'000, traced = 1'000;
        rounds(operations / 10);
        sample s;
        const stopwatch watch;
        rounds(operations);
        note_times(s, watch, operations);
        s.figures = {system_calls_of([this] { rounds(traced); }) / static_cast<double>(traced)};
        return s;
    }

private:
    void rounds(std::uint64_t n) {
        const std::uint64_t before = handled_;
        for (std::uint64_t i = 0; i < n; ++i) {
            how_.round([this] { ++handled_; });
            io_.restart();
            io_.run();
        }
        if (How::has_handler && handled_ != before + n)
            throw std::logic_error("a handler did not run before run() returned");
    }

    asio::io_context io_{1};
    How how_{io_};
    std::uint64_t handled_ = 0;
};

template <class Timer>
struct lone_timer {
    static constexpr bool has_handler = true;
    Timer timer;

    template <class Count>
    void round(Count count) {
        timer.expires_after(usual_delay);
        timer.async_wait([count](std::error_code) { count(); });
        timer.cancel();
    }
};

struct lone_steady_timer : lone_timer<asio::steady_timer> {
    static constexpr std::string_view name = "asio::steady_timer";
    explicit lone_steady_timer(asio::io_context& io) : lone_timer{asio::steady_timer(io)} {}
};

template <class Wheel>
struct lone_on_wheel {
    explicit lone_on_wheel(asio::io_context& io) : wheel(io) {}
    Wheel wheel;
};

template <class Wheel>
struct lone_wheel_timer : lone_on_wheel<Wheel>,
                          lone_timer<decltype(cogwheel::basic_wheel_timer(std::declval<Wheel&>()))> {
    using timer_type = decltype(cogwheel::basic_wheel_timer(std::declval<Wheel&>()));
    static constexpr std::string_view name =
        std::is_same_v<Wheel, cogwheel::timer_wheel> ? "wheel_timer" : "wheel_timer, local";
    explicit lone_wheel_timer(asio::io_context& io)
        : lone_on_wheel<Wheel>(io), lone_timer<timer_type>{timer_type(this->wheel)} {}
};

template <class Wheel>
struct lone_token : lone_on_wheel<Wheel> {
    static constexpr std::string_view name = std::is_same_v<Wheel, cogwheel::timer_wheel> ? "token" : "token, local";
    static constexpr bool has_handler = false;
    using lone_on_wheel<Wheel>::lone_on_wheel;

    template <class Count>
    void round(Count) {
        this->wheel.schedule(usual_delay, [] {}).cancel();
    }
};

// ---- around an operation ----

struct lone_bare {
    static constexpr std::string_view name = "bare operation";
    static constexpr bool has_handler = true;
    asio::io_context& io;

    explicit lone_bare(asio::io_context& context) : io(context) {}
    template <class Count>
    void round(Count count) {
        asio::post(io, count);
    }
};

/// As programs do it by hand.
struct lone_timer_beside {
    static constexpr std::string_view name = "operation, steady_timer beside it";
    static constexpr bool has_handler = true;
    asio::io_context& io;
    asio::steady_timer timer;

    explicit lone_timer_beside(asio::io_context& context) : io(context), timer(context) {}
    template <class Count>
    void round(Count count) {
        timer.expires_after(usual_delay);
        timer.async_wait([](std::error_code) {});
        asio::post(io, [this, count] {
            timer.cancel();
            count();
        });
    }
};

template <class Wheel>
struct lone_timeout_after : lone_on_wheel<Wheel> {
    static constexpr std::string_view name =
        std::is_same_v<Wheel, cogwheel::timer_wheel> ? "timeout_after" : "timeout_after, local";
    static constexpr bool has_handler = true;
    asio::io_context& io;

    explicit lone_timeout_after(asio::io_context& context) : lone_on_wheel<Wheel>(context), io(context) {}
    template <class Count>
    void round(Count count) {
        asio::post(io, cogwheel::timeout(this->wheel, usual_delay, count));
    }
};

#if ASIO_VERSION >= 103100
struct lone_cancel_after {
    static constexpr std::string_view name = "asio::cancel_after";
    static constexpr bool has_handler = true;
    asio::io_context& io;

    explicit lone_cancel_after(asio::io_context& context) : io(context) {}
    template <class Count>
    void round(Count count) {
        asio::post(io, asio::timeout(usual_delay, {.own_error = true}, count));
    }
};
#endif

} // namespace bench
