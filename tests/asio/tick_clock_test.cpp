// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// not_before() is never before the present, and at most 0.1 ms after it: under any slew, with steps of the counter, and
// if the thread is suspended between two readings.
#include "support/asio/counted_world.hpp"
#include "support/random.hpp"

#include <cogwheel/asio/wheel_timer.hpp>

#include <asio/io_context.hpp>
#include <doctest/doctest.h>

#include <atomic>
#include <optional>
#include <thread>
#include <utility>

using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

using world = counted_world;
using clock_under_test = cogwheel::detail::tick_clock<counted_clock>;

constexpr double most_slew = 0.226; // of the kernel: 10 % by the tick, 12.5 % by the offset, 2 x 0.05 %

/// A clock, and what the world says about its answers.
class checked_clock {
public:
    explicit checked_clock(bool with_counter = true) : origin_(counted_clock::now()), clock_(origin_, with_counter) {}

    /// Runs long enough for the rate to be known.
    void settle() {
        for (int i = 0; i < 40; ++i) {
            world::pass(1e6);
            clock_.exact();
        }
    }

    struct answer {
        double early, late; // ns; zero or less: neither
    };
    answer not_before() {
        const double before = world::clock;
        return judged(before, clock_.not_before());
    }
    std::optional<answer> not_before_unlocked() {
        const double before = world::clock;
        std::chrono::nanoseconds said{};
        if (!clock_.try_not_before_unlocked(said)) return {};
        return judged(before, said);
    }
    /// Returns how many readings of the system's clock `calls` calls need.
    int system_readings(int calls) {
        int n = 0;
        for (int i = 0; i < calls; ++i) {
            const double before = world::unslewed;
            not_before();
            n += world::unslewed - before > world::per_reading + 1 ? 1 : 0;
        }
        return n;
    }
    auto exact() { return clock_.exact(); }
    auto raw_not_before() { return clock_.not_before(); }

private:
    answer judged(double before, std::chrono::nanoseconds answered) const {
        const auto said = static_cast<double>(answered.count());
        const double origin = static_cast<double>(origin_.time_since_epoch().count());
        return {before - origin - said - 1, said - (world::clock - origin)}; // the clock has whole nanoseconds
    }

    counted_clock::time_point origin_;
    clock_under_test clock_;
};

constexpr double most_late = 100'000;

} // namespace

