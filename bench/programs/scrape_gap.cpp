// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// scrape_gap [WHEELS=64] [TIMERS=1000000] [SECONDS=5]: how long a scrape of metrics delays the handlers of a loop.
//
// A handler schedules and cancels a timer on one wheel after the other, posts itself again, and notes the time between
// two of its calls: 1. without a scrape; 2. while the loop itself renders the metrics of all wheels, slice by slice; 3.
// while another thread renders them without pause. It also measures each slice, and each step that takes a wheel's
// lock. The gaps of 1. are those of the machine. All texts have the same slices: so it also shows the slowest slice of
// a text by the median of its times, in which the interruptions by the machine do not count.
#include <cogwheel/asio/timer_wheel.hpp>
#include <cogwheel/counts/lateness_histogram.hpp>
#include <cogwheel/observe/metrics.hpp>

#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

double microseconds(std::chrono::nanoseconds d) { return std::chrono::duration<double, std::micro>(d).count(); }

/// The processor time of this thread: what a slice costs, whatever else the machine does.
std::chrono::nanoseconds thread_time() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

/// Durations in a histogram: a growing vector would cause gaps of its own.
struct durations {
    cogwheel::lateness_histogram values;

    void note(steady::duration d) { values.record(d); }
    void print(const char* what) {
        const auto at = [&](double q) { return microseconds(values.quantile(q)); };
        fmt::print("{:<44} {:>9} {:>9.1f} {:>9.1f} {:>9.1f} {:>9.1f}\n", what, values.total(), at(0.5), at(0.99),
                   at(0.9999), microseconds(values.max()));
    }
};

struct heartbeat {
    asio::io_context& io;
    std::vector<std::unique_ptr<cogwheel::timer_wheel>>& wheels;
    durations gaps;
    steady::time_point last = steady::now();
    std::size_t beats = 0;
    bool stopped = false, ended = false;

    void beat() {
        const auto now = steady::now();
        gaps.note(now - last);
        last = now;
        // As a server's handler does: it takes the lock of the wheel, which the scrape may hold.
        wheels[++beats % wheels.size()]->schedule(60s, [] {}).cancel();
        if (!stopped)
            asio::post(io, [this] { beat(); });
        else
            ended = true;
    }
};

struct scrape {
    asio::io_context& io;
    const cogwheel::metrics& metrics;
    durations slices{}, costs{};
    std::vector<durations> by_place{}; // in the text
    std::size_t place = 0;
    std::size_t texts = 0, bytes = 0;
    std::string body{};
    cogwheel::metrics_text text = metrics.render();
    bool stopped = false;

    bool slice() {
        const auto began = steady::now();
        const auto cost = thread_time();
        const bool more = text.next(body);
        const auto spent = thread_time() - cost;
        costs.note(spent);
        slices.note(steady::now() - began);
        if (place == by_place.size()) by_place.emplace_back();
        by_place[place++].note(spent);
        if (more) return true;
        place = 0;
        ++texts;
        bytes = body.size();
        body.clear();
        text = metrics.render();
        return false;
    }
    void print_slowest() {
        durations* slowest = &by_place[0];
        for (durations& d : by_place)
            if (d.values.quantile(0.5) > slowest->values.quantile(0.5)) slowest = &d;
        slowest->print("  the slowest slice of a text, thread CPU");
    }
    void step() {
        slice();
        if (!stopped) asio::post(io, [this] { step(); });
    }
};

} // namespace

int main(int argc, char** argv) {
    const int wheel_count = argc > 1 ? std::atoi(argv[1]) : 64;
    const int timers = argc > 2 ? std::atoi(argv[2]) : 1'000'000;
    const std::chrono::seconds length(argc > 3 ? std::atoi(argv[3]) : 5);

    asio::io_context io;
    std::vector<std::unique_ptr<cogwheel::timer_wheel>> wheels;
    cogwheel::metrics metrics;
    // The first wheel holds half of the timers, and has as many slots as a wheel can have.
    for (int i = 0; i < wheel_count; ++i) {
        wheels.push_back(std::make_unique<cogwheel::timer_wheel>(
            io, cogwheel::wheel_options{.tick = 10ms, .slots = i == 0 ? std::size_t{65'536} : std::size_t{512}}));
        metrics.add(fmt::format("wheel {}", i), *wheels.back());
    }
    for (int i = 0; i < timers; ++i) {
        auto& wheel = *wheels[i % 2 == 0 ? 0 : static_cast<std::size_t>(i) % wheels.size()];
        wheel.schedule(60s + std::chrono::milliseconds(static_cast<unsigned>(i) * 2'654'435'761U % 600'000), [] {});
    }
    fmt::print("{} wheels, {} timers\n{:<44} {:>9} {:>9} {:>9} {:>9} {:>9}\n", wheel_count, timers, "microseconds", "n",
               "p50", "p99", "p99.99", "max");

    const auto run = [&](const char* what, auto during) {
        heartbeat beat{io, wheels, {}};
        beat.beat();
        const auto until = steady::now() + length;
        during(until);
        while (steady::now() < until) io.run_one();
        beat.stopped = true;
        while (!beat.ended) io.run_one();
        beat.gaps.print(what);
    };
    run("gaps between handlers, no scrape", [](steady::time_point) {});
    io.poll();
    {
        scrape s{io, metrics};
        run("gaps, the loop renders", [&](steady::time_point) { s.step(); });
        s.stopped = true;
        io.poll();
        s.slices.print("  slices, wall");
        s.costs.print("  slices, thread CPU");
        s.print_slowest();
        fmt::print("  {} texts of {} bytes\n", s.texts, s.bytes);
    }
    {
        std::thread renderer;
        scrape s{io, metrics};
        run("gaps, another thread renders", [&](steady::time_point until) {
            renderer = std::thread([&s, until] {
                while (steady::now() < until) s.slice();
            });
        });
        renderer.join();
        io.poll();
        s.costs.print("  slices, thread CPU");
        s.print_slowest();
        fmt::print("  {} texts\n", s.texts);
    }
    { // what a step holds the lock for, and somewhat more
        durations counts, slots, pending;
        auto& wheel = *wheels[0];
        for (int i = 0; i < 2'000; ++i) {
            auto began = thread_time();
            (void)wheel.stats();
            counts.note(thread_time() - began);
            cogwheel::wheel_snapshot s;
            cogwheel::wheel_cursor cursor;
            for (bool more = true, first = true; more; first = false) {
                began = thread_time();
                more = wheel.snapshot(cursor, s);
                if (!first) slots.note(thread_time() - began);
            }
        }
        cogwheel::wheel_cursor cursor;
        std::size_t seen = 0;
        for (bool more = true; more;) {
            const auto began = thread_time();
            more = wheel.for_each_pending(cursor, [&](steady::time_point) { ++seen; });
            pending.note(thread_time() - began);
        }
        counts.print("stats() of the first wheel, thread CPU");
        slots.print("4,096 of its slots, thread CPU");
        pending.print("512 of its timers, thread CPU");
        fmt::print("  {} timers visited\n", seen);
    }
    for (auto& wheel : wheels) wheel->stop();
    io.restart();
    io.poll();
}
