// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A monitor that is destroyed or moved, wherever its timer is: waiting, fired, or on its way to the monitor's executor.
#include "support/net/idle_rig.hpp"

#include <cogwheel/net/overload_factor.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

// The monitor's executor is another context's than the wheel's, so that a test can stop in between.
template <class Wheel>
struct far_rig {
    using monitor = idle_monitor<Wheel>;

    asio::io_context io, home;
    Wheel wheel{io, {.tick = 1ms}};
    std::optional<monitor> idle;
    idle_log log;

    explicit far_rig(const idle_timeouts& limits = {.reader = 10s}) {
        idle.emplace(wheel, home.get_executor(), limits);
    }

    void wait() { idle->async_idle(log.handler()); }
    void expire() { // the wheel is done with it, the executor has not run it
        pass(io, 10s);
        CHECK(wheel.pending() == 0);
        CHECK(log.size() == 0);
    }
    void run() {
        run_ready(io);
        run_ready(home);
    }
};

} // namespace

TEST_CASE_TEMPLATE("destroyed_while_waiting_it_never_fires", Wheel, BOTH_WHEELS) {
    far_rig<Wheel> r;
    r.wait();
    r.idle.reset();
    CHECK(r.wheel.pending() == 0);
    CHECK(r.log.size() == 0);
    r.run();
    CHECK(r.log.size() == 1);
    CHECK(r.log.last_error() == asio::error::operation_aborted);
    pass(r.io, 1h);
    r.run();
    CHECK(r.log.size() == 1);
}

TEST_CASE_TEMPLATE("destroyed_while_its_expiry_is_on_the_way_it_never_fires", Wheel, BOTH_WHEELS) {
    far_rig<Wheel> r;
    r.wait();
    r.expire();
    r.idle.reset();
    r.run();
    CHECK(r.log.size() == 1);
    CHECK(r.log.last_error() == asio::error::operation_aborted);
}

TEST_CASE_TEMPLATE("destroyed_with_all_limits_off_the_wait_is_aborted", Wheel, BOTH_WHEELS) {
    far_rig<Wheel> r{idle_timeouts()};
    r.wait();
    r.idle.reset();
    CHECK(r.log.size() == 0);
    r.run();
    CHECK(r.log.last_error() == asio::error::operation_aborted);
}

TEST_CASE_TEMPLATE("destroyed_in_its_own_handler", Wheel, BOTH_WHEELS) {
    far_rig<Wheel> r;
    int called = 0;
    r.idle->async_idle([&](std::error_code ec, idle_event) {
        CHECK_FALSE(ec);
        ++called;
        r.idle.reset();
    });
    r.expire();
    r.run();
    CHECK(called == 1);
}

TEST_CASE_TEMPLATE("cancelled_while_its_expiry_is_on_the_way", Wheel, BOTH_WHEELS) {
    far_rig<Wheel> r;
    asio::cancellation_signal signal;
    r.idle->async_idle(asio::bind_cancellation_slot(signal.slot(), r.log.handler()));
    r.expire();
    signal.emit(asio::cancellation_type::terminal);
    r.run();
    CHECK(r.log.size() == 1);
    CHECK(r.log.last_error() == asio::error::operation_aborted);
    r.wait();
    r.run(); // the event was not told, so it still is
    CHECK(r.log.size() == 2);
    CHECK_FALSE(r.log.last_error());
}

TEST_CASE_TEMPLATE("emit_after_the_monitor_is_gone_is_harmless", Wheel, BOTH_WHEELS) {
    far_rig<Wheel> r;
    asio::cancellation_signal signal;
    r.idle->async_idle(asio::bind_cancellation_slot(signal.slot(), r.log.handler()));
    r.idle.reset();
    signal.emit(asio::cancellation_type::terminal);
    r.run();
    CHECK(r.log.size() == 1);
    signal.emit(asio::cancellation_type::terminal);
    CHECK(r.log.size() == 1);
}

TEST_CASE_TEMPLATE("moved_while_waiting_the_new_one_goes_on", Wheel, BOTH_WHEELS) {
    far_rig<Wheel> r;
    r.wait();
    auto moved = std::make_unique<typename far_rig<Wheel>::monitor>(std::move(*r.idle));
    r.idle.reset();
    pass(r.io, 6s);
    moved->touch_read();
    pass(r.io, 4s);
    r.run(); // too early by the stamp of the new one
    CHECK(r.log.size() == 0);
    pass(r.io, 6s);
    r.run();
    CHECK(r.log.size() == 1);
    CHECK_FALSE(r.log.last_error());
}

TEST_CASE_TEMPLATE("moved_while_its_expiry_is_on_the_way", Wheel, BOTH_WHEELS) {
    far_rig<Wheel> r;
    r.wait();
    r.expire();
    typename far_rig<Wheel>::monitor moved(std::move(*r.idle));
    r.idle.reset();
    moved.touch_read();
    r.run();
    CHECK(r.log.size() == 0);
    CHECK(r.wheel.pending() == 1);
    pass(r.io, 10s);
    r.run();
    CHECK(r.log.size() == 1);
}

TEST_CASE_TEMPLATE("move_assigned_its_own_wait_is_aborted_and_the_others_goes_on", Wheel, BOTH_WHEELS) {
    far_rig<Wheel> r;
    idle_log theirs;
    r.wait();
    {
        typename far_rig<Wheel>::monitor other(r.wheel, r.home.get_executor(), {.writer = 20s});
        other.async_idle(theirs.handler());
        *r.idle = std::move(other);
    }
    r.run();
    CHECK(r.log.last_error() == asio::error::operation_aborted);
    pass(r.io, 20s);
    r.run();
    REQUIRE(theirs.size() == 1);
    CHECK(theirs.last().event.kind == idle_kind::writer);
    CHECK(r.log.size() == 1);
}

