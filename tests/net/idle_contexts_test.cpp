// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A monitor or stream at home on another context than the wheel's. Home may go first, whatever has happened to the
// wheel.
#include "support/asio/discarding_executor.hpp"
#include "support/asio/failing_executor.hpp"
#include "support/asio/handler_archetypes.hpp"
#include "support/net/idle_rig.hpp"

#include <cogwheel/asio/timer_wheel.hpp>
#include <cogwheel/net/idle_stream.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/execution.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/require.hpp>
#include <asio/strand.hpp>
#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <new>
#include <optional>
#include <thread>
#include <vector>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

enum class event { none, timers_cancelled, wheel_stopped, wheel_destroyed, limit_expired, limit_about_to_expire };
constexpr event happenings[] = {event::none,          event::timers_cancelled,
                                event::wheel_stopped, event::wheel_destroyed,
                                event::limit_expired, event::limit_about_to_expire};

/// Fails if it is invoked; `destroyed` counts its end.
struct must_not_hear {
    must_not_run no;
    std::shared_ptr<void> owned;

    explicit must_not_hear(int& destroyed, std::shared_ptr<void> o = {}) : no(&destroyed), owned(std::move(o)) {}
    void operator()(std::error_code ec, const idle_event&) const { no(ec); }
    void operator()(const idle_event&) const { no(); }
};

/// Demands nothing of its context, which may go first.
struct quiet_stream {
    using executor_type = asio::any_io_executor;
    using lowest_layer_type = quiet_stream;

    executor_type executor;

    explicit quiet_stream(const executor_type& e) : executor(e) {}
    executor_type get_executor() const noexcept { return executor; }
    lowest_layer_type& lowest_layer() noexcept { return *this; }
    void close(std::error_code& ec) noexcept { ec.clear(); }
};

/// Takes its time to queue something: until its context is gone, if that does not wait.
class lingering_executor {
public:
    struct record {
        std::atomic<bool> inside = false, gone = false;
    };

    lingering_executor(asio::io_context& io, record& r) : io_(&io), record_(&r) {}

    asio::execution_context& query(asio::execution::context_t) const noexcept { return *io_; }
    static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
        return asio::execution::blocking.never;
    }
    template <class F>
    void execute(F&& f) const {
        record_->inside = true;
        for (int i = 0; i < 10'000 && !record_->gone; ++i) std::this_thread::yield();
        CHECK_FALSE(record_->gone);
        if (record_->gone) return;
        asio::any_io_executor(asio::require(io_->get_executor(), asio::execution::blocking.never))
            .execute(std::forward<F>(f));
    }

    friend bool operator==(const lingering_executor& a, const lingering_executor& b) noexcept = default;

private:
    asio::io_context* io_;
    record* record_;
};

/// At its end it asks again.
template <class Wheel>
struct asking_again {
    std::shared_ptr<idle_monitor<Wheel>> idle;
    int* destroyed;

    asking_again(std::shared_ptr<idle_monitor<Wheel>> i, int& d) : idle(std::move(i)), destroyed(&d) {}
    asking_again(asking_again&&) = default;
    ~asking_again() {
        if (idle == nullptr) return;
        CHECK_FALSE(idle->waiting());
        idle->async_idle(must_not_hear(*destroyed));
        CHECK_FALSE(idle->waiting());
    }
    void operator()(std::error_code, const idle_event&) const { FAIL_CHECK("ran"); }
};

template <class Wheel>
struct two_contexts {
    asio::io_context io;
    std::optional<Wheel> wheel{std::in_place, io, wheel_options{.tick = 1ms}};
    std::unique_ptr<asio::io_context> home = std::make_unique<asio::io_context>();
    int destroyed = 0;

