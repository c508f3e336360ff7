// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The core alone: a timer that fires at its tick.
#include <cogwheel/wheel/hashed_wheel.hpp>

namespace {

struct counted_timer : cogwheel::timer_node {
    counted_timer() : timer_node([](timer_node& node, void*) { ++static_cast<counted_timer&>(node).fired; }) {}

    int fired = 0;
};

} // namespace

int main() {
    cogwheel::node_table nodes;
    cogwheel::hashed_wheel wheel(nodes, 512);
    counted_timer timer;
    nodes.attach(timer);
    wheel.schedule(timer, cogwheel::tick{1000});
    wheel.advance(cogwheel::tick{999});
    const bool early = timer.fired != 0;
    wheel.advance(cogwheel::tick{1000});
    nodes.detach(timer);
    return !early && timer.fired == 1 ? 0 : 1;
}
