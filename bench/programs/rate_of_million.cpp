// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A million periodic timers on one thread, each with a period of its own phase: how many runs a second, how late, and
// at what cost. Every run is checked: none early, none left out.

#include "support/command_line.hpp"

#include <cogwheel/asio/timer_wheel.hpp>

#include <asio/io_context.hpp>

#include <algorithm>
#include <vector>

#include <sys/resource.h>

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

constexpr std::string_view usage = R"(usage: rate_of_million [options]
Periodic timers, all at once.

  --timers N   how many (default 1000000)
  --period D   of each; they are spread evenly over it (default 2s)
  --rounds N   periods (default 3)
  --tick D     of the wheel (default 1ms)

A duration D is a number and a unit: 500ms, 1.5s, 2m, 1h.
)";

struct options {
    std::uint64_t timers = 1'000'000, rounds = 3;
    std::chrono::nanoseconds period = 2s, tick = 1ms;
};

struct tally {
    std::uint64_t runs = 0, early = 0;
    std::chrono::nanoseconds latest{};
};

/// A timer that files itself again at the next point of its grid: 24 bytes, and 64 in the wheel.
struct periodic {
    clock_type::time_point due;
    std::uint64_t left;

    void arm(cogwheel::local_timer_wheel& wheel, const options& wanted, tally& all) {
        wheel.schedule(due, [this, &wheel, &wanted, &all] {
            const std::chrono::nanoseconds late = clock_type::now() - due;
            ++all.runs;
            all.early += late < 0ns;
            all.latest = std::max(all.latest, late);
            due += wanted.period; // a sum of the grid: no drift
            if (--left != 0) arm(wheel, wanted, all);
        });
    }
};

double processor_seconds() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

int turn(const options& wanted) {
    asio::io_context io(1);
    cogwheel::local_timer_wheel wheel(io, {.tick = wanted.tick, .slots = 4096});
    tally all;
    std::vector<periodic> timers(wanted.timers);
    const auto begin = clock_type::now();
    const auto first = begin + 1s; // by then all are armed
    for (std::uint64_t n = 0; n < wanted.timers; ++n) {
        const auto phase = static_cast<std::int64_t>(static_cast<double>(wanted.period.count()) *
                                                     static_cast<double>(n) / static_cast<double>(wanted.timers));
        timers[n] = {first + std::chrono::nanoseconds(phase), wanted.rounds};
        timers[n].arm(wheel, wanted, all);
    }
    fmt::print("{} timers armed in {:.3f} s\n", wanted.timers,
               std::chrono::duration<double>(clock_type::now() - begin).count());
    const double used = processor_seconds();
    io.run();                                                                             // until the last has run
    const double wall = std::chrono::duration<double>(clock_type::now() - first).count(); // the wait for it is no work
    const auto stats = wheel.stats();
    const auto milliseconds = [](std::chrono::nanoseconds d) { return static_cast<double>(d.count()) * 1e-6; };
    fmt::print("{} runs in {:.2f} s: {:.0f} a second, {:.0f} ns of CPU each\n", all.runs, wall,
               static_cast<double>(all.runs) / wall,
               (processor_seconds() - used) * 1e9 / static_cast<double>(all.runs));
    fmt::print("after their tick: p50 {:.2f} ms, p99 {:.2f} ms; the latest {:.2f} ms after its time, {} early\n",
               milliseconds(stats.lateness.p50), milliseconds(stats.lateness.p99), milliseconds(all.latest), all.early);
    const bool good = all.runs == wanted.timers * wanted.rounds && all.early == 0 && wheel.pending() == 0;
    fmt::print("{}\n", good ? "ok" : "BROKEN");
    return good ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    return command_line::run("rate_of_million", [&] {
        options wanted;
        command_line::reader line(argc, argv);
        while (line.next()) {
            if (line.name() == "--timers") {
                wanted.timers = line.count(1, 100'000'000);
            } else if (line.name() == "--rounds") {
                wanted.rounds = line.count(1, 1'000'000);
            } else if (line.name() == "--period") {
                wanted.period = line.positive_duration();
            } else if (line.name() == "--tick") {
                wanted.tick = line.positive_duration();
            } else if (line.name() == "--help" || line.name() == "-h") {
                fmt::print("{}", usage);
                return 0;
            } else {
                line.unknown();
            }
        }
        return turn(wanted);
    });
}
