// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What durable_bench can be, and what its roles share. run.py starts them, and talks to all contenders in the same
// way: they print `ready`, a producer then reads a line, and at the end they print `done` and figures as JSON.
#pragma once

#include <asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace cogwheel::bench {

struct durable_arguments {
    std::string socket{};             ///< of the server
    std::string plan{};               ///< of a producer: a file with lines `add_ms due_ms`
    std::string name = "task";        ///< of a producer: how its ids begin
    std::string out{};                ///< of a worker: the file for the lateness of each task
    std::size_t tasks = 0;            ///< of a worker: ends after this number
    std::chrono::seconds limit{60};   ///< of a worker: ends after this time
    std::chrono::microseconds tick{}; ///< of the wheel
    std::uint32_t shards = 16;
    std::uint32_t batch = 100; ///< of a worker: tasks in a command
    std::size_t chunk = 1'000; ///< of a producer: tasks in a call; with 1 it uses schedule()
    std::size_t callers = 1;   ///< of a producer with chunk=1: calls at once
};

/// A line of a plan. Both times count from the producer's start.
struct planned_task {
    std::int64_t add_ms = 0, due_ms = 0;
};

std::vector<planned_task> read_plan(const std::string& file);

/// The wall clock that every contender uses, in us.
std::int64_t now_us();

/// Waits for run.py's line without blocking the loop.
asio::awaitable<void> wait_for_go();

void say(const std::string& line);

/// Returns the processor time of this process, in us.
std::int64_t spent_us();

/// Adds the plan's tasks to a queue when their time has come.
asio::awaitable<void> produce(durable_arguments);

/// Runs the tasks of a queue. Writes for each one how late its handler started: by the wall clock, and by the server's.
asio::awaitable<void> work(durable_arguments);

/// What no design can beat: sleeps until a task of the plan is due and asks the server one question (PING) for all
/// tasks that are due then. Nothing is stored.
asio::awaitable<void> hold_floor(durable_arguments);

} // namespace cogwheel::bench