    /// Objects keep a copy, and one of a strand has to go before its context.
    asio::any_io_executor executor(bool strand) {
        return strand ? asio::any_io_executor(asio::make_strand(*home)) : asio::any_io_executor(home->get_executor());
    }
    void happen(event what) {
        if (what == event::timers_cancelled) wheel->cancel_all();
        if (what == event::wheel_stopped) wheel->stop();
        if (what == event::wheel_destroyed) wheel.reset();
        if (what == event::limit_expired) pass(io, 10s);
        if (what == event::limit_about_to_expire) manual_clock::advance(10s);
    }
    /// What is left of it in the wheel is nothing.
    void check_rest() {
        run_ready(io);
        CHECK(destroyed == 1);
        wheel.reset();
        run_ready(io);
        wheel.emplace(io); // has the body of the first
        CHECK(wheel->pending() == 0);
    }
    /// The two go in one order or the other.
    template <class Object>
    void destroy(Object& object, bool object_first) {
        if (object_first) object.reset();
        home.reset();
        CHECK(destroyed == 1);
        if (wheel) CHECK(wheel->pending() == 0);
        run_ready(io); // with what the wheel still knows of it
        object.reset();
        check_rest();
    }
};

} // namespace

TEST_CASE_TEMPLATE("monitors_context_destroyed_before_the_wheels_turns_again", Wheel, BOTH_WHEELS) {
    for (const event what : happenings) {
        for (const bool object_first : {true, false}) {
            CAPTURE(static_cast<int>(what));
            CAPTURE(object_first);
            two_contexts<Wheel> c;
            std::optional<idle_monitor<Wheel>> idle(std::in_place, *c.wheel, c.executor(object_first),
                                                    idle_timeouts{.reader = 10s});
            idle->async_idle(must_not_hear(c.destroyed));
            c.happen(what);
            c.destroy(idle, object_first);
        }
    }
}

TEST_CASE_TEMPLATE("streams_context_destroyed_before_the_wheels_turns_again", Wheel, BOTH_WHEELS) {
    for (const event what : happenings) {
        for (const bool object_first : {true, false}) {
            CAPTURE(static_cast<int>(what));
            CAPTURE(object_first);
            two_contexts<Wheel> c;
            std::optional<idle_stream<quiet_stream, Wheel>> stream(
                std::in_place, *c.wheel, idle_timeouts{.reader = 10s}, c.executor(object_first));
            stream->close_when_idle(must_not_hear(c.destroyed));
            c.happen(what);
            c.destroy(stream, object_first);
        }
    }
}

TEST_CASE_TEMPLATE("socket_goes_with_its_context_by_its_own_handler", Wheel, BOTH_WHEELS) {
    for (const event what : happenings) {
        CAPTURE(static_cast<int>(what));
        two_contexts<Wheel> c;
        using stream_type = idle_stream<asio::ip::tcp::socket, Wheel>;
        auto stream = std::make_shared<stream_type>(*c.wheel, idle_timeouts{.reader = 10s}, c.executor(true));
        auto& s = *stream;
        s.async_idle(must_not_hear(c.destroyed, std::move(stream)));
        c.happen(what);
        c.home.reset();
        c.check_rest();
    }
}

TEST_CASE_TEMPLATE("monitors_context_destroyed_after_a_cancel_and_another_wait", Wheel, BOTH_WHEELS) {
    for (const event what : happenings) {
        CAPTURE(static_cast<int>(what));
        two_contexts<Wheel> c;
        auto idle = std::make_shared<idle_monitor<Wheel>>(*c.wheel, c.executor(true), idle_timeouts{.reader = 10s});
        int cancelled = 0;
        idle->async_idle(must_not_hear(cancelled));
        idle->cancel(); // its end waits for a turn
        auto& monitor = *idle;
        monitor.async_idle(must_not_hear(c.destroyed, std::move(idle)));
        c.happen(what);
        c.home.reset();
        CHECK(cancelled == 1);
        c.check_rest();
    }
}

TEST_CASE_TEMPLATE("each_of_two_waits_that_are_in_the_wheel_at_once_ends", Wheel, BOTH_WHEELS) {
    two_contexts<Wheel> c;
    idle_monitor<Wheel> idle(*c.wheel, c.executor(true), idle_timeouts{.reader = 10s});
    idle_log first, second;
    idle.async_idle(first.handler());
    idle.cancel();
    idle.async_idle(second.handler());
    run_ready(c.io);
    run_ready(*c.home);
    REQUIRE(first.size() == 1);
    CHECK(first.last_error() == asio::error::operation_aborted);
    CHECK(second.size() == 0);
    idle_monitor<Wheel> moved(std::move(idle));
    pass(c.io, 10s);
    run_ready(*c.home);
    CHECK(first.size() == 1);
    REQUIRE(second.size() == 1);
    CHECK_FALSE(second.last_error());
}

