// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The wheel of a context: who finds it, which options it has, and what remains when the context goes.
#include "support/asio/virtual_wheel.hpp"
#include "support/threads.hpp"

#include <cogwheel/asio/timer_wheel_of.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/strand.hpp>
#include <asio/thread_pool.hpp>
#include <doctest/doctest.h>

#include <deque>
#include <latch>
#include <new>
#include <set>
#include <string>
#include <thread>

using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;
using cogwheel::make_timer_wheel_of;
using cogwheel::timer_wheel_of;

namespace {

using manual = manual_timer_wheel;
using manual_local = manual_local_timer_wheel;

// A context that lies where another one was.
struct context_in_place {
    alignas(asio::io_context) std::byte space[sizeof(asio::io_context)];

    asio::io_context& make() { return *::new (static_cast<void*>(space)) asio::io_context; }
};

} // namespace

template <class Wheel>
concept can_stop = requires(Wheel w) { w.stop(); } || requires(Wheel w) { w.cancel_all(); };

TEST_CASE("timer_wheel_of_every_executor_of_a_context_is_the_same") {
    asio::io_context io;
    const manual& wheel = timer_wheel_of<manual>(io);
    const asio::any_io_executor erased = io.get_executor();
    CHECK(&timer_wheel_of<manual>(io.get_executor()) == &wheel);
    CHECK(&timer_wheel_of<manual>(erased) == &wheel);
    CHECK(&timer_wheel_of<manual>(asio::make_strand(io)) == &wheel);
    CHECK(&timer_wheel_of<manual>(asio::make_strand(erased)) == &wheel);
    CHECK(&timer_wheel_of<manual>(asio::any_io_executor(asio::make_strand(erased))) == &wheel);
    CHECK(&timer_wheel_of<manual>(asio::prefer(erased, asio::execution::outstanding_work.tracked)) == &wheel);
    CHECK(&timer_wheel_of<manual>(asio::require(io.get_executor(), asio::execution::blocking.never)) == &wheel);
    asio::io_context other;
    CHECK(&timer_wheel_of<manual>(other) != &wheel);
    CHECK(static_cast<const void*>(&timer_wheel_of<manual_local>(io)) != &wheel); // another type, another wheel
}

TEST_CASE("timer_wheel_of_whose_first_executor_is_a_strand_runs_on_the_context") {
    asio::io_context io;
    const asio::any_io_executor erased = io.get_executor();
    SUBCASE("of_a_known_type") { timer_wheel_of<manual>(asio::make_strand(io)); }
    SUBCASE("of_an_erased_executor") { timer_wheel_of<manual>(asio::make_strand(erased)); }
    SUBCASE("erased") { timer_wheel_of<manual>(asio::any_io_executor(asio::make_strand(io))); }
    SUBCASE("erased_twice") { timer_wheel_of<manual>(asio::any_io_executor(asio::make_strand(erased))); }
    CHECK(timer_wheel_of<manual>(io).get_executor() == io.get_executor());
}

TEST_CASE("timer_wheel_of_whose_first_executor_counts_as_work_lets_run_return") {
    asio::io_context io;
    const asio::any_io_executor erased = io.get_executor();
    SUBCASE("known") { timer_wheel_of(asio::prefer(io.get_executor(), asio::execution::outstanding_work.tracked)); }
    SUBCASE("erased") { timer_wheel_of(asio::prefer(erased, asio::execution::outstanding_work.tracked)); }
    SUBCASE("strand") {
        timer_wheel_of(
            asio::any_io_executor(asio::prefer(asio::make_strand(io), asio::execution::outstanding_work.tracked)));
    }
    CHECK(io.run() == 0);
}

TEST_CASE("timer_wheel_of_a_thread_pool_runs_on_it") {
    std::latch fired(1);
    std::thread::id at;
    asio::thread_pool pool(1);
    auto& wheel = timer_wheel_of(asio::make_strand(pool));
    CHECK(&timer_wheel_of(pool) == &wheel);
    wheel.schedule(1ms, [&] {
        at = std::this_thread::get_id();
        fired.count_down();
    });
    fired.wait();
    CHECK(at != std::this_thread::get_id());
    // Behind an erased executor the pool cannot be found: the strand is taken, and must not outlive its service.
    asio::thread_pool other(1);
    const asio::any_io_executor strand = asio::make_strand(other);
    CHECK(timer_wheel_of(strand).get_executor() == strand);
    CHECK(&timer_wheel_of(other) == &timer_wheel_of(strand));
}

TEST_CASE("make_timer_wheel_of_gives_the_options_once") {
    asio::io_context io;
    manual& wheel = make_timer_wheel_of<manual>(io, {.tick = 1ms, .max_pending = 1});
    CHECK(&timer_wheel_of<manual>(io) == &wheel);
    std::error_code ec;
    wheel.schedule(1ms, [] {});
    wheel.schedule(1ms, [] {}, ec);
    CHECK(ec == cogwheel::errc::too_many_timers);
    CHECK_THROWS_AS(make_timer_wheel_of<manual>(io, {}), std::logic_error);
    asio::io_context other;
    CHECK_THROWS_AS(make_timer_wheel_of<manual>(other, {.tick = 0ms}), std::invalid_argument);
    make_timer_wheel_of<manual>(other, {}); // the failure left nothing behind
}

