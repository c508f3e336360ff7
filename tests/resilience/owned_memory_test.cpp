// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A handler that owns what its allocator takes memory from: all memory is back before the handler goes.
#include "support/resilience/hedge_rig.hpp"
#include "support/resilience/retry_rig.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

struct memory_fate {
    bool ended = false, was_empty = false;
};
struct owned_log : allocation_log {
    explicit owned_log(memory_fate& f) : fate(&f) {}
    owned_log(const owned_log&) = delete;
    owned_log& operator=(const owned_log&) = delete;
    ~owned_log() { *fate = {true, live == 0}; }

    memory_fate* fate;
};

struct memory_owner {
    using allocator_type = tracking_allocator<char>;

    explicit memory_owner(memory_fate& fate) : log(std::make_unique<owned_log>(fate)) {}
    allocator_type get_allocator() const noexcept { return allocator_type(*log); }
    template <class... Results>
    void operator()(Results&&...) {
        CHECK(log->live == 0);
    }

    std::unique_ptr<owned_log> log;
};

} // namespace

TEST_CASE_TEMPLATE("retry_that_ends_without_a_call_frees_its_memory_before_its_handler", Wheel, BOTH_WHEELS) {
    memory_fate fate;
    bool waits = false, drops = false;
    SUBCASE("context destroyed while attempting") {}
    SUBCASE("context destroyed while waiting") { waits = true; }
    SUBCASE("attempt dropped") { drops = true; }
    {
        retry_rig<Wheel> r;
        r.start(doubling(), memory_owner(fate));
        if (waits) r.attempt_fails();
        if (drops) r.read.drop();
        CHECK(fate.ended == drops);
    }
    CHECK(fate.ended);
    CHECK(fate.was_empty);
}

TEST_CASE_TEMPLATE("retry_whose_attempt_throws_no_error_code_frees_its_memory_before_its_handler", Wheel, BOTH_WHEELS) {
    memory_fate fate;
    retry_rig<Wheel> r;
    r.read.on_start = [] { throw std::runtime_error("no code"); };
    try {
        r.start(doubling(), memory_owner(fate));
    } catch (const std::runtime_error&) { // or the handler is called: both are right here
    }
    r.read.on_start = {};
    if (!fate.ended) r.attempt_ends({}, 1);
    r.run();
    CHECK(fate.ended);
    CHECK(fate.was_empty);
}

TEST_CASE_TEMPLATE("hedge_that_ends_without_a_call_frees_its_memory_before_its_handler", Wheel, BOTH_WHEELS) {
    memory_fate fate;
    bool drops = false;
    SUBCASE("context destroyed") {}
    SUBCASE("attempt dropped") { drops = true; }
    {
        hedge_rig<Wheel> r;
        r.start({.delay = 30ms, .attempts = 3}, memory_owner(fate));
        if (drops)
            r.reads[0].drop();
        else
            r.pass(40ms);
        CHECK(fate.ended == drops);
    }
    CHECK(fate.ended);
    CHECK(fate.was_empty);
}
