// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Finds the handler that blocks the loop. The wheel reports the turn that took long, but a turn runs many handlers. So
// the wheel's type has an observer, which hears which handler starts. The next one ends it, or the end of the turn.
// Handlers that have another executor than the wheel run elsewhere, and are not seen.

#include <cogwheel/asio/timer_wheel.hpp>
#include <cogwheel/observe/handler_times.hpp>

#include <asio/io_context.hpp>

#include <chrono>
#include <cstdio>
#include <string>
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

} // namespace

int main() {
    asio::io_context io;
    watched_wheel wheel{io, {.tick = 1ms}};

    std::uint64_t slow_turns = 0;
    wheel.on_slow_turn({.longer_than = 50ms, .at_most_every = 0ns}, [&](const cogwheel::slow_turn& turn) {
        ++slow_turns;
        std::puts(to_string(turn).c_str());
    });

    int sessions = 1000;
    for (int i = 0; i < sessions; ++i) wheel.schedule(1ms * i, expire_session{sessions});
    for (int i = 0; i < 20; ++i) wheel.schedule(1ms * i, send_heartbeat{wheel});
    for (int i = 1; i <= 5; ++i) retry_connection(wheel, i);
    wheel.schedule(40ms, flush_log{wheel});
    wheel.schedule(100ms, reload_configuration{wheel});
    wheel.schedule(length_of_run, [&wheel] { wheel.stop(); });
    io.run();

    const auto table = wheel.with_observer([](const cogwheel::handler_times& times) { return times.table(); });
    std::printf("\n%8s %10s %12s  handler\n", "calls", "total ms", "longest ms");
    for (const auto& row : table)
        std::printf("%8llu %10.2f %12.2f  %s\n", static_cast<unsigned long long>(row.calls), milliseconds(row.total),
                    milliseconds(row.longest), std::string(row.what).c_str());

    const bool found = slow_turns != 0 && !table.empty() && table[0].longest >= time_to_read_file &&
                       table[0].what.find("reload_configuration") != std::string_view::npos;
    std::printf("\n%s\n", found ? "found: reload_configuration blocks the loop" : "not found: the handler that blocks");
    return found ? 0 : 1;
}
