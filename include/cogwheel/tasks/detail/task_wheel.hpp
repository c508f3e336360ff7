// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The interface between a task scheduler and a wheel and wall clock of any type. So the scheduler's code is compiled
// once.
#pragma once

#include <cogwheel/asio/clock_watch.hpp>
#include <cogwheel/asio/detail/on_wheel.hpp>
#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/detail/exceptions.hpp>

#include COGWHEEL_ASIO_HEADER(any_io_executor.hpp)
#include COGWHEEL_ASIO_HEADER(execution/outstanding_work.hpp)
#include COGWHEEL_ASIO_HEADER(prefer.hpp)

#include <array>
#include <bit>
#include <memory>
#include <optional>
#include <type_traits>
#include <variant>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// Receives the end of a timer. `number` names the timer, so the target can distinguish a timer that was cancelled too
/// late from the next one.
class timer_target {
public:
    virtual void expired(std::uint64_t number) = 0;
    virtual void
    dropped(std::uint64_t number) = 0; ///< cancelled, or the wheel was stopped; never called inside cancel()

protected:
    ~timer_target() = default;
};

/// Hears that the wall clock was set. `number` names the watch, as with timers.
class clock_target {
public:
    virtual void clock_set(std::uint64_t number) noexcept = 0;

protected:
    ~clock_target() = default;
};

/// A timer token of a wheel with any clock: a pointer and a timer_id.
struct alignas(void*) any_token {
    std::array<std::uint32_t, sizeof(void*) / 4 + 2> words{};
};

/// The timers and the two clocks of a task scheduler.
class task_wheel {
public:
    using nanoseconds = std::chrono::nanoseconds;

    virtual ~task_wheel() = default;
    virtual nanoseconds now() const = 0;  ///< since the epoch of the wheel's clock
    virtual nanoseconds wall() const = 0; ///< since the epoch of the wall clock
    /// Arms a timer. Returns why the wheel refuses it, or success. A full wheel takes the timer if `admitted` is true.
    virtual error_code arm(any_token&, nanoseconds due, const std::weak_ptr<timer_target>&, std::uint64_t number,
                           bool admitted) = 0;
    virtual void cancel(const any_token&) noexcept = 0;
    /// Lets a timer expire in the wheel's next turn, if there is memory for that.
    virtual void expire(const any_token&) noexcept = 0;
    /// Calls clock_set() when the wall clock is set, once, and never inside this function. Keeps run() of the wheel's
    /// context from returning until then, or until unwatch(). Returns false if it cannot.
    virtual bool watch(const std::weak_ptr<clock_target>&, std::uint64_t /*number*/) noexcept { return false; }
    virtual void unwatch() noexcept {}
    /// Returns an executor. While it exists, run() of the wheel's context does not return.
    virtual asio::any_io_executor work() const = 0;
    /// Returns how far ahead each level of the wheel reaches, the finest one first. Complexity: O(levels). Errors:
    /// std::bad_alloc.
    virtual std::vector<nanoseconds> reaches() const { return {}; }
};

/// Replaces the wheel when the scheduler has ended but jobs still run.
class no_wheel final : public task_wheel {
public:
    nanoseconds now() const override { return {}; }
    nanoseconds wall() const override { return {}; }
    error_code arm(any_token&, nanoseconds, const std::weak_ptr<timer_target>&, std::uint64_t, bool) override {
        return errc::stopped;
    }
    void cancel(const any_token&) noexcept override {}
    void expire(const any_token&) noexcept override {}
    asio::any_io_executor work() const override { return {}; }
};

/// A task_wheel on a wheel and a wall clock of these types.
template <class Wheel, class WallClock>
class task_wheel_on final : public task_wheel {
    using clock = typename Wheel::clock_type;
    using time_point = typename Wheel::time_point;
    using token = typename Wheel::token_type;
    static_assert(sizeof(token) == sizeof(any_token) && std::is_trivially_copyable_v<token>);

public:
    explicit task_wheel_on(const Wheel& wheel) : wheel_(impl_of(wheel)), executor_(wheel.get_executor()) {}

    nanoseconds now() const override { return present<clock>(); }
    nanoseconds wall() const override { return saturate_to_ns(WallClock::now().time_since_epoch()); }

    error_code arm(any_token& t, nanoseconds due, const std::weak_ptr<timer_target>& to, std::uint64_t number,
                   bool admitted) override {
        error_code refused;
        auto expired = [to, number] {
            if (const auto target = to.lock()) target->expired(number);
        };
        auto dropped = [to, number] {
            if (const auto target = to.lock()) target->dropped(number);
        };
        t = std::bit_cast<any_token>(
            wheel_->schedule(point_at<time_point>(due), std::move(expired), std::move(dropped), &refused, admitted));
        return refused;
    }
    void cancel(const any_token& t) noexcept override {
        COGWHEEL_TRY { std::bit_cast<token>(t).cancel(); }
        COGWHEEL_CATCH {
            // There is no memory to post dropped(). The timer stays, and expires with a number that its target ignores.
        }
    }

    void expire(const any_token& t) noexcept override {
        COGWHEEL_TRY { std::bit_cast<token>(t).reschedule(nanoseconds::zero()); }
        COGWHEEL_CATCH {
            // No memory: the timer keeps its time.
        }
    }

    bool watch(const std::weak_ptr<clock_target>& to, std::uint64_t number) noexcept override {
        if constexpr (watched) {
            COGWHEEL_TRY {
                if (!ensure_open(watch_, executor_)) return false;
                watch_->async_wait([to, number](error_code ec) {
                    if (ec) return;
                    if (const auto target = to.lock()) target->clock_set(number);
                });
                return true;
            }
            COGWHEEL_CATCH {
                // No memory: the tasks notice a set clock within the recheck time.
            }
        }
        return false;
    }
    void unwatch() noexcept override {
        if constexpr (watched)
            if (watch_) watch_->cancel();
    }

    asio::any_io_executor work() const override {
        return asio::prefer(executor_, asio::execution::outstanding_work.tracked);
    }

    std::vector<nanoseconds> reaches() const override { return wheel_->reaches(); }

private:
    using watch_type = typename watch_of<WallClock>::type;
    static constexpr bool watched = !std::is_void_v<watch_type>;

    wheel_hold<impl_type<Wheel>> wheel_;
    asio::any_io_executor executor_;
    std::conditional_t<watched, std::optional<watch_type>, std::monostate> watch_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