TEST_CASE_TEMPLATE("moved_or_assigned_while_waiting_its_probe_goes_along", Wheel, BOTH_WHEELS) {
    struct counting_probe : idle_probe {
        int asked = 0;
        bool waits = true;
        bool input_waits() noexcept override {
            ++asked;
            return waits;
        }
    };
    for (const bool assigned : {false, true}) {
        CAPTURE(assigned);
        far_rig<Wheel> r;
        counting_probe probe, of_the_other;
        r.idle->set_probe(&probe);
        r.wait();
        std::optional<typename far_rig<Wheel>::monitor> moved;
        if (assigned) {
            moved.emplace(r.wheel, r.home.get_executor(), idle_timeouts{.reader = 1s});
            moved->set_probe(&of_the_other);
            *moved = std::move(*r.idle);
        } else {
            moved.emplace(std::move(*r.idle));
        }
        r.idle.reset();
        pass(r.io, 10s);
        r.run();
        CHECK(probe.asked == 1);
        CHECK(r.log.size() == 0); // input waits
        probe.waits = false;
        pass(r.io, 10s);
        r.run();
        CHECK(probe.asked == 2);
        CHECK(of_the_other.asked == 0);
        REQUIRE(r.log.size() == 1);
        CHECK_FALSE(r.log.last_error());
        CHECK_FALSE(moved->waiting());
    }
}

TEST_CASE_TEMPLATE("move_assigned_to_itself_it_goes_on_waiting", Wheel, BOTH_WHEELS) {
    far_rig<Wheel> r;
    r.wait();
    auto& same = *r.idle;
    *r.idle = std::move(same);
    CHECK(r.idle->waiting());
    pass(r.io, 10s);
    r.run();
    CHECK(r.log.size() == 1);
    CHECK_FALSE(r.log.last_error());
}

TEST_CASE_TEMPLATE("destroyed_or_moved_from_the_factor_does_not_meet_it", Wheel, BOTH_WHEELS) {
    using monitor = idle_monitor<Wheel>;
    for (const bool moves : {false, true}) {
        CAPTURE(moves);
        far_rig<Wheel> r;
        r.wait();
        alignas(monitor) std::array<std::byte, sizeof(monitor)> memory;
        auto* mine = new (memory.data()) monitor(r.wheel, r.home.get_executor(), {.reader = 10s});
        std::optional<monitor> other;
        if (moves) other.emplace(std::move(*mine));
        mine->~monitor();
        memory.fill(std::byte{0xa5}); // what follows a link to it does not come back
        overload_factor(r.wheel, 0.5);
        r.run();
        CHECK(std::all_of(memory.begin(), memory.end(), [](std::byte b) { return b == std::byte{0xa5}; }));
        pass(r.io, 5s);
        r.run();
        CHECK(r.log.size() == 1);
    }
}

TEST_CASE_TEMPLATE("moved_while_waiting_the_factor_still_reaches_it", Wheel, BOTH_WHEELS) {
    far_rig<Wheel> r;
    r.wait();
    typename far_rig<Wheel>::monitor moved(std::move(*r.idle));
    r.idle.reset();
    overload_factor(r.wheel, 0.5);
    pass(r.io, 5s);
    r.run();
    CHECK(r.log.size() == 1);
    CHECK_FALSE(r.log.last_error());
}

TEST_CASE_TEMPLATE("wheel_destroyed_first_the_wait_is_aborted_and_later_ones_are_refused", Wheel, BOTH_WHEELS) {
    asio::io_context io;
    idle_log log;
    std::optional<Wheel> wheel(std::in_place, io);
    idle_monitor<Wheel> idle(*wheel, {.reader = 10s});
    idle.async_idle(log.handler());
    wheel.reset();
    run_ready(io);
    CHECK(log.last_error() == asio::error::operation_aborted);
    idle.touch();
    idle.async_idle(log.handler());
    run_ready(io);
    CHECK(log.size() == 2);
    CHECK(log.last_error() == errc::stopped);
}

TEST_CASE_TEMPLATE("context_destroyed_with_all_limits_off_the_handler_is_destroyed_uncalled", Wheel, BOTH_WHEELS) {
    const auto owned = std::make_shared<int>(0);
    {
        asio::io_context io;
        Wheel wheel(io);
        auto idle = std::make_shared<idle_monitor<Wheel>>(wheel, idle_timeouts{});
        auto& monitor = *idle;
        monitor.async_idle([owned, idle = std::move(idle)](std::error_code, idle_event) { ++*owned; });
    }
    CHECK(*owned == 0);
    CHECK(owned.use_count() == 1);
}

TEST_CASE_TEMPLATE("context_destroyed_the_handler_is_destroyed_uncalled", Wheel, BOTH_WHEELS) {
    for (const bool on_the_way : {false, true}) {
        CAPTURE(on_the_way);
        const auto owned = std::make_shared<int>(0);
        {
            auto home = std::make_unique<asio::io_context>();
            asio::io_context io;
            Wheel wheel(io, {.tick = 1ms});
            // The handler owns the monitor, as a connection's handlers own the connection.
            auto idle =
                std::make_shared<idle_monitor<Wheel>>(wheel, home->get_executor(), idle_timeouts{.reader = 10s});
            auto& monitor = *idle;
            monitor.async_idle([owned, idle = std::move(idle)](std::error_code, idle_event) { ++*owned; });
            if (on_the_way) {
                pass(io, 10s);
                home.reset();
            }
        }
        CHECK(*owned == 0);
        CHECK(owned.use_count() == 1);
    }
}
