// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A callback_timer runs its callable once for each schedule() that stands, and never after cancel().
#include "support/asio/virtual_wheel.hpp"
#include "support/random.hpp"

#include <cogwheel/asio/callback_timer.hpp>

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

struct two_words {
    void* a;
    void* b;
    void operator()() const {}
};
static_assert(sizeof(callback_timer<two_words>) <= 56);
static_assert(sizeof(callback_timer<two_words, local_timer_wheel>) <= 56);
static_assert(std::is_nothrow_move_constructible_v<callback_timer<two_words>>);
static_assert(!std::is_copy_constructible_v<callback_timer<two_words>>);

struct count_calls {
    int* calls;
    void operator()() const { ++*calls; }
};
using counting_timer = callback_timer<count_calls, manual_timer_wheel>;

} // namespace

namespace cogwheel_tests {

// Not in an anonymous namespace: in a joined translation unit, g++ warns of a field of such a type.
struct member_session {
    int calls = 0;
    void expired() { ++calls; }
    void expired_quietly() noexcept { calls += 100; }
};

} // namespace cogwheel_tests

TEST_CASE("callback_timer_runs_once_after_its_delay") {
    virtual_wheel w;
    int calls = 0;
    counting_timer timer(w.wheel, {&calls});
    CHECK(!timer.pending());
    CHECK(timer.expiry() == manual_clock::time_point::min());
    CHECK(timer.schedule(50ms));
    CHECK(timer.pending());
    CHECK(timer.expiry() >= manual_clock::now() + 50ms);
    w.pass(49ms);
    CHECK(calls == 0);
    w.pass(20ms);
    CHECK(calls == 1);
    CHECK(!timer.pending());
    w.pass(1s);
    CHECK(calls == 1);
    CHECK(timer.schedule(0ms));
    CHECK(calls == 1); // never inside the call
    w.pass(0ms);
    CHECK(calls == 2);
}

TEST_CASE("callback_timer_that_is_scheduled_again_moves") {
    virtual_wheel w;
    int calls = 0;
    counting_timer timer(w.wheel, {&calls});
    timer.schedule(100ms);
    for (int i = 0; i < 20; ++i) {
        w.pass(50ms);
        CHECK(timer.schedule(100ms));
    }
    CHECK(calls == 0);
    CHECK(timer.schedule(20ms)); // earlier
    w.pass(40ms);
    CHECK(calls == 1);
    CHECK(timer.schedule(w.wheel, 20ms));
    CHECK(timer.cancel(w.wheel));
    CHECK(!timer.pending());
    timer.schedule(manual_clock::now() + 20ms);
    w.pass(19ms);
    CHECK(calls == 1);
    w.pass(11ms);
    CHECK(calls == 2);
    timer.schedule(manual_clock::now() + 30ms);
    w.pass(29ms);
    CHECK(calls == 2);
    w.pass(20ms);
    CHECK(calls == 3);
    CHECK(w.wheel.pending() == 0);
}

TEST_CASE("callback_timer_that_is_cancelled_does_not_run_and_is_counted") {
    virtual_wheel w;
    int calls = 0;
    counting_timer timer(w.wheel, {&calls});
    CHECK(!timer.cancel());
    timer.schedule(10ms);
    CHECK(w.wheel.pending() == 1);
    CHECK(timer.cancel());
    CHECK(!timer.cancel());
    CHECK(w.wheel.pending() == 0);
    w.pass(1s);
    CHECK(calls == 0);
    timer.schedule(10ms);
    w.pass(1s);
    const wheel_stats s = w.wheel.stats();
    const auto& objects = s.kinds[static_cast<std::size_t>(timer_kind::object)];
    CHECK(objects.scheduled == 2);
    CHECK(objects.cancelled == 1);
    CHECK(objects.fired == 1);
}

TEST_CASE("callback_timer_calls_member_functions") {
    virtual_wheel w;
    member_session session;
    callback_timer timer{w.wheel, member_call<&member_session::expired>{&session}};
    callback_timer quiet{w.wheel, member_call<&member_session::expired_quietly>{&session}};
    timer.schedule(1ms);
    quiet.schedule(1ms);
    w.pass(20ms);
    CHECK(session.calls == 101);
}