TEST_CASE_TEMPLATE("monitor_elsewhere_looks_again_until_it_is_idle", Wheel, BOTH_WHEELS) {
    two_contexts<Wheel> c;
    idle_monitor<Wheel> idle(*c.wheel, c.executor(true), idle_timeouts{.reader = 10s});
    idle_log log;
    asio::cancellation_signal signal;
    for (const bool cancels : {false, true}) {
        idle.reset();
        idle.async_idle(asio::bind_cancellation_slot(signal.slot(), log.handler()));
        for (int i = 0; i < 3; ++i) {
            pass(c.io, 9s);
            run_ready(*c.home);
            idle.touch();
        }
        CHECK(c.wheel->pending() == 1);
        CHECK(log.size() == 0);
        if (cancels) signal.emit(asio::cancellation_type::terminal);
        pass(c.io, 10s);
        CHECK(log.size() == 0);
        run_ready(*c.home);
        REQUIRE(log.size() == 1);
        CHECK(log.last_error() == (cancels ? asio::error::operation_aborted : std::error_code()));
        log.entries.clear();
    }
    c.wheel->stop();
    idle.reset();
    idle.async_idle(log.handler());
    run_ready(c.io);
    run_ready(*c.home);
    REQUIRE(log.size() == 1);
    CHECK(log.last_error() == errc::stopped);
}

TEST_CASE_TEMPLATE("run_of_the_monitors_context_waits_for_the_event", Wheel, BOTH_WHEELS) {
    two_contexts<Wheel> c;
    idle_monitor<Wheel> idle(*c.wheel, c.executor(true), idle_timeouts{.reader = 10s});
    idle_log log;
    idle.async_idle(log.handler());
    run_ready(*c.home);
    CHECK_FALSE(c.home->stopped());
    pass(c.io, 10s);
    run_ready(*c.home);
    CHECK(log.size() == 1);
    CHECK(c.home->stopped());
}

TEST_CASE_TEMPLATE("destroyed_handler_may_still_wait_and_is_destroyed", Wheel, BOTH_WHEELS) {
    two_contexts<Wheel> c;
    auto idle = std::make_shared<idle_monitor<Wheel>>(*c.wheel, c.executor(true), idle_timeouts{.reader = 10s});
    auto& monitor = *idle;
    monitor.async_idle(asking_again<Wheel>(std::move(idle), c.destroyed));
    c.home.reset();
    c.check_rest();
}

TEST_CASE_TEMPLATE("wheels_context_destroyed_first_the_handler_is_destroyed_uncalled", Wheel, BOTH_WHEELS) {
    asio::io_context home;
    int destroyed = 0;
    {
        asio::io_context io;
        Wheel wheel(io);
        auto idle = std::make_shared<idle_monitor<Wheel>>(wheel, asio::make_strand(home), idle_timeouts{.reader = 10s});
        auto& monitor = *idle;
        monitor.async_idle(asking_again<Wheel>(std::move(idle), destroyed));
    }
    CHECK(destroyed == 1);
}

TEST_CASE_TEMPLATE("no_way_home_for_now_the_event_comes_with_a_later_turn", Wheel, BOTH_WHEELS) {
    for (const bool home_goes : {false, true}) {
        CAPTURE(home_goes);
        two_contexts<Wheel> c;
        bool fail = false;
        idle_monitor<Wheel> idle(*c.wheel, failing_executor(*c.home, fail), {.reader = 10s});
        idle_log log;
        if (home_goes)
            idle.async_idle(must_not_hear(c.destroyed));
        else
            idle.async_idle(log.handler());
        fail = true;
        CHECK_THROWS_AS(pass(c.io, 10s), std::bad_alloc);
        CHECK_THROWS_AS(run_ready(c.io), std::bad_alloc);
        CHECK(log.size() == 0);
        CHECK(idle.waiting());
        if (home_goes) c.home.reset();
        fail = false;
        run_ready(c.io);
        if (!home_goes) run_ready(*c.home);
        CHECK(log.size() == (home_goes ? 0 : 1));
        CHECK(c.destroyed == (home_goes ? 1 : 0));
        CHECK_FALSE(log.last_error());
        CHECK_FALSE(idle.waiting());
    }
}