TEST_CASE("make_timer_wheel_of_after_the_first_use_says_what_to_do") {
    asio::io_context io;
    timer_wheel_of<manual>(io);
    std::string message;
    try {
        make_timer_wheel_of<manual>(asio::make_strand(io), {.tick = 1ms});
    } catch (const std::logic_error& e) {
        message = e.what();
    }
    CHECK(message.find("call make_timer_wheel_of() before the first use") != message.npos);
}

// All libraries of the process share it.
TEST_CASE("timer_wheel_of_gives_a_wheel_that_cannot_be_stopped_or_moved") {
    asio::io_context io;
    using shared = decltype(timer_wheel_of<manual>(io));
    static_assert(!can_stop<shared> && can_stop<manual&>);
    static_assert(!std::constructible_from<manual, shared>);
    manual& own = make_timer_wheel_of<manual>(io, {});
    timer_wheel_of<manual>(io).schedule(1h, [] {});
    CHECK(own.stop() == 1);
}

TEST_CASE("timer_wheel_of_a_context_where_another_one_was_is_a_new_one") {
    context_in_place place;
    for (int i = 0; i < 3; ++i) {
        asio::io_context& io = place.make();
        const manual& wheel = timer_wheel_of<manual>(io);
        CHECK(wheel.pending() == 0);
        CHECK(wheel.stats().scheduled == 0);
        bool fired = false;
        wheel.schedule(1ms, [&] { fired = true; });
        wheel.schedule(1h, [] {});
        CHECK(timer_wheel_of<manual>(io.get_executor()).pending() == 2);
        pass(io, 20ms);
        CHECK(fired);
        io.~io_context();
    }
}

TEST_CASE("timer_wheel_of_more_contexts_than_the_cache_holds") {
    std::deque<asio::io_context> contexts(300);
    std::set<const manual*> wheels;
    for (asio::io_context& io : contexts) wheels.insert(&timer_wheel_of<manual>(io));
    CHECK(wheels.size() == contexts.size());
    for (asio::io_context& io : contexts) {
        CHECK(wheels.contains(&timer_wheel_of<manual>(io)));
        CHECK(timer_wheel_of<manual>(io).get_executor() == io.get_executor());
    }
    while (contexts.size() > 1) contexts.pop_front();
    CHECK(wheels.contains(&timer_wheel_of<manual>(contexts.front())));
    contexts.resize(100);
    for (asio::io_context& io : contexts) CHECK(timer_wheel_of<manual>(io).get_executor() == io.get_executor());
}

TEST_CASE("timer_wheel_of_first_used_by_many_threads_is_made_once") {
    for (int round = 0; round < 20; ++round) {
        asio::io_context io;
        std::atomic<const manual*> first = nullptr;
        std::atomic<int> others = 0;
        on_threads(4, [&](auto) {
            for (int i = 0; i < 100; ++i) {
                const manual* none = nullptr;
                const manual& wheel = timer_wheel_of<manual>(io.get_executor());
                if (!first.compare_exchange_strong(none, &wheel) && none != &wheel) ++others;
            }
        });
        CHECK(others == 0);
    }
}

TEST_CASE("timer_wheel_of_contexts_that_come_and_go_on_many_threads") {
    on_threads(4, [](auto) {
        context_in_place place; // the next context of this thread has the same address
        for (int i = 0; i < 200; ++i) {
            asio::io_context& io = place.make();
            bool fired = false;
            timer_wheel_of(io).schedule(0ms, [&] { fired = true; });
            io.run();
            if (!fired) std::abort();
            io.~io_context();
        }
    });
}

TEST_CASE("timer_wheel_of_in_a_destructor_while_the_context_is_destroyed") {
    struct user {
        asio::any_io_executor executor;
        int* calls;
        ~user() {
            if (calls == nullptr) return;
            ++*calls;
            CHECK_FALSE(timer_wheel_of<manual>(executor).schedule(1ms, [] {}));
        }
        user(asio::any_io_executor e, int* c) : executor(std::move(e)), calls(c) {}
        user(user&& other) noexcept : executor(other.executor), calls(std::exchange(other.calls, nullptr)) {}
    };
    int calls = 0;
    {
        asio::io_context io;
        timer_wheel_of<manual>(io).schedule(1h, [u = user(io.get_executor(), &calls)] {});
        asio::post(io, [u = user(io.get_executor(), &calls)] {});
    }
    CHECK(calls == 2);
}

TEST_CASE("timer_wheel_of_local_wheels_belong_to_an_executor") {
    asio::io_context io;
    const auto one = asio::make_strand(io);
    const auto two = asio::make_strand(io);
    const manual_local& wheel = timer_wheel_of<manual_local>(one);
    CHECK(&timer_wheel_of<manual_local>(two) != &wheel);
    CHECK(&timer_wheel_of<manual_local>(io) != &wheel);
    CHECK(&timer_wheel_of<manual_local>(asio::any_io_executor(one)) == &wheel);
    CHECK(&timer_wheel_of<manual_local>(asio::any_io_executor(two)) == &timer_wheel_of<manual_local>(two));
    CHECK(wheel.get_executor() == one);
    CHECK_THROWS_AS(make_timer_wheel_of<manual_local>(two, {}), std::logic_error);
    bool on_strand = false;
    wheel.schedule(1ms, [&] { on_strand = one.running_in_this_thread(); });
    pass(io, 20ms);
    CHECK(on_strand);
}
