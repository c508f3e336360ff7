// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Handlers whose executor is none of a loop: those of futures, inline ones, type-erased ones. Nothing of a retry, a
// hedge or a timeout runs on a thread of Asio's system context, and coroutines compile with each of them.
#include "support/resilience/hedge_rig.hpp"
#include "support/resilience/retry_rig.hpp"

#include <asio/bind_executor.hpp>
#include <asio/prefer.hpp>
#include <asio/strand.hpp>
#include <asio/system_executor.hpp>
#include <asio/use_future.hpp>
#if __has_include(<asio/any_completion_executor.hpp>)
#include <asio/any_completion_executor.hpp>
#endif

#include <concepts>
#include <functional>
#include <future>
#include <memory>
#include <thread>
#include <vector>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

/// As asio::inline_executor of newer releases.
struct inline_executor {
    static asio::system_context& query(asio::execution::context_t) noexcept {
        return asio::query(asio::system_executor(), asio::execution::context);
    }
    static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
        return asio::execution::blocking.always;
    }
    template <class F>
    void execute(F&& f) const {
        std::decay_t<F>(std::forward<F>(f))();
    }
    friend bool operator==(const inline_executor&, const inline_executor&) noexcept = default;
};

const auto this_thread = [] { return std::this_thread::get_id(); };

/// Fails without a call of its handler: by an exception of its start, or by a post to the handler's executor.
struct failing_at_once {
    bool posts;

    template <class Token>
    auto operator()(Token token) const {
        if (!posts) throw std::system_error(asio::error::connection_refused);
        return asio::async_initiate<Token, void(std::error_code)>(
            [](auto handler) {
                // The handler moves in the next line. Not all of these executors can be posted to: then here and now.
                const auto executor =
                    asio::prefer(asio::get_associated_executor(handler), asio::execution::blocking.never);
                detail::execute_on(executor, [h = std::move(handler)]() mutable {
                    std::move(h)(make_error_code(asio::error::connection_refused));
                });
            },
            token);
    }
};

/// Each kind of handler, by visit(bind).
template <class F>
void with_each_handler(asio::io_context& io, F visit) {
    SUBCASE("future") {
        visit([](auto) { return asio::use_future; });
    }
    SUBCASE("system executor") {
        visit([](auto f) { return asio::bind_executor(asio::system_executor(), f); });
    }
    SUBCASE("inline executor") {
        visit([](auto f) { return asio::bind_executor(inline_executor(), f); });
    }
    SUBCASE("strand, erased") {
        auto strand = asio::make_strand(io);
        visit([strand](auto f) { return asio::bind_executor(asio::any_io_executor(strand), f); });
    }
#if __has_include(<asio/any_completion_executor.hpp>)
    SUBCASE("strand, erased to what a completion needs") {
        auto strand = asio::make_strand(io);
        visit([strand](auto f) { return asio::bind_executor(asio::any_completion_executor(strand), f); });
    }
#endif
}

} // namespace

TEST_CASE("retry_predicate_runs_in_the_loop_whatever_the_handlers_executor") {
    asio::io_context io;
    manual_timer_wheel wheel(io);
    const bool posts = [] {
        bool p = false;
        SUBCASE("attempt throws") {}
        SUBCASE("attempt posts its end") { p = true; }
        return p;
    }();
    with_each_handler(io, [&](auto bind) {
        std::promise<std::thread::id> where;
        auto policy = doubling();
        policy.retryable = [&](const std::error_code&) {
            where.set_value(this_thread());
            return false;
        };
        async_retry(wheel, policy, failing_at_once{posts}, bind([](std::error_code, const retry_result&) {}));
        auto asked = where.get_future();
        run_ready(io);
        CHECK(asked.get() == this_thread());
    });
}

