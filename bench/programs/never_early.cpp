// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Many deadlines on wheels of many ticks, on several threads: is any timer early, and how late are they? With --slew,
// while the kernel slews its clock as far as adjtimex(2) allows.

#include "support/command_line.hpp"

#include <cogwheel/asio/callback_timer.hpp>
#include <cogwheel/counts/lateness_histogram.hpp>

#include <asio/io_context.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <system_error>
#include <thread>
#include <vector>

#include <sys/timex.h>

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

constexpr std::string_view usage = R"(usage: never_early [options]
Random deadlines on one wheel for each tick from 1 us to 1 s. The exit code is 1 if a timer was early.

  --deadlines N  how many at least (default 1000000)
  --for D        and how long at least (default 10s)
  --threads N    each has all wheels (default 2)
  --timers N     of each wheel (default 200)
  --system       count delays from the system's clock, not from the processor's counter
  --slew         slew the kernel's clock by 10 % and 500 ppm to and fro, each second (as root; it is set back at the end)

A duration D is a number and a unit: 500ms, 1.5s, 2m, 1h.
)";

struct options {
    std::uint64_t deadlines = 1'000'000, threads = 2, timers = 200;
    std::chrono::nanoseconds duration = 10s;
    bool system = false, slew = false;
};

struct tally {
    std::uint64_t fired = 0, early = 0;
    std::chrono::nanoseconds earliest{};
    cogwheel::lateness_histogram late;
};

