// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The producer of durable_bench.
#include "roles.hpp"

#include <cogwheel/asio/timer_wheel.hpp>
#include <cogwheel/durable/durable_queue.hpp>

#include <asio/co_spawn.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <system_error>

namespace cogwheel::bench {

namespace {

using std::chrono::milliseconds;

durable_task make_task(const std::string& name, std::size_t number, std::int64_t due_ms) {
    durable_task t;
    t.id = fmt::format("{}-{}", name, number);
    t.when = task_trigger::at(std::chrono::sys_time<milliseconds>(milliseconds(due_ms)));
    t.body = fmt::format("{} ", due_ms);
    t.body.resize(200, 'x');
    return t;
}

void check(const std::vector<durable_added>& added) {
    for (const durable_added& a : added)
        if (a.error) throw std::system_error(a.error, "schedule_all");
}

// Adds each task by a call of its own, as a server does for its requests. All callers share the tasks.
asio::awaitable<void> add_singly(durable_queue& queue, std::shared_ptr<std::vector<durable_task>> tasks) {
    while (!tasks->empty()) {
        durable_task task = std::move(tasks->back());
        tasks->pop_back();
        co_await queue.schedule(std::move(task), asio::use_awaitable);
    }
}

asio::awaitable<void> add_all_singly(durable_queue& queue, std::vector<durable_task> tasks, std::size_t callers) {
    const auto shared = std::make_shared<std::vector<durable_task>>(std::move(tasks));
    asio::steady_timer ended(queue.get_executor(), asio::steady_timer::time_point::max());
    std::size_t left = callers;
    for (std::size_t i = 0; i < callers; ++i)
        asio::co_spawn(queue.get_executor(), add_singly(queue, shared), [&](const std::exception_ptr& failed) {
            if (failed) std::rethrow_exception(failed);
            if (--left == 0) ended.cancel();
        });
    std::error_code ec;
    co_await ended.async_wait(asio::redirect_error(asio::use_awaitable, ec));
}

} // namespace

asio::awaitable<void> produce(durable_arguments a) {
    const std::vector<planned_task> plan = read_plan(a.plan);
    const auto executor = co_await asio::this_coro::executor;
    timer_wheel wheel(executor, {.tick = milliseconds(1)});
    durable_options options;
    options.redis.addresses = {redis_address{"", 0, a.socket}};
    options.shards = a.shards;
    durable_queue queue(wheel, options);
    co_await queue.open(asio::use_awaitable);
    say("ready");
    co_await wait_for_go();

    asio::steady_timer pause(executor);
    const std::int64_t zero = now_us() / 1'000;
    const auto now = [zero] { return now_us() / 1'000 - zero; };
    for (std::size_t i = 0; i < plan.size();) {
        const std::int64_t upto = now();
        std::vector<durable_task> tasks;
        const std::size_t most = a.chunk == 1 ? plan.size() : a.chunk;
        for (; i < plan.size() && tasks.size() < most && plan[i].add_ms <= upto; ++i)
            tasks.push_back(make_task(a.name, i, zero + plan[i].due_ms));
        const bool all = tasks.size() < most;
        if (a.chunk == 1 && !tasks.empty()) {
            co_await add_all_singly(queue, std::move(tasks), a.callers);
        } else if (!tasks.empty()) {
            const auto added = co_await queue.schedule_all(std::move(tasks), on_duplicate::reject, asio::use_awaitable);
            check(added);
        }
        if (!all || i == plan.size()) continue;
        pause.expires_after(std::max(milliseconds(50), milliseconds(plan[i].add_ms - now())));
        co_await pause.async_wait(asio::use_awaitable);
    }
    say(fmt::format(R"(done {{"added": {}, "seconds": {:.3f}, "cpu_us": {}}})", plan.size(),
                    static_cast<double>(now()) / 1e3, spent_us()));
    queue.close();
}

} // namespace cogwheel::bench
