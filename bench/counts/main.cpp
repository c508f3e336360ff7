// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// cogwheel_counts SCRIPT ROUNDS: does a fixed script so many times, to be counted from outside (./dev counts). What is
// counted for 2 rounds less what is counted for 1 is a round, without all that comes before and after. cogwheel_counts:
// the scripts' names, each with the operations of a round.
#include "contenders/binding.hpp"
#include "contenders/core.hpp"
#include "contenders/wheel_timer.hpp"
#include "workloads/rounds.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <string_view>

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

using any_thread = scheduled<cogwheel::timer_wheel>;
using one_thread = scheduled<cogwheel::local_timer_wheel>;

constexpr std::array scripts{
    script{"core-churn", &keep<embedded_core, churn_operation>},
    script{"core-touch", &keep<embedded_core, touch_operation>},
    script{"core-touch-earlier", &keep<embedded_core, touch_earlier_operation>},
    script{"core-id-churn", &keep<core_by_id, churn_operation>},
    script{"core-schedule-fire", &fill_and_fire<embedded_core>},
    script{"churn", &keep<any_thread, churn_operation>},
    script{"local-churn", &keep<one_thread, churn_operation>},
    script{"touch", &keep<any_thread, touch_operation>},
    script{"wait-slot", &keep<awaited<cogwheel::timer_wheel>, churn_operation>},
    script{"rearm", &keep<timer_objects<cogwheel::timer_wheel>, rearm_operation>},
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
