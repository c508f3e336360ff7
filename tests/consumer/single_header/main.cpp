// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The core alone, as a single header or as the library: a hundred thousand timers on each of its wheels. Each fires at
// its tick, and one of three is cancelled.
#if __has_include("cogwheel_wheel.hpp")
#include "cogwheel_wheel.hpp"
#else
#include <cogwheel/wheel/hashed_wheel.hpp>
#include <cogwheel/wheel/hierarchical_wheel.hpp>
#endif

#include <vector>

namespace {

struct counted_timer : cogwheel::timer_node {
    counted_timer() : timer_node([](timer_node& node, void*) { ++static_cast<counted_timer&>(node).fired; }) {}

    std::uint64_t due = 0;
    int fired = 0;
};

template <class Wheel>
bool holds(std::size_t size) {
    cogwheel::node_table nodes;
    Wheel wheel(nodes, size);
    std::vector<counted_timer> timers(100'000);
    std::uint32_t random = 1;
    for (auto& timer : timers) {
        random = random * 1'664'525 + 1'013'904'223;
        timer.due = 1 + random % 5'000;
        nodes.attach(timer);
        wheel.schedule(timer, cogwheel::tick{timer.due});
    }
    for (std::size_t i = 0; i < timers.size(); i += 3) wheel.cancel(timers[i]);

    bool all = true;
    for (std::uint64_t now = 0; now <= 5'000; now += 10) {
        wheel.advance(cogwheel::tick{now});
        for (std::size_t i = 0; i < timers.size(); ++i)
            all = all && timers[i].fired == (i % 3 != 0 && timers[i].due <= now ? 1 : 0);
    }
    for (auto& timer : timers) nodes.detach(timer);
    return all;
}

} // namespace

int main() { return holds<cogwheel::hashed_wheel>(512) && holds<cogwheel::hierarchical_wheel>(64) ? 0 : 1; }
