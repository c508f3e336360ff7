// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a task scheduler wants of a wheel and of the clock on the wall, whatever their types: its own code is compiled once.
#pragma once

#include <cogwheel/asio/detail/clock_points.hpp>
#include <cogwheel/asio/detail/engine_user.hpp>
#include <cogwheel/asio/timeout_after.hpp>
#include <cogwheel/wheel/detail/exceptions.hpp>

#include <asio/any_io_executor.hpp>
#include <asio/execution/outstanding_work.hpp>
#include <asio/prefer.hpp>

#include <array>
#include <bit>
#include <memory>

namespace cogwheel::detail {

/// Is told how a timer has ended. `number` names that timer, so that one that was cancelled too late can be told from its successor.
class timer_target {
public:
    virtual void expired(std::uint64_t number) = 0;
    virtual void dropped(std::uint64_t number) = 0; ///< cancelled, by whomever, later

protected:
    ~timer_target() = default;
};

/// A token of any clock.
struct any_token {
    std::array<std::uint64_t, 2> words{};
};

class task_wheel {
public:
    using nanoseconds = std::chrono::nanoseconds;

    virtual ~task_wheel() = default;
    virtual nanoseconds now() const = 0;  ///< since the epoch of the wheel's clock
    virtual nanoseconds wall() const = 0; ///< since that of the clock on the wall
    /// What the wheel refuses. A full one takes a timer of somebody who is `admitted` all the same.
    virtual std::error_code arm(any_token&, nanoseconds due, const std::weak_ptr<timer_target>&, std::uint64_t number,
                                bool admitted) = 0;
    virtual void cancel(const any_token&) noexcept = 0;
    /// As long as there is one, run() does not return.
    virtual asio::any_io_executor work() const = 0;
};

/// Takes the place of a wheel when the scheduler has ended, for jobs that have not.
class no_wheel final : public task_wheel {
public:
    nanoseconds now() const override { return {}; }
    nanoseconds wall() const override { return {}; }
    std::error_code arm(any_token&, nanoseconds, const std::weak_ptr<timer_target>&, std::uint64_t, bool) override {
        return errc::stopped;
    }
    void cancel(const any_token&) noexcept override {}
    asio::any_io_executor work() const override { return {}; }
};

template <class Wheel, class WallClock>
class task_wheel_on final : public task_wheel {
    using clock = typename Wheel::clock_type;
    using time_point = typename Wheel::time_point;
    using token = typename Wheel::token_type;
    static_assert(sizeof(token) == sizeof(any_token) && std::is_trivially_copyable_v<token>);

public:
    explicit task_wheel_on(const Wheel& wheel) : wheel_(state_of::get(wheel)), executor_(wheel.get_executor()) {}

    nanoseconds now() const override { return present<clock>(); }
    nanoseconds wall() const override { return saturate_to_ns(WallClock::now().time_since_epoch()); }

    std::error_code arm(any_token& t, nanoseconds due, const std::weak_ptr<timer_target>& to, std::uint64_t number,
                        bool admitted) override {
        std::error_code refused;
        auto expired = [to, number] {
            if (const auto target = to.lock()) target->expired(number);
        };
        auto dropped = [to, number] {
            if (const auto target = to.lock()) target->dropped(number);
        };
        t = std::bit_cast<any_token>(
            wheel_->schedule(point_at<time_point>(due), std::move(expired), std::move(dropped), refused, admitted));
        return refused;
    }
    void cancel(const any_token& t) noexcept override {
        COGWHEEL_TRY { std::bit_cast<token>(t).cancel(); }
        COGWHEEL_CATCH {
            // No memory to post dropped(): it stays, and expires with a number that nobody waits for.
        }
    }

    asio::any_io_executor work() const override {
        return asio::prefer(executor_, asio::execution::outstanding_work.tracked);
    }

private:
    engine_user<state_type<Wheel>> wheel_;
    asio::any_io_executor executor_;
};

} // namespace cogwheel::detail