TEST_CASE("callback_timer_moves_with_its_time") {
    virtual_wheel w;
    int calls = 0, others = 0;
    counting_timer first(w.wheel, {&calls});
    first.schedule(50ms);
    counting_timer second(std::move(first));
    CHECK(second.pending());
    CHECK(!first.pending());
    counting_timer third(w.wheel, {&others});
    third.schedule(10ms);
    third = std::move(second); // cancels what `third` was
    CHECK(third.pending());
    CHECK(w.wheel.pending() == 1);
    w.pass(100ms);
    CHECK(calls == 1);
    CHECK(others == 0);
    CHECK(first.schedule(10ms)); // like a new one; a callable of a pointer is still there
    w.pass(100ms);
    CHECK(calls == 2);
    std::vector<counting_timer> many;
    for (int i = 0; i < 100; ++i) { // the vector moves them while they are pending
        many.emplace_back(w.wheel, count_calls{&others});
        many.back().schedule(std::chrono::milliseconds(10 * i));
    }
    w.pass(2s);
    CHECK(others == 100);
}

TEST_CASE("callback_timer_that_took_over_one_that_never_waited_can_be_scheduled") {
    virtual_wheel w;
    int calls = 0;
    counting_timer timer(w.wheel, {&calls});
    timer.schedule(50ms); // its entry stays in the wheel
    timer = counting_timer(w.wheel, {&calls});
    CHECK(!timer.pending());
    CHECK(timer.schedule(50ms));
    CHECK(w.wheel.pending() == 1);
    w.pass(100ms);
    CHECK(calls == 1);
}

TEST_CASE("callable_may_schedule_cancel_and_destroy_timers") {
    virtual_wheel w;
    int calls = 0;
    struct again {
        callback_timer<again, manual_timer_wheel>** self;
        int* calls;
        void operator()() const {
            if (++*calls < 5) (*self)->schedule(10ms);
        }
    };
    callback_timer<again, manual_timer_wheel>* self = nullptr;
    callback_timer<again, manual_timer_wheel> timer(w.wheel, {&self, &calls});
    self = &timer;
    timer.schedule(10ms);
    for (int i = 0; i < 10; ++i) w.pass(20ms);
    CHECK(calls == 5);

    // Each destroys itself and its neighbour of the same tick.
    struct kill {
        std::vector<std::unique_ptr<callback_timer<kill, manual_timer_wheel>>>* all;
        std::size_t me;
        int* ran;
        void operator()() const {
            const auto copy = *this;
            copy.all->at(copy.me ^ 1).reset();
            copy.all->at(copy.me).reset();
            ++*copy.ran;
        }
    };
    std::vector<std::unique_ptr<callback_timer<kill, manual_timer_wheel>>> all;
    int ran = 0;
    for (std::size_t i = 0; i < 10; ++i)
        all.push_back(std::make_unique<callback_timer<kill, manual_timer_wheel>>(w.wheel, kill{&all, i, &ran}));
    for (auto& t : all) t->schedule(10ms);
    w.pass(100ms);
    CHECK(ran == 5);
    CHECK(w.wheel.pending() == 0);
}

TEST_CASE("callable_with_state_keeps_it") {
    virtual_wheel w;
    std::vector<int> seen;
    callback_timer timer{w.wheel, [&seen, n = 0]() mutable { seen.push_back(++n); }};
    for (int i = 0; i < 3; ++i) {
        timer.schedule(10ms);
        w.pass(50ms);
    }
    CHECK(seen == std::vector<int>{1, 2, 3});
    callback_timer owner{w.wheel, [p = std::make_unique<int>(7), &seen] { seen.push_back(*p); }};
    owner.schedule(10ms);
    w.pass(50ms);
    CHECK(seen.back() == 7);
}

TEST_CASE("callback_timer_of_a_stopped_or_full_or_destroyed_wheel_refuses") {
    asio::io_context io;
    std::optional<manual_timer_wheel> wheel(std::in_place, io, wheel_options{.max_pending = 1});
    int calls = 0;
    counting_timer timer(*wheel, {&calls}), second(*wheel, {&calls});
    CHECK(timer.schedule(10ms));
    CHECK(!second.schedule(10ms));
    CHECK(timer.schedule(20ms)); // it has its place
    CHECK(wheel->stats().rejected == 1);
    CHECK(wheel->cancel_all() == 1);
    CHECK(!timer.pending());
    CHECK(second.schedule(10ms));
    wheel.reset();
    CHECK(!second.pending());
    CHECK(!second.schedule(10ms));
    manual_clock::advance(1s);
    io.restart();
    io.poll();
    CHECK(calls == 0);
}

