// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A prefetching_queue against a deque: first in, first out, whatever part of it is linked and whatever only remembered.
#include "support/random.hpp"

#include <cogwheel/wheel/detail/node_queue.hpp>

#include <doctest/doctest.h>

#include <array>
#include <deque>

using cogwheel::timer_node;
using cogwheel::detail::prefetching_queue;

TEST_CASE("far_queue_pop_first_in_first_out") {
    for (const std::size_t n : {std::size_t{1}, prefetching_queue::distance - 1, prefetching_queue::distance,
                                prefetching_queue::distance + 1, 3 * prefetching_queue::distance}) {
        CAPTURE(n);
        std::array<timer_node, 3 * prefetching_queue::distance> nodes;
        prefetching_queue queue;
        CHECK(queue.empty());
        for (std::size_t i = 0; i < n; ++i) queue.push(nodes[i]);
        for (std::size_t i = 0; i < n; ++i) {
            CHECK_FALSE(queue.empty());
            CHECK(queue.pop() == &nodes[i]);
        }
        CHECK(queue.empty());
        CHECK(queue.pop() == nullptr);
    }
}

TEST_CASE("far_queue_random_pushes_and_pops_agree_with_a_deque") {
    cogwheel_tests::random_source random(11);
    std::array<timer_node, 64> nodes;
    prefetching_queue queue;
    std::deque<timer_node*> model, outside;
    for (timer_node& node : nodes) outside.push_back(&node);
    for (int i = 0; i < 100'000; ++i) {
        // Now growing, now shrinking, so that every mixture of the two parts comes up.
        if (random.below(8) < (i / 100 % 2 == 0 ? 5U : 3U)) {
            if (outside.empty()) continue;
            queue.push(*outside.front());
            model.push_back(outside.front());
            outside.pop_front();
        } else {
            timer_node* expected = model.empty() ? nullptr : model.front();
            REQUIRE(queue.pop() == expected);
            if (expected == nullptr) continue;
            model.pop_front();
            outside.push_back(expected);
        }
        REQUIRE(queue.empty() == model.empty());
    }
}
