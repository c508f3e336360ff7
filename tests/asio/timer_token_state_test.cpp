// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a manual_token tells about its timer, and what is done with many tokens at once.
#include "support/asio/virtual_wheel.hpp"
#include "support/constant_names.hpp"

#include <asio/bind_executor.hpp>
#include <asio/strand.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <ranges>
#include <sstream>
#include <tuple>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

using manual_token = manual_timer_wheel::token_type;

std::string text_of(manual_token t) {
    std::ostringstream out;
    out << t;
    return out.str();
}

} // namespace

TEST_CASE("state_of_a_timer_that_fires") {
    virtual_wheel at;
    manual_token t;
    timer_state inside{};
    t = at.wheel.schedule(10ms, [&] { inside = t.state(); });
    CHECK(t.state() == timer_state::pending);
    at.pass(30ms);
    CHECK(inside == timer_state::fired);
    CHECK(t.state() == timer_state::fired);
    const manual_token next = at.wheel.schedule(10ms, [] {}); // takes over the memory
    CHECK(t.state() == timer_state::stale);
    CHECK(next.state() == timer_state::pending);
}

TEST_CASE("state_of_a_timer_that_is_cancelled") {
    virtual_wheel at;
    manual_token t;
    SUBCASE("by_its_token") {
        t = at.wheel.schedule(10ms, [] {});
        t.cancel();
    }
    SUBCASE("by_its_token_with_a_destructor") {
        t = at.wheel.schedule(10ms, [p = std::make_shared<int>()] { CHECK(p); });
        t.cancel();
    }
    SUBCASE("by_its_token_with_on_cancel") {
        t = at.wheel.schedule(10ms, [] {}, on_cancel([] {}));
        t.cancel();
        CHECK(t.state() == timer_state::cancelled);
    }
    SUBCASE("with_all_others") {
        t = at.wheel.schedule(10ms, [] {});
        at.wheel.cancel_all();
    }
    SUBCASE("by_stop") {
        t = at.wheel.schedule(10ms, [] {});
        at.wheel.stop();
    }
    CHECK(t.state() == timer_state::cancelled);
    at.run();
    CHECK(t.state() == timer_state::cancelled);
}

TEST_CASE("state_of_a_timer_whose_memory_a_refused_wait_has_had") {
    virtual_wheel at({.max_pending = 1});
    const manual_token fired = at.wheel.schedule(10ms, [] {});
    at.pass(30ms);
    at.wheel.schedule(10ms, [big = std::array<char, 100>()] { CHECK(big[0] == 0); }); // of another size
    at.wheel.async_wait(10ms, [](std::error_code ec) { CHECK(ec == errc::too_many_timers); });
    at.run();
    CHECK(fired.state() != timer_state::cancelled);
    CHECK(fired.state() != timer_state::pending);
}

TEST_CASE("state_of_timers_of_an_earlier_wheel_is_never_fired") {
    asio::io_context io;
    std::vector<manual_token> old;
    {
        manual_timer_wheel wheel(io);
        for (int i = 0; i < 20; ++i) old.push_back(wheel.schedule(10ms, [] {}));
        for (int round = 0; round < 3; ++round) {
            old.front().cancel();
            old.front() = wheel.schedule(10ms, [] {});
        }
    }
    run_ready(io);
    manual_timer_wheel wheel(io); // in the memory of the first one
    const manual_token present = wheel.schedule(10ms, [] {});
    for (const manual_token& t : old) CHECK(t.state() != timer_state::fired);
    CHECK(present.pending());
}

TEST_CASE("state_of_an_empty_token_and_of_a_timer_outside_the_pool") {
    CHECK(manual_token().state() == timer_state::stale);
    virtual_wheel at;
    std::array<char, 600> large{};
    const manual_token t = at.wheel.schedule(10ms, [large] { CHECK(large[0] == 0); });
    CHECK(t.state() == timer_state::pending);
    at.pass(30ms);
    CHECK(t.state() == timer_state::stale);
}

TEST_CASE("token_prints_its_id_and_state") {
    virtual_wheel at;
    const manual_token t = at.wheel.schedule(10ms, [] {});
    const std::string name = text_of(t).substr(0, text_of(t).rfind(' '));
    CHECK(text_of(t) == name + " pending");
    CHECK(name.starts_with("timer "));
    t.cancel();
    CHECK(text_of(t) == name + " cancelled");
    CHECK(text_of(manual_token()) == "timer 0:0 stale");
    CHECK(text_of(at.wheel.schedule(10ms, [] {})) != name + " pending"); // the same memory, another timer
}