TEST_CASE("tick_clock_with_any_slew_is_never_early_and_at_most_a_tenth_of_a_millisecond_late") {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        CAPTURE(seed);
        random_source random(seed);
        const double frequencies[] = {2.6, 1.0, 5.2, 0.024, 0.0625, 3.3};
        world::begin(frequencies[seed % 6]);
        checked_clock clock;
        clock.settle();
        for (int i = 0; i < 20'000; ++i) {
            if (random.below(50) == 0) // a slew that begins at any point, also right after an anchor
                world::rate = 1 + most_slew * (static_cast<double>(random.below(2'001)) / 1000 - 1);
            if (random.below(400) == 0) clock.exact();
            world::pass(static_cast<double>(random.below(random.below(20) == 0 ? 300'000 : 2'000)));
            if (const auto b = clock.not_before_unlocked()) {
                REQUIRE(b->early <= 0);
                REQUIRE(b->late <= most_late);
            }
            const auto a = clock.not_before();
            REQUIRE(a.early <= 0);
            REQUIRE(a.late <= most_late);
        }
    }
}

TEST_CASE("tick_clock_without_the_lock_answers_while_its_anchor_is_young_enough") {
    world::begin();
    checked_clock clock;
    CHECK(!clock.not_before_unlocked()); // its rate is not known
    clock.settle();
    for (int i = 0; i < 100; ++i) {
        clock.exact();
        CHECK(clock.not_before_unlocked());
        world::pass(180'000);
        CHECK(clock.not_before_unlocked());
        world::pass(30'000);
        CHECK(!clock.not_before_unlocked());
    }
    checked_clock without(false);
    without.settle();
    CHECK(!without.not_before_unlocked());
}

TEST_CASE("tick_clock_without_the_lock_does_not_mix_two_anchors") {
    world::begin();
    checked_clock clock;
    clock.settle();
    random_source random(11);
    int answers = 0;
    for (int i = 0; i < 20'000; ++i) {
        if (random.below(3) == 0) clock.exact();
        world::pass(static_cast<double>(random.below(150'000)));
        bool read = false;
        world::before_reading = [&] { // in the middle of the answer, another thread sets the anchor
            if (std::exchange(read, true) || random.below(2) == 0) return;
            world::pass(static_cast<double>(random.below(10'000)));
            clock.exact();
        };
        const auto a = clock.not_before_unlocked();
        world::before_reading = nullptr;
        if (!a) continue;
        ++answers;
        REQUIRE(a->early <= 0);
        REQUIRE(a->late <= most_late);
    }
    CHECK(answers > 1'000);
}

TEST_CASE("tick_clock_without_the_lock_is_within_its_bounds_beside_a_thread_that_sets_the_anchor") {
    using steady = std::chrono::steady_clock;
    const auto origin = steady::now();
    cogwheel::detail::tick_clock<steady> clock(origin, true);
    std::atomic<bool> over = false;
    std::thread setter([&] {
        for (int i = 0; !over; ++i) {
            if (i % 8 == 0)
                clock.exact();
            else
                clock.not_before();
        }
    });
    bool early = false, late = false;
    int answers = 0;
    while (answers < 200'000 && clock.uses_counter()) {
        const auto before = steady::now() - origin;
        std::chrono::nanoseconds said{};
        if (!clock.try_not_before_unlocked(said)) {
            std::this_thread::yield(); // until its rate is known
            continue;
        }
        ++answers;
        early = early || said < before;
        late = late || said > steady::now() - origin + clock.most_ahead;
    }
    over = true;
    setter.join();
    CHECK(!early);
    CHECK(!late);
}

TEST_CASE("tick_clock_of_a_thread_that_is_suspended_at_any_point_stays_within_its_bounds") {
    world::begin();
    checked_clock clock;
    clock.settle();
    random_source random(7);
    world::before_reading = [&] {
        if (random.below(30) == 0) world::pass(static_cast<double>(random.below(3'000'000)));
    };
    for (int i = 0; i < 200'000; ++i) {
        world::pass(static_cast<double>(random.below(5'000)));
        const auto a = clock.not_before();
        REQUIRE(a.early <= 0);
        REQUIRE(a.late <= most_late);
    }
}

TEST_CASE("tick_clock_reads_the_system_clock_once_in_a_fifth_of_a_millisecond") {
    world::begin();
    checked_clock clock;
    clock.settle();
    // Each call takes 20 ns here: 10,000 in 0.2 ms.
    CHECK(clock.system_readings(100'000) <= 15);
    CHECK(clock.system_readings(100'000) >= 8);
}

TEST_CASE("tick_clock_never_goes_back") {
    world::begin();
    checked_clock clock;
    clock.settle();
    random_source random(3);
    auto last = clock.raw_not_before();
    for (int i = 0; i < 100'000; ++i) {
        world::pass(static_cast<double>(random.below(3'000)));
        if (random.below(100) == 0) clock.exact();
        const auto now = clock.raw_not_before();
        REQUIRE(now >= last);
        last = now;
    }
}

TEST_CASE("tick_clock_whose_counter_steps_back_beyond_its_anchor_reads_the_system_clock") {
    world::begin();
    checked_clock clock;
    clock.settle();
    for (const double step : {-1e6, -1e9, -6e12}) {
        clock.exact();
        world::pass(1'000);
        world::step_counter(step / 2.6);
        for (int i = 0; i < 100; ++i) {
            world::pass(50'000);
            const auto a = clock.not_before();
            REQUIRE(a.early <= 0);
            REQUIRE(a.late <= most_late);
        }
    }
}

TEST_CASE("tick_clock_whose_counter_steps_ahead_is_late_by_no_more_than_its_anchor_allows") {
    world::begin();
    checked_clock clock;
    clock.settle();
    for (const double step : {1e5, 3e5, 1e6, 1e9}) {
        clock.exact();
        world::step_counter(step);
        for (int i = 0; i < 100; ++i) {
            world::pass(20'000);
            const auto a = clock.not_before();
            REQUIRE(a.early <= 0);
            REQUIRE(a.late <= 300'000); // an anchor's whole life, and its slew
        }
        CHECK(clock.not_before().late <= most_late);
    }
}

TEST_CASE("tick_clock_whose_counter_becomes_slow_stops_using_it") {
    world::begin();
    checked_clock clock;
    clock.settle();
    world::frequency /= 2;            // no kernel slews by so much
    for (int i = 0; i < 5'000; ++i) { // it notices at an anchor
        world::pass(10'000);
        clock.not_before();
    }
    CHECK(clock.system_readings(1'000) == 1'000);
    CHECK(clock.not_before().early <= 0);
}

TEST_CASE("tick_clock_does_not_use_the_counter_before_it_knows_its_rate_or_if_it_may_not") {
    world::begin();
    checked_clock fresh;
    CHECK(fresh.system_readings(100) == 100);
    checked_clock without(false);
    without.settle();
    CHECK(without.system_readings(100) == 100);
}

TEST_CASE("wheel_whose_counter_is_not_trusted_or_not_wanted_counts_from_the_clock") {
    for (const bool trusted : {true, false}) {
        world::begin();
        world::trusted = trusted;
        asio::io_context io;
        cogwheel::basic_timer_wheel<counted_clock, cogwheel::multi_threaded> wheel(
            io, {.tick_clock = trusted ? cogwheel::tick_clock_kind::system : cogwheel::tick_clock_kind::counter});
        for (int i = 0; i < 40; ++i) {
            world::pass(1e6);
            wheel.schedule(1h, [] {}).cancel();
        }
        cogwheel::basic_wheel_timer timer(wheel);
        for (int i = 0; i < 100; ++i) {
            world::pass(700);
            timer.expires_after(3ms);
            REQUIRE(timer.expiry() <= counted_clock::now() + 3ms); // the counter would be ahead
        }
    }
}

TEST_CASE("tick_clock_after_the_machine_was_suspended_is_within_its_bounds") {
    world::begin();
    checked_clock clock;
    clock.settle();
    for (const double asleep : {1e6, 1e9, 3.6e12}) {
        clock.exact();
        world::count += asleep * world::frequency; // the steady clock does not count the time asleep
        const auto a = clock.not_before();
        CHECK(a.early <= 0);
        CHECK(a.late <= most_late);
        clock.exact();
        world::count = 1; // the counter began anew
        CHECK(clock.not_before().early <= 0);
        CHECK(clock.not_before().late <= most_late);
        clock.settle();
    }
}

TEST_CASE("expiry_of_a_timer_object_on_a_tick_clock_is_not_before_the_delay_and_not_ahead_if_there_is_none") {
    world::begin();
    asio::io_context io;
    cogwheel::basic_timer_wheel<counted_clock, cogwheel::multi_threaded> wheel(io, {.tick = 10ms});
    for (int i = 0; i < 40; ++i) { // until the rate is known
        world::pass(1e6);
        wheel.schedule(1h, [] {}).cancel();
    }
    cogwheel::basic_wheel_timer timer(wheel);
    for (int i = 0; i < 2'000; ++i) {
        world::pass(700);
        for (const auto delay : {0ns, -5ns}) {
            timer.expires_after(delay);
            REQUIRE(timer.expiry() <= counted_clock::now());
            timer.reschedule(delay);
            REQUIRE(timer.expiry() <= counted_clock::now());
        }
        const auto before = counted_clock::now();
        timer.expires_after(3ms);
        REQUIRE(timer.expiry() >= before + 3ms);
        REQUIRE(timer.expiry() <= counted_clock::now() + 3ms + 100us);
    }
}
