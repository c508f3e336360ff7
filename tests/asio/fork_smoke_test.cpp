// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// fork(): after notify_fork(), what one process does with its timers changes none of the other one.
#include "support/asio/asio_backend.hpp"
#include "support/forked.hpp"

#include <cogwheel/asio/boot_clock.hpp>
#include <cogwheel/asio/clock_watch.hpp>
#include <cogwheel/asio/hierarchical_timer_wheel.hpp>
#include <cogwheel/schedule/wall_clock.hpp>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <doctest/doctest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <sys/timex.h>

using namespace std::chrono_literals;
using cogwheel_tests::forked;
using cogwheel_tests::meeting;
using fork_event = asio::execution_context;

namespace {

using boot_hierarchy =
    cogwheel::basic_timer_wheel<cogwheel::boot_clock, cogwheel::multi_threaded, cogwheel::hierarchical_wheel>;

/// Runs the context until `done`, at most for 20 s.
bool run_until(asio::io_context& io, const bool& done) {
    asio::steady_timer limit(io, 20s);
    bool over = false;
    limit.async_wait([&](std::error_code ec) { over = !ec; });
    io.restart();
    while (!done && !over) io.run_one();
    return done;
}

/// Calls f(number) for each descriptor of this process.
template <class F>
void for_each_descriptor(F f) {
    namespace fs = std::filesystem;
    for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
        std::error_code gone; // that of the iterator
        f(std::stoi(entry.path().filename()), fs::read_symlink(entry.path(), gone).string());
    }
}
int open_descriptors() {
    int n = 0;
    for_each_descriptor([&](int, const std::string&) { ++n; });
    return n;
}
/// Makes all timerfds of this process readable.
void expire_timerfds() {
    std::vector<int> all;
    for_each_descriptor([&](int fd, const std::string& what) {
        if (what.find("[timerfd]") != std::string::npos) all.push_back(fd);
    });
    for (const int fd : all) cogwheel::detail::set_timerfd(fd, 0ns);
}

bool set_the_clock_now() {
    timex change{};
    change.modes = ADJ_SETOFFSET | ADJ_NANO;
    change.time.tv_usec = 1; // a nanosecond
    return clock_adjtime(CLOCK_REALTIME, &change) >= 0;
}

/// A context, and what a process does around fork().
struct forking_world {
    asio::io_context io;

    template <class InChild>
    forked fork(InChild f) {
        io.notify_fork(fork_event::fork_prepare);
        return forked([&] {
            io.notify_fork(fork_event::fork_child);
            return f();
        });
    }
    void go_on() { io.notify_fork(fork_event::fork_parent); }
    void poll() {
        io.restart();
        io.poll();
    }
};

struct watching_world : forking_world {
    std::vector<std::error_code> ended;

    void wait(cogwheel::clock_watch& watch) {
        watch.async_wait([this](std::error_code ec) { ended.push_back(ec); });
    }
};

const std::vector<std::error_code> heard_once(1);

} // namespace

using local_boot_wheel = cogwheel::basic_timer_wheel<cogwheel::boot_clock, cogwheel::single_threaded>;

#define WHEELS_TO_FORK                                                                                                 \
    cogwheel::boot_timer_wheel, local_boot_wheel, boot_hierarchy, cogwheel::timer_wheel, cogwheel::local_timer_wheel

// With io_uring, Asio (seen with 1.30.2) wakes no timer after a fork.
TEST_CASE_TEMPLATE("forked_wheel_fires_although_the_other_process_arms_a_late_timer", Wheel, WHEELS_TO_FORK) {
    if (cogwheel_tests::on_io_uring) return;
    for (const bool child_waits : {false, true}) {
        CAPTURE(child_waits);
        forking_world w;
        Wheel wheel(w.io, {.tick = 1ms});
        bool fired = false;
        wheel.schedule(20ms, [&] { fired = true; });
        meeting m;
        wheel.schedule(1h, [] {});
        const auto arm_late = [&] { // the turn that fires the first timer
            const bool done = run_until(w.io, fired);
            return m.tell() && m.hear() && done;
        };
        const auto wait = [&] {
            const bool armed = m.hear();
            const bool done = run_until(w.io, fired);
            m.tell();
            return armed && done;
        };
        forked child = w.fork([&] {
            m.take_side(1);
            return child_waits ? wait() : arm_late();
        });
        m.take_side(0);
        w.go_on();
        CHECK((child_waits ? arm_late() : wait()));
        CHECK(child.result() == 0);
    }
}

TEST_CASE_TEMPLATE("forked_wheel_inherits_its_timers_and_drops_them_on_demand", Wheel, WHEELS_TO_FORK) {
    if (cogwheel_tests::on_io_uring) return;
    forking_world w;
    Wheel wheel(w.io, {.tick = 1ms});
    int fired = 0;
    bool done = false;
    std::error_code late;
    wheel.schedule(2ms, [&] { ++fired; });
    wheel.schedule(4ms, [&] {
        ++fired;
        done = true;
    });
    wheel.async_wait(1h, [&](std::error_code ec) { late = ec; });
    forked inherits = w.fork([&] { return run_until(w.io, done) && fired == 2 && wheel.pending() == 1; });
    w.go_on();
    forked drops = w.fork([&] {
        wheel.cancel_all();
        w.io.restart();
        w.io.run();
        return fired == 0 && late == asio::error::operation_aborted;
    });
    w.go_on();
    CHECK(inherits.result() == 0);
    CHECK(drops.result() == 0);
    CHECK(fired == 0);
    CHECK(run_until(w.io, done));
    CHECK(fired == 2);
    CHECK(wheel.pending() == 1);
}

