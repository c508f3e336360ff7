// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Several waits race, the first one wins and cancels the others: by awaitable operators, by a cancellation signal from
// another thread, and by tokens. Every loser is told (operation_aborted), or silent where that was asked for.

#include "support/command_line.hpp"
#include "support/spawned.hpp"

#include <cogwheel/asio/timer_wheel.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/co_spawn.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/io_context.hpp>
#include <asio/use_awaitable.hpp>

#include <cstdio>
#include <thread>

namespace {

using namespace std::chrono_literals;

asio::awaitable<void> race(cogwheel::timer_wheel& wheel) {
    using namespace asio::experimental::awaitable_operators;
    const auto winner =
        co_await (wheel.async_wait(1h, asio::use_awaitable) || wheel.async_wait(20ms, asio::use_awaitable));
    std::printf("awaited: number %zu won\n", winner.index() + 1);
}

int example() {
    asio::io_context io;
    cogwheel::timer_wheel wheel(io);

    asio::co_spawn(io, race(wheel), rethrow);

    // The signal may be emitted from any thread: the wheel locks, and the handler runs on the io_context.
    asio::cancellation_signal give_up;
    wheel.async_wait(1h, asio::bind_cancellation_slot(give_up.slot(), [](std::error_code ec) {
                         std::printf("signalled: %s\n", ec == asio::error::operation_aborted ? "aborted" : "??");
                     }));
    std::thread other([&give_up] { give_up.emit(asio::cancellation_type::all); });
    other.join();

    // Tokens: cancel() tells who has won, for exactly one side gets true or runs.
    cogwheel::timer_token slow =
        wheel.schedule(1h, [] { std::puts("never"); }, cogwheel::on_cancel([] { std::puts("slow: was cancelled"); }));
    wheel.schedule(30ms, [slow] { std::printf("fast: cancelled the slow one: %s\n", slow.cancel() ? "yes" : "no"); });

    io.run();
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    return command_line::run(argc, argv, "race_and_cancel", "Waits race, and the first one cancels the others.",
                             example);
}
