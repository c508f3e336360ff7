// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Completion tokens other than handlers and coroutines: a wait adapts to each.
#include "support/asio/every_wait.hpp"
#include "support/asio/handler_archetypes.hpp"
#include "support/asio_versions.hpp"

#include <asio/detached.hpp>
#include <asio/experimental/as_single.hpp>
#include <asio/experimental/parallel_group.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_future.hpp>

#include <array>
#include <future>
#include <tuple>

#if ASIO_VERSION >= 102500
#include <asio/append.hpp>
#include <asio/consign.hpp>
#include <asio/prepend.hpp>
#endif

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

bool ready(const std::future<void>& f) { return f.wait_for(0s) == std::future_status::ready; }

/// A token of its own, after Asio's: the initiating function returns what this token says.
struct archetype_token {
    bool* done;
};
struct archetype_result {
    int value;
};

} // namespace

template <>
class asio::async_result<archetype_token, void(std::error_code)> {
public:
    template <class Initiation, class... Args>
    static archetype_result initiate(Initiation&& initiation, archetype_token token, Args&&... args) {
        std::forward<Initiation>(initiation)(must_complete({}, token.done), std::forward<Args>(args)...);
        return {42};
    }
};

TEST_CASE_TEMPLATE("archetype_token_decides_handler_and_result", W, EVERY_WAIT) {
    W w;
    bool done = false;
    const auto result = w.wait(10ms, archetype_token{&done});
    static_assert(std::is_same_v<decltype(result), const archetype_result>);
    CHECK(result.value == 42);
    w.pass(10ms);
    CHECK(done);
}

TEST_CASE_TEMPLATE("handler_token_returns_void", W, EVERY_WAIT) {
    W w;
    static_assert(std::is_void_v<decltype(w.wait(10ms, must_complete()))>);
    w.wait(10ms, must_complete());
    w.pass(10ms);
}

TEST_CASE_TEMPLATE("use_future_success_future_is_ready", W, EVERY_WAIT) {
    W w;
    std::future<void> f = w.wait(10ms, asio::use_future);
    w.run();
    CHECK_FALSE(ready(f));
    w.pass(10ms);
    REQUIRE(ready(f));
    CHECK_NOTHROW(f.get());
}

TEST_CASE_TEMPLATE("use_future_aborted_future_throws_operation_aborted", W, EVERY_WAIT) {
    W w;
    std::future<void> f = w.wait(10ms, asio::use_future);
    w.wheel.cancel_all();
    w.run();
    REQUIRE(ready(f));
    try {
        f.get();
        FAIL("no exception");
    } catch (const std::system_error& e) {
        CHECK(e.code() == asio::error::operation_aborted);
    }
}

TEST_CASE_TEMPLATE("use_future_context_destroyed_promise_is_broken", W, EVERY_WAIT) {
    std::future<void> f;
    {
        W w;
        f = w.wait(10ms, asio::use_future);
    }
    CHECK_THROWS_AS(f.get(), std::future_error);
}

TEST_CASE_TEMPLATE("as_tuple_of_handler_result_is_one_tuple", W, EVERY_WAIT) {
    W w;
    bool done = false;
    w.wait(10ms, as_tuple([&](std::tuple<std::error_code> result) {
               CHECK(std::get<0>(result) == asio::error::operation_aborted);
               done = true;
           }));
    w.wheel.cancel_all();
    w.run();
    CHECK(done);
}

TEST_CASE_TEMPLATE("as_single_of_handler_result_is_the_error", W, EVERY_WAIT) {
    W w;
    bool done = false;
    w.wait(10ms, asio::experimental::as_single(must_complete({}, &done)));
    w.pass(10ms);
    CHECK(done);
}

TEST_CASE_TEMPLATE("redirect_error_of_future_error_is_assigned", W, EVERY_WAIT) {
    W w;
    std::error_code ec;
    std::future<void> f = w.wait(10ms, asio::redirect_error(asio::use_future, ec));
    w.wheel.cancel_all();
    w.run();
    CHECK_NOTHROW(f.get());
    CHECK(ec == asio::error::operation_aborted);
}

