// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// One half of a program that uses both Asios. A file names only one of them: standalone.cpp and boost.cpp each include
// this file, which is written for either.
#pragma once

#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/asio/timer_wheel.hpp>
#include <cogwheel/detail/visible_text.hpp>
#include <cogwheel/tasks/task_journal.hpp>
#include <cogwheel/tasks/task_scheduler.hpp>

#include COGWHEEL_ASIO_HEADER(io_context.hpp)
#include COGWHEEL_ASIO_HEADER(signal_set.hpp)
#include COGWHEEL_ASIO_HEADER(steady_timer.hpp)

#include "report.hpp"

#include <csignal>
#include <typeinfo>

namespace both {

// Internal, so that the halves cannot be mixed up by the linker.
static report live(const std::string& name, const std::string& file) {
    using namespace std::chrono_literals;
    report seen;
    cogwheel::asio::io_context io;
    cogwheel::timer_wheel wheel(io, {.tick = 1ms});

    wheel.schedule(2ms, [&] { ++seen.fired; });
    wheel.schedule(1h, [] {}).cancel();
    auto cancelled = wheel.schedule(1h, [] {}, cogwheel::on_cancel([&] { ++seen.cancelled; }));
    cancelled.cancel();
    cogwheel::asio::steady_timer operation(io, 1h);
    operation.async_wait(cogwheel::timeout(
        wheel, 3ms, [&](cogwheel::error_code ec) { seen.timed_out += ec == cogwheel::asio::error::timed_out; }));
    io.run();

    cogwheel::asio::signal_set signals(io, SIGUSR1);
    signals.async_wait([&](cogwheel::error_code ec, int) { seen.signalled += !ec; });
    std::raise(SIGUSR1);
    io.restart();
    for (int turn = 0; turn < 100 && seen.signalled == 0; ++turn) io.poll();
    signals.cancel();
    io.run();

    seen.counts_hold = wheel.stats().scheduled == 4 && wheel.stats().pending == 0;
    const cogwheel::error_code stopped = cogwheel::errc::stopped;
    seen.category = stopped.category().name();
    seen.message = stopped.message();
    seen.core = reinterpret_cast<const void*>(&cogwheel::detail::visible_text);
    seen.wheel = typeid(wheel).name();

    cogwheel::task_journal journal(file);
    cogwheel::task_scheduler tasks(wheel, {.storage = &journal});
    tasks.define("later", [](const cogwheel::task_run&) { return cogwheel::error_code(); });
    tasks.recover();
    for (const auto& task : tasks.snapshot()) seen.tasks.insert(task.name);
    tasks.add({.name = name, .when = cogwheel::task_trigger::once(1h), .job = "later"});
    return seen;
}

} // namespace both
