// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The callable of a callback_timer runs on its associated executor. What happens to the timer between the turn and that
// moment counts.
#include "support/asio/virtual_wheel.hpp"
#include "support/threads.hpp"

#include <cogwheel/asio/callback_timer.hpp>

#include <asio/bind_executor.hpp>
#include <asio/post.hpp>
#include <asio/strand.hpp>
#include <asio/thread_pool.hpp>
#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

struct count_arrivals {
    int* calls;
    void operator()() const { ++*calls; }
};
using other_loop = asio::io_context::executor_type;
using bound_callable = asio::executor_binder<count_arrivals, other_loop>;
using bound_timer = callback_timer<bound_callable, manual_timer_wheel>;

/// A wheel, and another context for the callables, which runs when the test says so.
struct two_loops {
    virtual_wheel w;
    asio::io_context other;
    int calls = 0;

    bound_callable callable(int& n) { return asio::bind_executor(other.get_executor(), count_arrivals{&n}); }
    void arrive() {
        other.restart();
        other.poll();
    }
};

} // namespace

TEST_CASE("bound_callable_runs_on_its_executor") {
    two_loops t;
    bound_timer timer(t.w.wheel, t.callable(t.calls));
    timer.schedule(10ms);
    t.w.pass(50ms);
    CHECK(t.calls == 0);
    CHECK(timer.pending()); // it will run
    t.arrive();
    CHECK(t.calls == 1);
    CHECK(!timer.pending());
    t.arrive();
    CHECK(t.calls == 1);
}

TEST_CASE("bound_callable_on_its_way_can_be_cancelled_replaced_and_destroyed") {
    two_loops t;
    std::optional<bound_timer> timer(std::in_place, t.w.wheel, t.callable(t.calls));
    timer->schedule(10ms);
    t.w.pass(50ms);
    CHECK(timer->cancel());
    CHECK(!timer->cancel());
    t.arrive();
    CHECK(t.calls == 0);

    timer->schedule(10ms);
    t.w.pass(50ms);
    CHECK(timer->schedule(1s)); // takes the place of the call on its way
    t.arrive();
    CHECK(t.calls == 0);
    t.w.pass(2s);
    t.arrive();
    CHECK(t.calls == 1);

    timer->schedule(10ms);
    t.w.pass(50ms);
    timer.reset();
    t.arrive();
    CHECK(t.calls == 1);
}

TEST_CASE("bound_callable_that_was_cancelled_on_its_way_does_not_find_the_next_timer_of_its_index") {
    two_loops t;
    for (const bool cancel_first : {false, true}) {
        int next = 0;
        auto timer = std::make_unique<bound_timer>(t.w.wheel, t.callable(t.calls));
        timer->schedule(10ms);
        t.w.pass(50ms);
        if (cancel_first) CHECK(timer->cancel());
        timer.reset();
        bound_timer other(t.w.wheel, t.callable(next)); // gets the index
        other.schedule(10ms);
        t.w.pass(50ms); // its own call is on its way, too
        t.arrive();
        CHECK(t.calls == 0);
        CHECK(next == 1);
    }
}

TEST_CASE("bound_callable_finds_a_timer_that_was_moved") {
    two_loops t;
    bound_timer first(t.w.wheel, t.callable(t.calls));
    first.schedule(10ms);
    t.w.pass(50ms);
    bound_timer second(std::move(first));
    CHECK(second.pending());
    CHECK(!first.pending());
    t.arrive();
    CHECK(t.calls == 1);
    CHECK(first.schedule(10ms));
    t.w.pass(50ms);
    t.arrive();
    CHECK(t.calls == 2);
}

TEST_CASE("bound_callable_may_destroy_its_timer_its_wheel_and_the_wheels_context") {
    asio::io_context other;
    auto io = std::make_unique<asio::io_context>();
    auto wheel = std::make_unique<manual_timer_wheel>(*io);
    struct end_all {
        std::function<void()>* f;
        void operator()() const { (*f)(); }
    };
    using timer_type = callback_timer<asio::executor_binder<end_all, other_loop>, manual_timer_wheel>;
    std::optional<timer_type> timer;
    bool ran = false;
    std::function<void()> end = [&] {
        timer.reset();
        wheel.reset();
        io.reset();
        ran = true;
    };
    timer.emplace(*wheel, asio::bind_executor(other.get_executor(), end_all{&end}));
    timer->schedule(10ms);
    pass(*io, 50ms);
    run_ready(other);
    CHECK(ran);
}

TEST_CASE("bound_callable_of_the_wheels_own_executor_runs_in_the_turn") {
    virtual_wheel w;
    int calls = 0;
    callback_timer timer{w.wheel, asio::bind_executor(w.wheel.get_executor(), count_arrivals{&calls})};
    timer.schedule(10ms);
    w.pass(50ms);
    CHECK(calls == 1);
}

// Each timer is used on its own strand only, while turns run on all threads. What cancel() has confirmed never runs.
TEST_CASE("bound_callables_on_strands_are_exact_while_other_threads_run_turns") {
    asio::io_context io;
    timer_wheel wheel(io, {.tick = 100us, .slots = 64});
    struct session {
        asio::strand<asio::io_context::executor_type> strand;
        std::atomic<int>* open;
        int steps = 0, ran = 0, promised = 0;
        struct expired {
            session* self;
            void operator()() const {
                ++self->ran;
                self->next();
            }
        };
        std::optional<callback_timer<asio::executor_binder<expired, decltype(strand)>>> timer;

        session(asio::io_context& context, timer_wheel& w, std::atomic<int>& o)
            : strand(asio::make_strand(context)), open(&o) {
            timer.emplace(w, asio::bind_executor(strand, expired{this}));
        }
        void next() {
            if (++steps > 300) {
                if (!timer) return;
                if (timer->cancel()) --promised;
                timer.reset();
                --*open;
                return;
            }
            if (steps % 3 == 0 && timer->cancel()) --promised;
            if (!timer->pending()) ++promised;
            REQUIRE(timer->schedule(std::chrono::microseconds(steps * 37 % 400)));
            if (steps % 5 != 0) return; // the callable goes on
            asio::post(strand, [this] { next(); });
        }
    };
    std::atomic<int> open = 32;
    std::vector<std::unique_ptr<session>> sessions;
    for (int i = 0; i < 32; ++i) sessions.push_back(std::make_unique<session>(io, wheel, open));
    for (auto& s : sessions) asio::post(s->strand, [&s] { s->next(); });
    {
        const runners threads(io, 3);
    }
    CHECK(open == 0);
    for (const auto& s : sessions) CHECK(s->ran == s->promised);
    CHECK(wheel.pending() == 0);
}
