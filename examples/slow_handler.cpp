// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Finds the handler that blocks the loop. The wheel reports the turn that took long, but a turn runs many handlers. So
// the wheel's type has an observer, which hears which handler starts. The next one ends it, or the end of the turn.
// Handlers that have another executor than the wheel run elsewhere, and are not seen.

#include "support/command_line.hpp"

#include <cogwheel/asio/timer_wheel.hpp>
#include <cogwheel/observe/format.hpp>
#include <cogwheel/observe/handler_times.hpp>

#include <asio/io_context.hpp>
#include <fmt/format.h>

#include <chrono>
#include <string_view>
#include <thread>

namespace {

using namespace std::chrono_literals;

// The observer is a part of the wheel's type.
using watched_wheel =
    cogwheel::basic_timer_wheel<std::chrono::steady_clock, cogwheel::single_threaded,
                                cogwheel::observed_wheel<cogwheel::hashed_wheel, cogwheel::handler_times>>;

constexpr auto length_of_run = 1500ms;
constexpr auto time_to_read_file = 80ms;

// ---- the load: a server's timers of several kinds ----

struct send_heartbeat {
    watched_wheel& wheel;
    void operator()() const { wheel.schedule(10ms, *this); }
};

struct expire_session {
    int& sessions;
    void operator()() const { --sessions; }
};

struct flush_log {
    watched_wheel& wheel;
    void operator()() const { wheel.schedule(40ms, *this); }
};

/// The culprit: reads a file in a handler, as one does who has only tried it on a fast disk.
struct reload_configuration {
    watched_wheel& wheel;
    void operator()() const {
        std::this_thread::sleep_for(time_to_read_file);
        wheel.schedule(300ms, *this);
    }
};

void retry_connection(watched_wheel& wheel, int attempt) {
    wheel.schedule(20ms * attempt, [&wheel, attempt] { retry_connection(wheel, attempt % 5 + 1); });
}

// ---- the search ----

double milliseconds(std::chrono::nanoseconds d) { return std::chrono::duration<double, std::milli>(d).count(); }

int example() {
    asio::io_context io;
    watched_wheel wheel{io, {.tick = 1ms}};

    std::uint64_t slow_turns = 0;
    wheel.on_slow_turn({.longer_than = 50ms, .at_most_every = 0ns}, [&](const cogwheel::slow_turn& turn) {
        ++slow_turns;
        fmt::print("{}\n", to_string(turn));
    });

    int sessions = 1000;
    for (int i = 0; i < sessions; ++i) wheel.schedule(1ms * i, expire_session{sessions});
    for (int i = 0; i < 20; ++i) wheel.schedule(1ms * i, send_heartbeat{wheel});
    for (int i = 1; i <= 5; ++i) retry_connection(wheel, i);
    wheel.schedule(40ms, flush_log{wheel});
    wheel.schedule(100ms, reload_configuration{wheel});
    wheel.schedule(length_of_run, [&wheel] { wheel.stop(); });
    io.run();

    fmt::print("\n{}\n", wheel.stats());
    const auto table = wheel.with_observer([](const cogwheel::handler_times& times) { return times.table(); });
    fmt::print("\n{:>8} {:>10} {:>12}  handler\n", "calls", "total ms", "longest ms");
    for (const auto& row : table)
        fmt::print("{:>8} {:>10.2f} {:>12.2f}  {}\n", row.calls, milliseconds(row.total), milliseconds(row.longest),
                   row.what);

    const bool found = slow_turns != 0 && !table.empty() && table[0].longest >= time_to_read_file &&
                       table[0].what.find("reload_configuration") != std::string_view::npos;
    fmt::print("\n{}\n", found ? "found: reload_configuration blocks the loop" : "not found: the handler that blocks");
    return found ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    return command_line::run(argc, argv, "slow_handler", "Finds, among many timers, the handler that blocks the loop.",
                             example);
}
