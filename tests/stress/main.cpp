// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// timer_stress: all that may be called from any thread, called from many at once, millions of times, in real time.
//
// A few threads run one io_context. The others schedule, wait, cancel, push back, emit signals, use timer objects,
// limit operations and complete them, mostly what another thread has started; now and then one cancels all, and in each
// round one stops the wheel, or destroys it, or the context is destroyed with all that is pending. After each round
// every single thing that was started must have ended once, for a reason, not too early, and the wheel must have
// counted the same.
//
// It measures no time and expects none; a run in which nothing happens for a minute is aborted. Memory: 19,000 timers
// at the most.
#include "match.hpp"

#include <cstdio>
#include <exception>

int main(int argc, char** argv) {
    stress::options o;
    try {
        o = stress::parse(argc, argv);
    } catch (const stress::usage_error& e) {
        fmt::print(stderr, "timer_stress: {}\n", e.what());
        return 2;
    }
    if (o.help) {
        fmt::print("{}", stress::usage());
        return 0;
    }
    try {
        stress::match m(o);
        fmt::print("{} threads ({} run the context, {} play), {} operations, seed {}\n\n", o.threads, m.runners(),
                   m.players(), o.operations, o.seed);
        {
            const stress::watchdog dog([&] { return m.state(); });
            m.play();
        }
        fmt::print("{}\n{}", table(m.total()), m.summary());
    } catch (const std::exception& e) {
        fmt::print(stderr, "timer_stress: {}\n", e.what());
        return 1;
    }
    if (stress::findings::any()) {
        fmt::print("FAILED: {} violations, seed {}\n", stress::findings::count(), o.seed);
        return 1;
    }
    fmt::print("ok\n");
}