TEST_CASE_TEMPLATE("detached_timer_fires_unobserved", W, EVERY_WAIT) {
    W w;
    w.wait(10ms, asio::detached);
    CHECK(w.wheel.pending() == 1);
    w.pass(10ms);
    CHECK(w.wheel.stats().fired == 1);
}

TEST_CASE_TEMPLATE("deferred_starts_when_it_is_launched", W, EVERY_WAIT) {
    W w;
    auto operation = w.wait(10ms, deferred);
    w.run();
    if constexpr (!requires { w.timers; }) w.pass(1s); // a timer has its expiry, a wheel's delay counts from the launch
    CHECK(w.wheel.pending() == 0);
    bool done = false;
    std::move(operation)(must_complete({}, &done));
    CHECK(w.wheel.pending() == 1);
    w.pass(9ms);
    CHECK_FALSE(done);
    w.pass(1ms);
    CHECK(done);
}

TEST_CASE_TEMPLATE("deferred_never_launched_nothing_starts", W, EVERY_WAIT) {
    W w;
    {
        [[maybe_unused]] auto operation = w.wait(10ms, deferred);
    }
    w.pass(1s);
    CHECK(w.wheel.stats().scheduled == 0);
}

TEST_CASE_TEMPLATE("deferred_chained_continues_after_the_wait", W, EVERY_WAIT) {
    W w;
    auto two = w.wait(10ms, deferred([&](std::error_code ec) {
                          CHECK_FALSE(ec);
                          return w.wait(20ms, deferred);
                      }));
    bool done = false;
    std::move(two)(must_complete({}, &done));
    w.pass(10ms);
    w.pass(19ms);
    CHECK_FALSE(done);
    w.pass(1ms);
    CHECK(done);
}

#if ASIO_VERSION >= 102300
TEST_CASE_TEMPLATE("deferred_invoked_again_starts_another_wait", W, EVERY_WAIT) {
    W w;
    const auto operation = w.wait(10ms, deferred);
    bool done[2] = {};
    for (bool& d : done) operation(must_complete({}, &d));
    w.pass(10ms);
    CHECK(done[0]);
    CHECK(done[1]);
}
#endif

TEST_CASE_TEMPLATE("parallel_group_wait_for_one_loser_is_aborted", W, EVERY_WAIT) {
    W w;
    bool done = false;
    asio::experimental::make_parallel_group(w.wait(30ms, deferred), w.wait(10ms, deferred))
        .async_wait(asio::experimental::wait_for_one(),
                    [&](std::array<std::size_t, 2> order, std::error_code slow, std::error_code fast) {
                        CHECK(order == std::array<std::size_t, 2>{1, 0});
                        CHECK(slow == asio::error::operation_aborted);
                        CHECK_FALSE(fast);
                        done = true;
                    });
    w.pass(10ms);
    CHECK(done);
    CHECK(w.wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("parallel_group_wait_for_all_both_succeed", W, EVERY_WAIT) {
    W w;
    bool done = false;
    asio::experimental::make_parallel_group(w.wait(30ms, deferred), w.wait(10ms, deferred))
        .async_wait(asio::experimental::wait_for_all(),
                    [&](std::array<std::size_t, 2>, std::error_code slow, std::error_code fast) {
                        CHECK_FALSE(slow);
                        CHECK_FALSE(fast);
                        done = true;
                    });
    w.pass(10ms);
    CHECK_FALSE(done);
    w.pass(20ms);
    CHECK(done);
}

#if ASIO_VERSION >= 102500
TEST_CASE_TEMPLATE("append_prepend_consign_pass_their_values", W, EVERY_WAIT) {
    W w;
    int sum = 0;
    w.wait(10ms, asio::append([&](std::error_code, int value) { sum += value; }, 1));
    w.wait(10ms, asio::prepend([&](int value, std::error_code) { sum += value; }, 2));
    auto kept = std::make_shared<int>(4);
    w.wait(10ms, asio::consign([&](std::error_code) { sum += *kept; }, kept));
    CHECK(kept.use_count() == 2);
    w.pass(10ms);
    CHECK(sum == 7);
    CHECK(kept.use_count() == 1);
}
#endif