TEST_CASE("callable_that_takes_its_token_gets_it") {
    virtual_wheel at;
    const auto strand = asio::make_strand(at.io);
    std::map<std::string, manual_token> all;
    std::vector<std::string> gone;
    const auto expire = [&](manual_token self) {
        std::erase_if(all, [&](const auto& entry) {
            if (entry.second == self) gone.push_back(entry.first);
            return entry.second == self;
        });
    };
    all["a"] = at.wheel.schedule(10ms, expire);
    all["b"] = at.wheel.schedule(20ms, asio::bind_executor(strand, [&](manual_token self) {
                                     CHECK(strand.running_in_this_thread());
                                     CHECK(self.state() == timer_state::fired);
                                     expire(self);
                                 }));
    all["c"] = at.wheel.schedule(manual_clock::now() + 30ms, expire, on_cancel([&] { gone.push_back("cancelled"); }));
    at.pass(60ms);
    CHECK(gone == std::vector<std::string>{"a", "b", "c"});
    CHECK(all.empty());
    at.wheel.schedule(10ms, std::function<void(manual_token)>(expire)); // a copy that the wheel owns
    at.pass(30ms);
}

TEST_CASE("stop_tells_the_tokens_that_it_cancels") {
    virtual_wheel at;
    std::map<std::string, manual_token> all{{"a", at.wheel.schedule(10ms, [] {})},
                                            {"b", at.wheel.schedule(20ms, [] {})}};
    at.wheel.async_wait(30ms, [](std::error_code) {});
    std::size_t waits = 0;
    at.wheel.stop([&](manual_clock::time_point expiry, manual_token t) {
        const auto gone = std::erase_if(all, [&](const auto& entry) { return entry.second == t; });
        waits += gone == 0 ? 1 : 0;
        CHECK(expiry > manual_clock::now());
    });
    CHECK(all.empty());
    CHECK(waits == 1);
    at.run();
}

TEST_CASE("schedule_all_starts_a_batch_from_one_reading_of_the_clock") {
    virtual_wheel at({.tick = 1ms, .max_pending = 3});
    std::vector<int> ran;
    const auto owned = std::make_shared<int>();
    std::vector<std::pair<std::chrono::milliseconds, std::function<void()>>> batch;
    for (int i = 0; i < 5; ++i)
        batch.emplace_back(std::chrono::milliseconds(10 * (i + 1)), [&ran, i, owned] { ran.push_back(i); });
    std::error_code ec;
    const std::vector<manual_token> tokens = at.wheel.schedule_all(batch, ec);
    CHECK(tokens.size() == 3);
    CHECK(ec == errc::too_many_timers);
    CHECK(at.wheel.stats().rejected == 1);
    CHECK(owned.use_count() == 1 + 5); // moved, not copied
    CHECK(batch[4].second);
    at.pass(25ms);
    CHECK(ran == std::vector<int>{0, 1});
    CHECK(tokens[2].pending());

    const auto one = [&](manual_token) { ran.push_back(9); };
    std::deque<std::tuple<std::chrono::seconds, decltype(one)>> few{{1s, one}, {2s, one}};
    CHECK(at.wheel.schedule_all(std::move(few), ec).size() == 2);
    CHECK_FALSE(ec);
    CHECK(counts_agree(at.wheel.stats()));
}

TEST_CASE("batch_that_is_computed_may_use_the_wheel") {
    virtual_wheel at;
    std::vector<manual_token> tokens;
    const auto delay_and_callable = [&](int i) {
        CHECK(at.wheel.pending() == tokens.size() + static_cast<std::size_t>(i)); // needs the lock
        return std::pair(std::chrono::milliseconds(i + 1), [] {});
    };
    SUBCASE("transformed") {
        tokens = at.wheel.schedule_all(std::views::iota(0, 3) | std::views::transform(delay_and_callable));
    }
    SUBCASE("transformed, refused by the wheel in the middle") {
        virtual_wheel full({.max_pending = 2});
        const auto in_full = [&](int i) {
            CHECK(full.wheel.pending() == std::min<std::size_t>(2, static_cast<std::size_t>(i)));
            return std::pair(1s, [] {});
        };
        std::error_code ec;
        CHECK(full.wheel.schedule_all(std::views::iota(0, 4) | std::views::transform(in_full), ec).size() == 2);
        CHECK(ec == errc::too_many_timers);
        for (int i = 0; i < 3; ++i) tokens.push_back(at.wheel.schedule(1s, [] {}));
    }
    CHECK(at.wheel.pending() == 3);
    CHECK(counts_agree(at.wheel.stats()));
}

TEST_CASE("timer_state_has_names") {
    check_names<timer_state>({{timer_state::pending, "pending"},
                              {timer_state::fired, "fired"},
                              {timer_state::cancelled, "cancelled"},
                              {timer_state::stale, "stale"}});
}
