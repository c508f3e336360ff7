// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Which connections are chatting (examples/echo_server): against a list of all of them.
#include "echo_server/activity_window.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <random>
#include <thread>
#include <vector>

using echo::activity_window;

TEST_CASE("activity_before_the_first_epoch_is_not_counted") {
    activity_window window;
    activity_window::member one{window};
    one.touch();
    CHECK(window.active() == 0);
}

TEST_CASE("activity_of_one_member_counts_once_for_four_more_epochs") {
    activity_window window;
    window.begin_epoch();
    activity_window::member one{window};
    CHECK(window.active() == 0);
    one.touch();
    one.touch();
    for (int epoch = 0; epoch < 4; ++epoch) {
        CHECK(window.active() == 1);
        window.begin_epoch();
    }
    CHECK(window.active() == 1);
    window.begin_epoch();
    CHECK(window.active() == 0);
}

TEST_CASE("activity_member_that_leaves_is_not_counted") {
    activity_window window;
    window.begin_epoch();
    auto one = std::make_unique<activity_window::member>(window);
    one->touch();
    window.begin_epoch();
    CHECK(window.active() == 1);
    one.reset();
    CHECK(window.active() == 0);
}

TEST_CASE("activity_any_sequence_agrees_with_a_list_of_all_members") {
    struct talker {
        std::unique_ptr<activity_window::member> member;
        int last = -1; // the epoch of its last message
    };
    std::mt19937 random{1};
    activity_window window;
    window.begin_epoch();
    std::vector<talker> talkers;
    for (int epoch = 1; epoch < 2000; ++epoch, window.begin_epoch()) {
        for (auto steps = random() % 10; steps != 0; --steps) {
            const auto which = random() % (talkers.size() + 1);
            if (which == talkers.size()) {
                if (talkers.size() < 20) talkers.push_back({std::make_unique<activity_window::member>(window)});
            } else if (random() % 8 == 0) {
                talkers.erase(talkers.begin() + static_cast<std::ptrdiff_t>(which));
            } else {
                talkers[which].member->touch();
                talkers[which].last = epoch;
            }
            std::size_t active = 0;
            for (const auto& one : talkers) active += one.last > 0 && epoch - one.last <= 4 ? 1 : 0;
            REQUIRE(window.active() == active);
        }
        if (epoch % 100 > 80) continue; // silence for some epochs, so that counters are used again
        for (auto& one : talkers) {
            if (random() % 30 != 0) continue;
            one.member->touch();
            one.last = epoch;
        }
    }
}

TEST_CASE("activity_on_several_threads_is_exact_once_they_have_come_to_rest") {
    constexpr std::size_t threads = 3;
    constexpr std::size_t members = 50;
    activity_window window;
    std::vector<std::unique_ptr<activity_window::member>> all;
    for (std::size_t i = 0; i < threads * members; ++i)
        all.push_back(std::make_unique<activity_window::member>(window));
    const auto on_threads = [&](int rounds) {
        std::vector<std::jthread> running;
        for (std::size_t t = 0; t < threads; ++t)
            running.emplace_back([&, t] {
                for (int round = 0; round < rounds; ++round)
                    for (std::size_t i = t * members; i < (t + 1) * members; ++i) all[i]->touch();
            });
        for (int epoch = 0; epoch < 20; ++epoch) {
            window.begin_epoch();
            CHECK(window.active() <= 2 * all.size()); // no wrapped number
        }
    };
    on_threads(1000);
    // Whatever the threads have miscounted has left with its epoch.
    for (int epoch = 0; epoch < 10; ++epoch) window.begin_epoch();
    CHECK(window.active() == 0);
    for (const auto& one : all) one->touch();
    CHECK(window.active() == all.size());
    all.clear();
    CHECK(window.active() == 0);
}