TEST_CASE("callable_that_throws_leaves_run_and_the_rest_of_the_batch_runs_next") {
    virtual_wheel w;
    int calls = 0;
    callback_timer thrower{w.wheel, [] { throw std::runtime_error("no"); }};
    counting_timer timer(w.wheel, {&calls});
    thrower.schedule(10ms);
    timer.schedule(10ms);
    CHECK_THROWS_AS(w.pass(50ms), std::runtime_error);
    w.pass(0ms);
    CHECK(calls == 1);
    CHECK(thrower.schedule(10ms));
}

TEST_CASE("callback_timer_can_be_cancelled_through_the_walk_over_all_timers") {
    virtual_wheel w;
    int calls = 0;
    counting_timer timer(w.wheel, {&calls});
    timer.schedule(10ms);
    w.wheel.for_each_pending([](auto, auto token) { CHECK(token.cancel()); });
    CHECK(!timer.pending());
    CHECK(w.wheel.pending() == 0);
    CHECK(timer.schedule(10ms));
    w.pass(50ms);
    CHECK(calls == 1);
}

TEST_CASE("callback_timer_whose_assignment_throws_is_cancelled_and_still_one_of_its_wheel") {
    struct throwing {
        int* calls;
        bool* on;
        throwing(int* c, bool* t) : calls(c), on(t) {}
        throwing(throwing&&) = default;
        throwing& operator=(throwing&& other) {
            if (*other.on) throw std::runtime_error("no");
            calls = other.calls;
            return *this;
        }
        void operator()() const { ++*calls; }
    };
    asio::io_context io;
    int calls = 0;
    bool on = true;
    std::optional<manual_timer_wheel> wheel(std::in_place, io);
    callback_timer<throwing, manual_timer_wheel> kept(*wheel, {&calls, &on});
    kept.schedule(10ms);
    {
        callback_timer<throwing, manual_timer_wheel> target(*wheel, {&calls, &on});
        target.schedule(10ms);
        CHECK_THROWS_AS(target = std::move(kept), std::runtime_error);
        CHECK(!target.pending());
    }
    CHECK(kept.pending());
    wheel.reset();
    pass(io, 1s);
    CHECK(!kept.schedule(10ms)); // its wheel's state must still be there
    CHECK(calls == 0);
}

TEST_CASE("callback_timer_that_has_fired_leaves_a_stale_token") {
    virtual_wheel w;
    int calls = 0;
    counting_timer timer(w.wheel, {&calls});
    timer.schedule(10ms);
    manual_timer_wheel::token_type token;
    w.wheel.for_each_pending([&](auto, auto t) { token = t; });
    CHECK(token.state() == timer_state::pending);
    w.pass(50ms);
    CHECK(calls == 1);
    CHECK(token.state() == timer_state::stale);
}

// Against a plain model: for each timer the tick at which it is due.
TEST_CASE("callback_timers_do_what_a_map_of_deadlines_does") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        random_source random(seed);
        virtual_wheel w({.tick = 1ms, .slots = seed % 2 == 0 ? std::size_t{8} : std::size_t{512}});
        constexpr std::size_t count = 40;
        std::vector<int> calls(count), expected(count);
        std::vector<std::optional<counting_timer>> timers(count);
        std::map<std::size_t, manual_clock::time_point> due;
        for (std::size_t i = 0; i < count; ++i) timers[i].emplace(w.wheel, count_calls{&calls[i]});
        for (int step = 0; step < 3'000; ++step) {
            const std::size_t i = random.below(count), j = random.below(count);
            switch (random.below(8)) {
            case 0:
                REQUIRE(timers[i]->cancel() == (due.erase(i) != 0));
                break;
            case 1:
                if (i == j) break;
                *timers[i] = std::move(*timers[j]); // with its callable: the calls of j count for i's object
                std::swap(calls[i], calls[j]);
                std::swap(expected[i], expected[j]);
                timers[i].emplace(w.wheel, count_calls{&calls[i]});
                timers[j].emplace(w.wheel, count_calls{&calls[j]});
                due.erase(i);
                due.erase(j);
                break;
            case 2:
                w.pass(std::chrono::milliseconds(random.below(40)));
                std::erase_if(due, [&](const auto& d) {
                    if (d.second > manual_clock::now()) return false;
                    ++expected[d.first];
                    return true;
                });
                break;
            default: {
                const auto delay = std::chrono::milliseconds(random.below(100) + 1);
                REQUIRE(timers[i]->schedule(delay));
                due[i] = manual_clock::now() + delay;
            }
            }
            REQUIRE(w.wheel.pending() == due.size());
            REQUIRE(calls == expected);
            for (std::size_t k = 0; k < count; ++k) REQUIRE(timers[k]->pending() == due.contains(k));
        }
    }
}
