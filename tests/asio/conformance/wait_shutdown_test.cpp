// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The end of a wheel and of its context with waits pending: aborted by the one, destroyed uninvoked by the other.
#include "support/asio/every_wait.hpp"
#include "support/asio/handler_archetypes.hpp"

#include <asio/bind_executor.hpp>
#include <asio/steady_timer.hpp>
#include <asio/strand.hpp>

#include <memory>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

/// Runs nothing, and shuts its services down when it is told to.
struct eager_context : asio::execution_context {
    using asio::execution_context::shutdown;

    struct executor_type {
        eager_context* where;

        asio::execution_context& query(asio::execution::context_t) const noexcept { return *where; }
        static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
            return asio::execution::blocking.never;
        }
        template <class F>
        void execute(F&&) const {}
        friend bool operator==(const executor_type&, const executor_type&) noexcept = default;
    };
};

} // namespace

TEST_CASE_TEMPLATE("context_destroyed_with_waits_pending_handlers_are_destroyed_uninvoked", W, EVERY_WAIT) {
    int destroyed = 0;
    {
        W w;
        for (int i = 0; i < 4; ++i) w.wait(i * 10ms, must_not_run(&destroyed));
        w.wait(1h, must_not_run(&destroyed));
        CHECK(destroyed == 0);
    }
    CHECK(destroyed == 5);
}

TEST_CASE_TEMPLATE("context_destroyed_expired_aborted_and_refused_are_destroyed_uninvoked", W, EVERY_WAIT) {
    int destroyed = 0;
    {
        W w;
        w.wait(1h, must_not_run(&destroyed));
        CHECK(w.wheel.cancel_all() == 1);
        w.wait(10ms, must_not_run(&destroyed));
        manual_clock::advance(10ms); // the turn is posted
        w.wheel.stop();
        w.wait(10ms, must_not_run(&destroyed));
    }
    CHECK(destroyed == 3);
}

TEST_CASE_TEMPLATE("context_destroyed_handler_owns_the_wheel_it_waits_on", W, EVERY_WAIT) {
    // The wheel, and the timer where there is one, die inside the shutdown of their own service.
    int destroyed = 0;
    {
        asio::io_context io;
        struct owned {
            typename W::wheel_type wheel;
            std::list<timer_on<typename W::wheel_type>> timers;
            explicit owned(asio::io_context& c) : wheel(c) {}
        };
        auto all = std::make_shared<owned>(io);
        auto handler = [all, no = must_not_run(&destroyed)](std::error_code ec) { no(ec); };
        if constexpr (requires(W w) { w.timers; })
            all->timers.emplace_back(all->wheel, 1h).async_wait(std::move(handler));
        else
            all->wheel.async_wait(1h, std::move(handler));
    }
    CHECK(destroyed == 1);
}

TEST_CASE_TEMPLATE("context_destroyed_handler_bound_to_a_strand_younger_than_the_service", W, EVERY_WAIT) {
    int destroyed = 0;
    {
        W w;
        w.wait(1h, asio::bind_executor(asio::make_strand(w.io), must_not_run(&destroyed)));
    }
    CHECK(destroyed == 1);
}

TEST_CASE_TEMPLATE("context_destroyed_clock_turned_afterwards_is_harmless", W, EVERY_WAIT) {
    {
        W w;
        w.wait(10ms, must_not_run());
    }
    manual_clock::advance(1h);
}

TEST_CASE("service_shut_down_twice_is_harmless") {
    // Asio does so from 1.27 on; before, a context that shuts down once more than it must.
    int destroyed = 0;
    {
        eager_context context;
        testing::manual_timer_wheel wheel(asio::any_io_executor(eager_context::executor_type{&context}));
        basic_wheel_timer timer(wheel, 1h);
        timer.async_wait(must_not_run(&destroyed));
        wheel.async_wait(1h, must_not_run(&destroyed));
        context.shutdown();
        CHECK(destroyed == 2);
        context.shutdown();
        timer.async_wait(must_not_run(&destroyed));
        wheel.async_wait(1h, must_not_run(&destroyed));
        CHECK(destroyed == 4);
    }
}

TEST_CASE_TEMPLATE("wheel_destroyed_with_waits_pending_each_is_aborted", W, EVERY_WAIT) {
    W w;
    bool aborted[5] = {};
    for (bool& a : aborted) w.wait(1h, must_abort(&a));
    w.wheel = typename W::wheel_type(w.io);
    for (const bool a : aborted) CHECK_FALSE(a);
    w.run();
    for (const bool a : aborted) CHECK(a);
    w.pass(2h);
    CHECK(w.io.stopped());
}

TEST_CASE_TEMPLATE("wheel_destroyed_in_a_handler_the_rest_of_the_batch_is_aborted", W, EVERY_WAIT) {
    W w;
    int succeeded = 0, aborted = 0;
    for (int i = 0; i < 5; ++i)
        w.wait(i < 3 ? 10ms : 1h, [&](std::error_code ec) {
            if (ec == asio::error::operation_aborted) ++aborted;
            if (ec) return;
            ++succeeded;
            w.wheel = typename W::wheel_type(w.io);
        });
    w.pass(10ms);
    CHECK(succeeded == 1);
    CHECK(aborted == 4);
}

TEST_CASE_TEMPLATE("real_clock_context_destroyed_handlers_own_everything", Locking, multi_threaded, single_threaded) {
    int destroyed = 0;
    {
        asio::io_context io;
        using wheel_type = basic_timer_wheel<std::chrono::steady_clock, Locking>;
        auto wheel = std::make_shared<wheel_type>(io);
        auto timer = std::make_shared<timer_on<wheel_type>>(*wheel, 1h);
        timer->async_wait([wheel, timer, no = must_not_run(&destroyed)](std::error_code ec) { no(ec); });
        wheel->async_wait(1h, [wheel, timer, no = must_not_run(&destroyed)](std::error_code ec) { no(ec); });
        auto other = std::make_shared<asio::steady_timer>(io, 1h);
        other->async_wait([other, wheel, timer](std::error_code) { FAIL("ran"); });
        io.poll();
    }
    CHECK(destroyed == 2);
}