TEST_CASE_TEMPLATE("forked_in_a_turn_both_wheels_go_on", Wheel, WHEELS_TO_FORK) {
    if (cogwheel_tests::on_io_uring) return;
    forking_world w;
    Wheel wheel(w.io, {.tick = 1ms});
    std::optional<forked> child;
    bool in_child = false, sibling = false, done = false;
    wheel.schedule(1ms, [&] {
        w.io.notify_fork(fork_event::fork_prepare);
        child.emplace([&] {
            in_child = true;
            w.io.notify_fork(fork_event::fork_child);
            return true;
        });
        w.go_on();
        wheel.schedule(1ms, [&] { done = true; });
    });
    wheel.schedule(1ms, [&] { sibling = true; });
    CHECK(run_until(w.io, done));
    CHECK(sibling);
    CHECK_FALSE(in_child);
    REQUIRE(child);
    CHECK(child->result() == 0);
}

TEST_CASE("forked_watch_is_another_one_and_its_wait_ends_with_success") {
    watching_world w;
    cogwheel::clock_watch watch(w.io);
    w.wait(watch);
    w.poll();
    meeting m;
    forked child = w.fork([&] {
        m.take_side(1);
        w.poll();
        if (w.ended != heard_once) return false;
        w.wait(watch);
        w.poll();
        if (w.ended != heard_once || !m.tell() || !m.hear()) return false;
        w.poll();
        if (w.ended != heard_once) return false; // the parent's timers have expired, its own has not
        expire_timerfds();
        w.poll();
        return m.tell() && w.ended.size() == 2;
    });
    m.take_side(0);
    w.go_on();
    CHECK(m.hear());
    w.poll();
    CHECK(w.ended.empty());
    expire_timerfds();
    w.poll();
    CHECK(w.ended == heard_once);
    w.wait(watch);
    m.tell();
    CHECK(m.hear());
    w.poll();
    CHECK(w.ended == heard_once);
    CHECK(child.result() == 0);
    watch.cancel();
    w.poll();
    CHECK(w.ended.back() == asio::error::operation_aborted);
}

TEST_CASE("forked_watches_both_hear_that_the_clock_is_set") {
    watching_world w;
    cogwheel::clock_watch watch(w.io);
    w.wait(watch);
    meeting m;
    forked child = w.fork([&] {
        m.take_side(1);
        w.poll();
        w.ended.clear();
        w.wait(watch);
        w.poll();
        if (!w.ended.empty() || !m.tell() || !m.hear()) return false;
        w.poll();
        return w.ended == heard_once;
    });
    m.take_side(0);
    w.go_on();
    REQUIRE(m.hear());
    if (!set_the_clock_now()) {
        MESSAGE("left out: this process must not set the clock");
        return; // which ends the child
    }
    m.tell();
    w.poll();
    CHECK(w.ended == heard_once);
    CHECK(child.result() == 0);
}

TEST_CASE("forked_watches_that_were_moved_are_replaced_and_no_descriptor_is_lost") {
    static_assert(std::is_nothrow_move_constructible_v<cogwheel::clock_watch>);
    static_assert(std::is_move_assignable_v<cogwheel::clock_watch>);
    watching_world w;
    const cogwheel::boot_timer_wheel wheel(w.io);
    cogwheel::clock_watch first(w.io), second(w.io), assigned(w.io);
    {
        const cogwheel::clock_watch gone(w.io);
    }
    cogwheel::clock_watch moved(std::move(first));
    assigned = std::move(second);
    w.wait(moved);
    w.wait(assigned);
    w.poll();
    const int before = open_descriptors();
    const int code = w.fork([&] {
                          const int after = open_descriptors();
                          w.poll();
                          return before == after && w.ended == std::vector<std::error_code>(2);
                      }).result();
    w.go_on();
    CHECK(code == 0);
    CHECK(w.ended.empty());
}

TEST_CASE("forked_wait_for_a_date_goes_on") {
    watching_world w;
    cogwheel::timer_wheel wheel(w.io);
    cogwheel::async_wait_until_date(wheel, std::chrono::system_clock::now() + 1h,
                                    [&](std::error_code ec) { w.ended.push_back(ec); });
    w.poll();
    const int code = w.fork([&] {
                          for (int i = 0; i < 3; ++i) w.poll();
                          if (!w.ended.empty() || wheel.pending() != 1) return false;
                          wheel.cancel_all();
                          w.poll();
                          return w.ended == std::vector<std::error_code>(1, asio::error::operation_aborted);
                      }).result();
    w.go_on();
    CHECK(code == 0);
    w.poll();
    CHECK(w.ended.empty());
}

TEST_CASE("watch_that_its_handler_owns_ends_with_the_context") {
    auto io = std::make_unique<asio::io_context>();
    std::weak_ptr<cogwheel::clock_watch> alive;
    {
        const auto watch = std::make_shared<cogwheel::clock_watch>(*io);
        watch->async_wait([watch](std::error_code) {});
        alive = watch;
    }
    CHECK_FALSE(alive.expired());
    io.reset();
    CHECK(alive.expired());
}