TEST_CASE_TEMPLATE("close_when_idle_calls_on_the_callables_executor", Wheel, BOTH_WHEELS) {
    two_contexts<Wheel> c;
    std::optional<idle_stream<quiet_stream, Wheel>> stream(std::in_place, *c.wheel, idle_timeouts{.reader = 10s},
                                                           c.io.get_executor());
    std::optional<std::chrono::nanoseconds> idle_for;
    stream->close_when_idle(asio::bind_executor(*c.home, [&](const idle_event& e) {
        idle_for = e.idle_for;
        stream.reset();
    }));
    pass(c.io, 10s);
    CHECK_FALSE(idle_for);
    run_ready(*c.home);
    CHECK(idle_for == 10s);
    CHECK_FALSE(stream);
}

TEST_CASE_TEMPLATE("executor_destroys_the_event_the_monitor_may_wait_again", Wheel, BOTH_WHEELS) {
    using discarding = discarding_executor;
    for (const auto how : {discarding::when_its_time_comes, discarding::at_once}) {
        two_contexts<Wheel> c;
        auto discard = discarding::nothing;
        idle_monitor<Wheel> idle(*c.wheel, discarding(*c.home, discard), {.reader = 10s});
        idle_log log;
        asio::cancellation_signal signal;
        idle.async_idle(asio::bind_cancellation_slot(signal.slot(), must_not_hear(c.destroyed)));
        discard = how;
        pass(c.io, 10s);
        run_ready(*c.home);
        CHECK(c.destroyed == 1);
        CHECK_FALSE(idle.waiting());
        signal.emit(asio::cancellation_type::terminal); // names nothing
        discard = discarding::nothing;
        idle.touch();
        idle.async_idle(log.handler());
        pass(c.io, 10s);
        run_ready(*c.home);
        CHECK(log.size() == 1);
        CHECK_FALSE(log.last_error());
    }
}

TEST_CASE("monitors_context_destroyed_while_the_wheels_thread_posts_to_it") {
    two_contexts<manual_timer_wheel> c;
    lingering_executor::record record;
    idle_monitor<manual_timer_wheel> idle(*c.wheel, lingering_executor(*c.home, record), {.reader = 10s});
    idle.async_idle(must_not_hear(c.destroyed));
    std::thread thread([&] { pass(c.io, 10s); });
    while (!record.inside) std::this_thread::yield();
    c.home.reset();
    record.gone = true;
    thread.join();
    c.check_rest();
}

TEST_CASE("monitors_context_destroyed_while_the_wheels_thread_brings_events") {
    asio::io_context io;
    timer_wheel wheel(io, {.tick = 1ms});
    const auto work = asio::make_work_guard(io);
    std::thread thread([&] { io.run(); });
    for (int round = 0; round < 300; ++round) {
        auto home = std::make_unique<asio::io_context>(1);
        std::vector<std::unique_ptr<idle_monitor<>>> monitors;
        std::vector<std::unique_ptr<idle_stream<quiet_stream>>> streams;
        const asio::any_io_executor plain = home->get_executor();
        for (int i = 0; i < 8; ++i) {
            const idle_timeouts limits{.reader = 100us * (i + 1)};
            monitors.push_back(std::make_unique<idle_monitor<>>(
                wheel, i % 2 == 0 ? asio::any_io_executor(asio::make_strand(*home)) : plain, limits));
            monitors.back()->async_idle([](std::error_code, const idle_event&) {});
            streams.push_back(std::make_unique<idle_stream<quiet_stream>>(wheel, limits, plain));
            streams.back()->close_when_idle();
        }
        if (round % 3 == 0) wheel.cancel_all();
        if (round % 2 == 0) home->run_one();
        for (std::size_t i = 0; i < monitors.size(); i += round % 4 < 2 ? 1 : 2) monitors[i].reset();
        home.reset();
    }
    io.stop();
    thread.join();
    CHECK(wheel.pending() == 0);
}