constexpr std::array ticks{1us, 10us, 100us, 1'000us, 10'000us, 100'000us, 1'000'000us};

class wheel_under_test {
public:
    wheel_under_test(asio::io_context& io, std::chrono::nanoseconds tick, const options& o, std::uint64_t seed)
        : tick_(tick),
          wheel_(io, {.tick = tick,
                      .slots = 4096,
                      .tick_clock = o.system ? cogwheel::tick_clock_kind::system : cogwheel::tick_clock_kind::counter}),
          random_(seed) {
        for (std::uint64_t i = 0; i < o.timers; ++i) timers_.emplace_back(*this);
        for (one& t : timers_) t.start();
    }
    void stop() {
        for (one& t : timers_) t.timer.cancel();
    }
    const tally& result() const { return tally_; }

private:
    struct one {
        explicit one(wheel_under_test& w) : owner(&w), timer(w.wheel_, {this}) {}
        void start() {
            // Short for short ticks, so that there are many, and of any phase.
            const auto most = std::clamp<std::chrono::nanoseconds>(20 * owner->tick_, 2ms, 3s);
            delay = std::chrono::nanoseconds(owner->random_() % static_cast<std::uint64_t>(most.count())) + 1ns;
            armed = clock_type::now();
            timer.schedule(delay);
        }
        void expired() {
            const auto waited = clock_type::now() - armed;
            tally& t = owner->tally_;
            ++t.fired;
            if (waited < delay) {
                ++t.early;
                t.earliest = std::max(t.earliest, std::chrono::nanoseconds(delay - waited));
            }
            t.late.record(std::max(waited - delay, waited.zero()));
            start();
        }
        wheel_under_test* owner;
        std::chrono::nanoseconds delay{};
        clock_type::time_point armed{};
        cogwheel::callback_timer<cogwheel::member_call<&one::expired>> timer;
    };

    std::chrono::nanoseconds tick_;
    cogwheel::timer_wheel wheel_;
    std::mt19937_64 random_;
    tally tally_;
    std::deque<one> timers_;
};

/// Slews the kernel's clock to and fro. Sets it back in the end.
class slewing {
public:
    slewing() {
        if (::adjtimex(&before_) == -1) throw std::system_error(errno, std::system_category(), "adjtimex");
        before_.modes = ADJ_TICK | ADJ_FREQUENCY;
    }
    ~slewing() { ::adjtimex(&before_); }
    void turn() {
        timex t{};
        t.modes = ADJ_TICK | ADJ_FREQUENCY;
        fast_ = !fast_;
        t.tick = fast_ ? 11'000 : 9'000;
        t.freq = fast_ ? 500L << 16 : -(500L << 16);
        if (::adjtimex(&t) == -1) throw std::system_error(errno, std::system_category(), "adjtimex");
    }

private:
    timex before_{};
    bool fast_ = false;
};

int measure(const options& o) {
    std::optional<slewing> slew;
    if (o.slew) slew.emplace();
    std::atomic<std::uint64_t> fired = 0;
    std::atomic<bool> over = false;
    std::vector<std::vector<tally>> tallies(o.threads);
    std::vector<std::thread> threads;
    for (std::uint64_t n = 0; n < o.threads; ++n)
        threads.emplace_back([&, n] {
            asio::io_context io(1);
            std::deque<wheel_under_test> wheels;
            for (std::size_t i = 0; i < ticks.size(); ++i)
                wheels.emplace_back(io, ticks[i], o, n * ticks.size() + i + 1);
            std::uint64_t before = 0;
            while (!over) {
                io.run_for(100ms);
                std::uint64_t sum = 0;
                for (const wheel_under_test& w : wheels) sum += w.result().fired;
                fired += sum - std::exchange(before, sum);
            }
            for (wheel_under_test& w : wheels) {
                w.stop();
                tallies[n].push_back(w.result());
            }
        });
    const auto begin = clock_type::now();
    while (fired < o.deadlines || clock_type::now() - begin < o.duration) {
        std::this_thread::sleep_for(1s);
        if (slew) slew->turn();
    }
    over = true;
    for (std::thread& t : threads) t.join();

    std::uint64_t all = 0, early = 0;
    fmt::print("{:>10} {:>12} {:>6} {:>14} {:>10} {:>10}   late, in us\n", "tick, us", "deadlines", "early", "p50",
               "p99", "max");
    for (std::size_t i = 0; i < ticks.size(); ++i) {
        tally sum;
        for (const auto& of_thread : tallies) {
            sum.fired += of_thread[i].fired;
            sum.early += of_thread[i].early;
            sum.earliest = std::max(sum.earliest, of_thread[i].earliest);
        }
        const auto us = [](std::chrono::nanoseconds d) { return static_cast<double>(d.count()) / 1e3; };
        const auto& late = tallies[0][i].late; // one thread's say enough
        fmt::print("{:>10} {:>12} {:>6} {:>14.1f} {:>10.1f} {:>10.1f}\n", ticks[i].count(), sum.fired, sum.early,
                   us(late.quantile(0.5)), us(late.quantile(0.99)), us(late.max()));
        if (sum.early != 0) fmt::print("  early by up to {:.1f} us\n", us(sum.earliest));
        all += sum.fired;
        early += sum.early;
    }
    const double seconds = std::chrono::duration<double>(clock_type::now() - begin).count();
    fmt::print("{} deadlines in {:.0f} s, {} early: {}\n", all, seconds, early, early == 0 ? "ok" : "BROKEN");
    return early == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    return command_line::run("never_early", [&] {
        options wanted;
        command_line::reader line(argc, argv);
        while (line.next()) {
            if (line.name() == "--deadlines") {
                wanted.deadlines = line.count(1, 100'000'000'000);
            } else if (line.name() == "--for") {
                wanted.duration = line.positive_duration();
            } else if (line.name() == "--threads") {
                wanted.threads = line.count(1, 64);
            } else if (line.name() == "--timers") {
                wanted.timers = line.count(1, 1'000'000);
            } else if (line.name() == "--system") {
                wanted.system = true;
            } else if (line.name() == "--slew") {
                wanted.slew = true;
            } else if (line.name() == "--help" || line.name() == "-h") {
                fmt::print("{}", usage);
                return 0;
            } else {
                line.unknown();
            }
        }
        return measure(wanted);
    });
}
