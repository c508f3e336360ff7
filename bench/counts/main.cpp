// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// cogwheel_counts SCRIPT ROUNDS: does a fixed script so many times, to be counted from outside (./dev counts). What is
// counted for 2 rounds less what is counted for 1 is a round, without all that comes before and after. cogwheel_counts:
// the scripts' names, each with the operations of a round.
//
// The time is a count of readings, so that a slow machine counts the same: the wheel reads the system's clock once in
// two hundred operations.
#include "contenders/binding.hpp"
#include "contenders/callback_timer.hpp"
#include "contenders/core.hpp"
#include "contenders/wheel_timer.hpp"
#include "workloads/rounds.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <string_view>

namespace bench {

/// Each reading of the clock or of its counter takes 1 us.
struct counted_clock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<counted_clock>;
    static constexpr bool is_steady = true;

    static std::uint64_t tick() noexcept {
        static std::uint64_t count = 0;
        return count += 1'000;
    }
    static time_point now() noexcept { return time_point(duration(static_cast<rep>(tick()))); }
};

} // namespace bench

template <>
struct cogwheel::detail::tick_counter<bench::counted_clock> {
    static constexpr bool exists = true;
    static std::uint64_t read() noexcept { return bench::counted_clock::tick(); }
    static std::chrono::nanoseconds unslewed() noexcept {
        return std::chrono::nanoseconds(static_cast<std::int64_t>(bench::counted_clock::tick()));
    }
    static bool is_usable(bool wanted) noexcept { return wanted; }
};

namespace {

using namespace bench;

constexpr std::size_t timers = 10'000;
constexpr std::size_t operations = 20'000;

template <class C, class Operation>
void keep(int rounds) {
    live_set<C> set(timers);
    set.schedule_all(random_order(timers, 0), usual_delay);
    Operation operation;
    for (int r = 0; r < rounds; ++r)
        set.each(random_numbers(operations, timers, 1),
                 [&](C& c, typename C::handle& h, std::uint32_t n) { return operation.apply(c, h, n); });
}

template <class C>
void fill_and_fire(int rounds) {
    for (int r = 0; r < rounds; ++r) {
        live_set<C> set(operations);
        set.schedule_all(random_order(operations, 1), milliseconds(200));
        (*set).fire_until((*set).after(milliseconds(300)));
        if ((*set).pending() != 0) std::abort();
    }
}

struct script {
    std::string_view name;
    void (*run)(int rounds);
};

using any_wheel = cogwheel::basic_timer_wheel<counted_clock, cogwheel::multi_threaded>;
using local_wheel = cogwheel::basic_timer_wheel<counted_clock, cogwheel::single_threaded>;
using any_thread = scheduled<any_wheel>;
using one_thread = scheduled<local_wheel>;

constexpr std::array scripts{
    script{"core-churn", &keep<embedded_core, churn_operation>},
    script{"core-touch", &keep<embedded_core, touch_operation>},
    script{"core-touch-earlier", &keep<embedded_core, touch_earlier_operation>},
    script{"core-id-churn", &keep<core_by_id, churn_operation>},
    script{"core-schedule-fire", &fill_and_fire<embedded_core>},
    script{"churn", &keep<any_thread, churn_operation>},
    script{"local-churn", &keep<one_thread, churn_operation>},
    script{"touch", &keep<any_thread, touch_operation>},
    script{"wait-slot", &keep<awaited<any_wheel>, churn_operation>},
    script{"callback-churn", &keep<callback_timers<any_wheel>, churn_operation>},
    script{"callback-touch", &keep<callback_timers<any_wheel>, touch_operation>},
    script{"rearm", &keep<timer_objects<any_wheel>, rearm_operation>},
};

} // namespace

int main(int argc, char** argv) {
    if (argc == 1)
        for (const script& s : scripts) fmt::print("{} {}\n", s.name, operations);
    if (argc != 3) return argc == 1 ? 0 : 2;
    for (const script& s : scripts)
        if (s.name == argv[1]) return s.run(std::atoi(argv[2])), 0;
    fmt::print(stderr, "cogwheel_counts: no script '{}'\n", argv[1]);
    return 2;
}
