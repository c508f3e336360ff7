// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Measures what the scripts cost a redis-server: CPU of its main thread for each cycle of add, claim, begin and ack;
// memory for each task; and the longest calls. Built on demand: cmake --build build/release --target script_cost
//
//     script_cost [cycles for each line, default 100000]
#include "src/durable/attempt_calls.hpp"
#include "src/durable/script_texts.hpp"
#include "support/durable/plain_redis.hpp"
#include "support/durable/redis_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace {

using namespace cogwheel;
using namespace cogwheel::detail;
using cogwheel_tests::plain_redis;
using cogwheel_tests::redis_server;

double info_number(plain_redis& redis, std::string_view section, const std::string& field) {
    const std::string text = redis(redis_command{"INFO", section}).text();
    const auto at = text.find(field + ':');
    return at == text.npos ? 0 : std::strtod(text.c_str() + at + field.size() + 1, nullptr);
}

double main_thread_seconds(plain_redis& redis) {
    return info_number(redis, "cpu", "used_cpu_user_main_thread") +
           info_number(redis, "cpu", "used_cpu_sys_main_thread");
}

redis_reply run(plain_redis& redis, const script_call& call) {
    redis_reply r = redis(call.command);
    if (r.is_error()) throw std::runtime_error(r.text());
    return r;
}

std::vector<new_task> some_tasks(std::uint64_t from, std::size_t n, std::int64_t delay) {
    std::vector<new_task> tasks;
    for (std::size_t i = 0; i < n; ++i) {
        new_task t{.id = fmt::format("order-{:014}", from + i)};
        t.due = delay;
        t.relative = true;
        t.max_attempts = 10;
        t.envelope = std::string(200, 'x');
        tasks.push_back(std::move(t));
    }
    return tasks;
}

template <class Ways>
auto run(plain_redis& redis, Ways ways, const std::vector<typename Ways::request>& requests) {
    attempt_calls<Ways> attempts(std::move(ways), requests);
    for (auto some = attempts.next(); !some.empty(); some = attempts.next())
        for (std::size_t k = 0; k < some.size(); ++k) attempts.take(k, run(redis, some[k]));
    return attempts.take_answers();
}

void fill(plain_redis& redis, const shard_calls& shard, std::size_t tasks) {
    for (std::size_t i = 0; i < tasks; i += 100)
        run(redis, shard.add(some_tasks(1'000'000'000 + i, std::min<std::size_t>(100, tasks - i), 3'600'000),
                             on_duplicate::reject));
}

/// The longest call of the slow log, in us, of each script.
std::string longest(plain_redis& redis, const script_library& library) {
    std::string text;
    const auto log = redis(redis_command{"SLOWLOG", "GET", "-1"});
    for (const char* name : {"add", "claim", "begin_plain", "finish_plain"}) {
        std::int64_t most = 0;
        for (const auto& e : log.elements()) {
            const auto& words = e.elements()[3].elements();
            if (words.size() > 1 && words[1].text() == library.at(name).sha)
                most = std::max(most, e.elements()[2].integer());
        }
        text += fmt::format(" {} {}", name, most);
    }
    return text;
}

void cycles(plain_redis& redis, const script_library& library, std::size_t batch, std::size_t pending,
            std::size_t total) {
    redis(redis_command{"FLUSHALL"});
    const shard_calls shard(library, "cost", 0);
    const retention_limits limits;
    fill(redis, shard, pending);
    redis(redis_command{"CONFIG", "SET", "slowlog-log-slower-than", "100"});
    redis(redis_command{"CONFIG", "SET", "slowlog-max-len", "100000"});
    redis(redis_command{"SLOWLOG", "RESET"});
    redis(redis_command{"CONFIG", "RESETSTAT"});
    const double before = main_thread_seconds(redis);
    std::size_t done = 0;
    while (done < total) {
        run(redis, shard.add(some_tasks(done, batch, 0), on_duplicate::reject));
        const auto claimed = read_claimed(run(redis, shard.claim(1'000, max_script_batch, 30'000, limits)));
        std::vector<begin_request> begins;
        for (const stored_task& t : claimed->tasks) begins.push_back({.id = t.id, .generation = t.generation});
        const auto begun = run(redis, begin_ways{&library, {&shard, 1}, 30'000, 1}, begins);
        std::vector<finish_request> acks;
        for (std::size_t i = 0; i < begins.size(); ++i)
            acks.push_back({.id = begins[i].id,
                            .generation = begins[i].generation,
                            .attempt = static_cast<std::uint32_t>(begun[i]->attempt)});
        const auto counted = run(redis, finish_ways{&library, {&shard, 1}, limits}, acks);
        done += static_cast<std::size_t>(std::count(counted.begin(), counted.end(), true));
    }
    const double us = (main_thread_seconds(redis) - before) * 1e6 / static_cast<double>(done);
    const std::string stats = redis(redis_command{"INFO", "commandstats"}).text();
    const auto at = stats.find("cmdstat_evalsha:");
    const double inside = std::strtod(stats.c_str() + stats.find("usec=", at) + 5, nullptr) / static_cast<double>(done);
    fmt::print("batch {:>3}  pending {:>6}  {:>6.1f} us a cycle, {:>5.1f} of it in scripts   longest calls, us:{}\n",
               batch, pending, us, inside, longest(redis, library));
    std::fflush(stdout);
}

void memory(plain_redis& redis, const script_library& library, std::size_t tasks) {
    redis(redis_command{"FLUSHALL"});
    redis(redis_command{"CONFIG", "SET", "slowlog-max-len", "0"}); // its entries take memory too
    redis(redis_command{"SLOWLOG", "RESET"});
    const double before = info_number(redis, "memory", "used_memory");
    for (std::uint32_t s = 0; s < 16; ++s) fill(redis, shard_calls(library, "cost", s), tasks / 16);
    fmt::print("{} tasks in 16 shards: {:.0f} bytes a task\n", tasks,
               (info_number(redis, "memory", "used_memory") - before) / static_cast<double>(tasks));
}

} // namespace

int main(int argc, char** argv) {
    if (!redis_server::installed()) {
        fmt::print("redis-server is not installed\n");
        return 1;
    }
    const std::size_t total = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000;
    if (argc > 2 || total == 0) {
        fmt::print(stderr, "script_cost [cycles for each line, at least 1, default 100000]\n");
        return 2;
    }
    redis_server server;
    plain_redis redis(server.socket());
    for (const script_text& s : script_texts()) redis(redis_command{"SCRIPT", "LOAD", s.text});
    const script_library library;
    fmt::print("Redis {}\n", info_number(redis, "server", "redis_version"));
    const double before = main_thread_seconds(redis);
    for (std::size_t i = 0; i < total; ++i) redis(redis_command{"PING"});
    fmt::print("4 PINGs, one by one: {:.1f} us\n",
               (main_thread_seconds(redis) - before) * 4e6 / static_cast<double>(total));
    for (const std::size_t pending : {0, 10'000})
        for (const std::size_t batch : {1, 10, 100, 128}) cycles(redis, library, batch, pending, total);
    for (const std::size_t tasks : {16'000, 100'000, 400'000}) memory(redis, library, tasks);
}
