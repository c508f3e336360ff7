// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The worker of durable_bench.
#include "roles.hpp"

#include <cogwheel/asio/timer_wheel.hpp>
#include <cogwheel/durable/durable_worker.hpp>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <system_error>

namespace cogwheel::bench {

namespace {

struct lateness {
    std::int64_t wall_us = 0, server_us = 0;
};

void write(const std::string& file, const std::vector<lateness>& all) {
    std::ofstream out(file);
    for (const lateness& l : all) out << l.wall_us << ' ' << l.server_us << '\n';
}

// Says `ready` when the worker has got all shards.
asio::awaitable<void> await_shards(durable_worker& worker, std::uint32_t shards) {
    asio::steady_timer pause(worker.get_executor());
    while (worker.stats().own_shards < shards) {
        pause.expires_after(std::chrono::milliseconds(5));
        co_await pause.async_wait(asio::use_awaitable);
    }
    say("ready");
}

} // namespace

asio::awaitable<void> work(durable_arguments a) {
    const auto executor = co_await asio::this_coro::executor;
    timer_wheel wheel(executor, {.tick = a.tick, .slots = 16'384});
    durable_options options;
    options.redis.addresses = {redis_address{"", 0, a.socket}};
    options.shards = a.shards;
    options.redis.log = [](std::string_view line) { fmt::print(stderr, "durable_bench: {}\n", line); };
    durable_queue queue(wheel, options);
    co_await queue.open(asio::use_awaitable);

    std::vector<lateness> all;
    all.reserve(a.tasks);
    durable_worker_options worker_options;
    worker_options.batch = a.batch;
    durable_worker worker(queue, worker_options);
    const auto handler = [&](durable_delivery& d) {
        const std::int64_t now = now_us();
        std::int64_t due_ms = 0;
        std::from_chars(d.body().data(), d.body().data() + d.body().size(), due_ms);
        all.push_back({now - due_ms * 1'000, d.lateness().count()});
        if (all.size() == a.tasks) worker.drain();
    };
    auto limit = wheel.schedule(a.limit, [&] { worker.drain(); });
    asio::co_spawn(executor, await_shards(worker, a.shards), asio::detached);
    co_await worker.run(handler, asio::use_awaitable);
    limit.cancel();

    const durable_worker_stats s = worker.stats();
    say(fmt::format(
        R"(done {{"handled": {}, "cpu_us": {}, "claimed": {}, "early_begins": {}, "gone": {}, "troubles": {}}})",
        all.size(), spent_us(), s.claimed, s.early, s.gone, s.troubles));
    write(a.out, all);
    queue.close();
}

} // namespace cogwheel::bench
