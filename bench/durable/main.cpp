// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// durable_bench produce | work | floor NAME=VALUE ...: our side of the benchmark of durable tasks (run.py).
#include "roles.hpp"

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/read_until.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string_view>

#include <unistd.h>

namespace cogwheel::bench {

std::vector<planned_task> read_plan(const std::string& file) {
    std::ifstream in(file);
    std::vector<planned_task> plan;
    for (planned_task t; in >> t.add_ms >> t.due_ms;) plan.push_back(t);
    if (plan.empty()) throw std::runtime_error("the plan " + file + " is missing or empty");
    return plan;
}

std::int64_t now_us() {
    using namespace std::chrono;
    return duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
}

asio::awaitable<void> wait_for_go() {
    const auto executor = co_await asio::this_coro::executor;
    asio::posix::stream_descriptor in(executor, ::dup(STDIN_FILENO));
    std::string line;
    co_await asio::async_read_until(in, asio::dynamic_buffer(line), '\n', asio::use_awaitable);
}

void say(const std::string& line) {
    std::puts(line.c_str());
    std::fflush(stdout);
}

std::int64_t spent_us() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1'000'000 + t.tv_nsec / 1'000;
}

namespace {

durable_arguments parse(int argc, char** argv) {
    durable_arguments a;
    a.tick = std::chrono::microseconds(100);
    for (int i = 2; i < argc; ++i) {
        const std::string_view argument = argv[i];
        const auto equals = argument.find('=');
        const std::string name(argument.substr(0, equals));
        const std::string value(equals == argument.npos ? "" : argument.substr(equals + 1));
        const auto number = [&] { return std::stoul(value); };
        if (name == "socket")
            a.socket = value;
        else if (name == "plan")
            a.plan = value;
        else if (name == "name")
            a.name = value;
        else if (name == "out")
            a.out = value;
        else if (name == "tasks")
            a.tasks = number();
        else if (name == "limit")
            a.limit = std::chrono::seconds(number());
        else if (name == "tick")
            a.tick = std::chrono::microseconds(number());
        else if (name == "shards")
            a.shards = static_cast<std::uint32_t>(number());
        else if (name == "batch")
            a.batch = static_cast<std::uint32_t>(number());
        else if (name == "chunk")
            a.chunk = number();
        else if (name == "callers")
            a.callers = number();
        else
            throw std::invalid_argument("unknown argument " + name);
    }
    return a;
}

} // namespace
} // namespace cogwheel::bench

int main(int argc, char** argv) {
    using namespace cogwheel::bench;
    try {
        const std::string_view role = argc > 1 ? argv[1] : "";
        const auto start = role == "produce" ? produce : role == "work" ? work : role == "floor" ? hold_floor : nullptr;
        if (start == nullptr) throw std::invalid_argument("durable_bench produce | work | floor NAME=VALUE ...");
        asio::io_context io(1);
        asio::co_spawn(io, start(parse(argc, argv)), [](const std::exception_ptr& failed) {
            if (failed) std::rethrow_exception(failed);
        });
        io.run();
    } catch (const std::exception& e) {
        fmt::print(stderr, "durable_bench: {}\n", e.what());
        return EXIT_FAILURE;
    }
}
