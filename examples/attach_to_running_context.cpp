// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A wheel attached from another thread to an io_context that is already running. timer_wheel may be used from any
// thread: here main() schedules, pushes back, cancels and waits, while every handler runs in the context's thread.

#include "support/command_line.hpp"

#include <cogwheel/asio/timer_wheel.hpp>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/use_future.hpp>

#include <cstdio>
#include <thread>

namespace {

int example() {
    using namespace std::chrono_literals;

    asio::io_context io;
    auto work = asio::make_work_guard(io);
    std::thread runner{[&io] { io.run(); }};

    {
        cogwheel::timer_wheel wheel{io, {.tick = 5ms}};

        const auto runner_id = runner.get_id();
        wheel.schedule(50ms, [runner_id] {
            const bool there = std::this_thread::get_id() == runner_id;
            std::puts(there ? "fired in the thread of the context" : "fired in a wrong thread");
        });

        cogwheel::timer_token limit = wheel.schedule(100ms, [] { std::puts("the limit was exceeded"); });
        limit.reschedule(10s);

        wheel.async_wait(200ms, asio::use_future).get();
        std::puts("main() has waited for 200 ms");

        if (limit.cancel()) std::puts("the limit was pushed back in time, and is cancelled now");
    } // What is still pending here is aborted: the wheel may end before its context does.

    work.reset();
    runner.join();
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    return command_line::run(argc, argv, "attach_to_running_context",
                             "A wheel attached from another thread to a context that is already running.", example);
}
