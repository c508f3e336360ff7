// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Waits for a date, on a clock on the wall that the test sets as somebody would: back, forward, and while the machine
// sleeps.
#include "support/asio/virtual_wheel.hpp"

#include <cogwheel/schedule/wall_clock.hpp>

#include <asio/bind_allocator.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <memory_resource>
#include <optional>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;
using std::chrono::sys_days;
using std::chrono::sys_seconds;

namespace {

struct wall {
    using duration = std::chrono::nanoseconds;
    using time_point = std::chrono::time_point<std::chrono::system_clock, duration>;
    static inline time_point present{};
    static time_point now() { return present; }
};

constexpr sys_seconds noon = sys_days(std::chrono::year(2026) / 11 / 22) + 12h;

struct waiting_for_noon {
    virtual_wheel at{{.tick = 10ms}};
    std::optional<std::error_code> ended;

    explicit waiting_for_noon(sys_seconds now) {
        wall::present = now;
        async_wait_until_date<wall>(at.wheel, noon, [this](std::error_code ec) { ended = ec; });
        at.run();
    }
    // Both clocks go on.
    void pass(std::chrono::nanoseconds by) {
        wall::present += by;
        at.pass(by);
    }
};

} // namespace

TEST_CASE("calendar_wait_comes_at_its_date") {
    waiting_for_noon w(noon - 10min);
    for (int i = 0; i < 599; ++i) w.pass(1s);
    w.pass(990ms);
    CHECK(!w.ended.has_value());
    w.pass(10ms);
    CHECK(w.ended == std::error_code());
    CHECK(w.at.wheel.pending() == 0);
}

TEST_CASE("calendar_wait_clock_put_back_is_waited_for") {
    waiting_for_noon w(noon - 30s);
    w.pass(20s);
    wall::present -= 1h;
    w.pass(20s); // by the wheel's clock it would be over
    CHECK(!w.ended.has_value());
    for (int i = 0; i < 60; ++i) w.pass(1min);
    CHECK(w.ended == std::error_code());
    CHECK(wall::present >= noon);
}

TEST_CASE("calendar_wait_clock_put_forward_or_a_suspended_machine_is_noticed_within_the_recheck") {
    waiting_for_noon w(noon - 5h);
    w.pass(30s);
    wall::present += 6h; // the wheel's clock stood still meanwhile
    w.pass(29s);
    CHECK(!w.ended.has_value());
    w.pass(1s);
    CHECK(w.ended == std::error_code());
}

TEST_CASE("calendar_wait_past_dates_complete_at_once_not_inline") {
    virtual_wheel at;
    wall::present = noon;
    int ended = 0;
    async_wait_until_date<wall>(at.wheel, noon - 1s, [&](std::error_code ec) { ended += !ec; });
    async_wait_until_date<wall>(at.wheel, sys_seconds::min(), [&](std::error_code ec) { ended += !ec; });
    CHECK(ended == 0);
    at.run();
    CHECK(ended == 2);
}

TEST_CASE("calendar_wait_is_cancelled_and_stopped") {
    virtual_wheel at;
    wall::present = noon - 1h;
    asio::cancellation_signal signal;
    std::optional<std::error_code> cancelled, stopped, late;
    async_wait_until_date<wall>(
        at.wheel, noon, asio::bind_cancellation_slot(signal.slot(), [&](std::error_code ec) { cancelled = ec; }));
    async_wait_until_date<wall>(at.wheel, sys_seconds::max(), [&](std::error_code ec) { stopped = ec; });
    at.pass(3min); // rechecked meanwhile
    signal.emit(asio::cancellation_type::total);
    at.run();
    CHECK(cancelled == asio::error::operation_aborted);
    at.wheel.stop();
    at.run();
    CHECK(stopped == asio::error::operation_aborted);
    async_wait_until_date<wall>(at.wheel, noon, [&](std::error_code ec) { late = ec; });
    at.run();
    CHECK(late == errc::stopped);
}

TEST_CASE("calendar_wait_whose_wheel_goes_between_two_looks_at_the_clock") {
    asio::io_context io, elsewhere;
    std::optional<testing::manual_timer_wheel> wheel(io);
    std::optional<std::error_code> ended;
    wall::present = noon - 1h;
    async_wait_until_date<wall>(*wheel, noon, asio::bind_executor(elsewhere, [&](std::error_code ec) { ended = ec; }));
    pass(io, 1min); // the next look is on its way
    wheel.reset();
    testing::manual_timer_wheel another(io); // must not get that wait
    run_ready(elsewhere);
    run_ready(io);
    run_ready(elsewhere);
    CHECK(ended == errc::stopped);
    CHECK(another.pending() == 0);
}

TEST_CASE("calendar_wait_context_destroyed_meanwhile") {
    auto memory = std::make_shared<int>();
    {
        asio::io_context io;
        const testing::manual_timer_wheel wheel(io);
        wall::present = noon - 1h;
        async_wait_until_date<wall>(wheel, noon, [memory](std::error_code) {});
        run_ready(io);
        CHECK(memory.use_count() == 2);
    }
    CHECK(memory.use_count() == 1);
}

TEST_CASE("calendar_wait_takes_the_memory_of_its_handler") {
    struct counted_resource final : std::pmr::memory_resource {
        void* do_allocate(std::size_t n, std::size_t alignment) override {
            ++taken;
            ++live;
            return std::pmr::new_delete_resource()->allocate(n, alignment);
        }
        void do_deallocate(void* p, std::size_t n, std::size_t alignment) override {
            --live;
            std::pmr::new_delete_resource()->deallocate(p, n, alignment);
        }
        bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
        int taken = 0, live = 0;
    } memory;
    virtual_wheel at{{.tick = 10ms}};
    wall::present = noon - 1s;
    bool done = false;
    const std::pmr::polymorphic_allocator<char> allocator(&memory);
    async_wait_until_date<wall>(at.wheel, noon, asio::bind_allocator(allocator, [&](std::error_code) { done = true; }));
    at.run();
    CHECK(memory.live > 0);
    wall::present = noon;
    at.pass(1s);
    CHECK(done);
    CHECK(memory.taken > 0);
    CHECK(memory.live == 0);
}

TEST_CASE("calendar_recheck_must_be_above_zero") {
    virtual_wheel at;
    CHECK_THROWS_AS(async_wait_until_date<wall>(at.wheel, noon, {.recheck = 0s}, [](std::error_code) {}),
                    std::invalid_argument);
    CHECK(at.wheel.pending() == 0);
}