TEST_CASE("hedge_attempts_start_in_the_loop_whatever_the_handlers_executor") {
    asio::io_context io;
    manual_timer_wheel wheel(io);
    with_each_handler(io, [&](auto bind) {
        std::promise<std::thread::id> where;
        async_hedge(
            wheel, 10ms,
            [&](hedge_attempt& attempt, auto token) {
                if (attempt.number() == 2) where.set_value(this_thread());
                return failing_at_once{true}(std::move(token));
            },
            bind([](std::error_code, const hedge_result&) {}));
        auto second = where.get_future();
        run_ready(io);
        CHECK(second.get() == this_thread());
        run_ready(io);
    });
}

TEST_CASE("timeout_cancels_on_the_operations_executor_whatever_the_handlers_executor") {
    asio::io_context io;
    manual_timer_wheel wheel(io);
    auto strand = asio::make_strand(io);
    with_each_handler(io, [&](auto bind) {
        scripted_read read{asio::any_io_executor(strand)};
        const auto loop = this_thread();
        bool cancelled = false, on_strand = false;
        read.on_cancel = [&](asio::cancellation_type) {
            CHECK(this_thread() == loop);
            cancelled = true;
            on_strand = strand.running_in_this_thread();
            read.complete(asio::error::operation_aborted, 0);
        };
        read.async_run(timeout(wheel, 10ms, bind([](std::error_code, std::size_t) {})));
        pass(io, 10ms);
        CHECK(cancelled);
        using handler = decltype(bind([] {}));
        CHECK(on_strand == detail::runs_anywhere<asio::associated_executor_t<handler, inline_executor>>);
    });
}

namespace {

/// Of no context of Asio: that of a window, for instance.
struct window_executor {
    std::vector<std::function<void()>>* queue;

    static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
        return asio::execution::blocking.never;
    }
    template <class F>
    void execute(F f) const {
        queue->push_back([f = std::make_shared<F>(std::move(f))] { (*f)(); });
    }
    friend bool operator==(const window_executor&, const window_executor&) noexcept = default;
};

} // namespace

TEST_CASE("steps_run_on_an_executor_that_serialises_them_whatever_its_context") {
    static_assert(!detail::runs_anywhere<asio::strand<asio::system_executor>>);
    CHECK_FALSE(detail::runs_anywhere<window_executor>);
    static_assert(!detail::runs_anywhere<asio::any_io_executor>);
    static_assert(detail::runs_anywhere<asio::system_executor>);
    static_assert(detail::runs_anywhere<inline_executor>);
    asio::io_context io;
    manual_timer_wheel wheel(io);
    std::vector<std::function<void()>> window;
    bool asked = false, done = false;
    auto policy = doubling();
    policy.retryable = [&](const std::error_code&) { return asked = true, false; };
    async_retry(
        wheel, policy, failing_at_once{false},
        asio::bind_executor(window_executor{&window}, [&](std::error_code, const retry_result&) { done = true; }));
    run_ready(io);
    CHECK_FALSE(asked);
    while (!window.empty()) {
        auto now = std::move(window);
        window.clear();
        for (auto& f : now) f();
        run_ready(io);
    }
    CHECK(asked);
    CHECK(done);
}

#ifdef ASIO_HAS_CO_AWAIT
TEST_CASE("coroutine_of_an_attempt_runs_in_the_loop_whatever_the_handlers_executor") {
    asio::io_context io;
    manual_timer_wheel wheel(io);
    with_each_handler(io, [&](auto bind) {
        int runs = 0;
        const auto loop = this_thread();
        const auto attempt = [&]() -> asio::awaitable<int> {
            CHECK(this_thread() == loop);
            ++runs;
            co_return 7;
        };
        async_retry(wheel, doubling(), attempt, bind([](std::exception_ptr, const retry_result&, int) {}));
        async_hedge(wheel, 10ms, attempt, bind([](std::exception_ptr, const hedge_result&, int) {}));
        run_ready(io);
        CHECK(runs == 2);
    });
}
#endif
