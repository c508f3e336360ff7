// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "roles.hpp"
#include "support/output.hpp"
#include "support/spawned.hpp"

#include <cogwheel/durable/http_callback.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

namespace webhooks {
namespace {

/// Adds a batch, and again what was not added: the same ids with on_duplicate::keep make no second task.
asio::awaitable<void> add(cogwheel::durable_queue& queue, std::vector<cogwheel::durable_task> batch) {
    using namespace std::chrono;
    while (!batch.empty()) {
        std::error_code ec;
        auto copy = batch;
        const auto added = co_await queue.schedule_all(std::move(copy), cogwheel::on_duplicate::keep,
                                                       asio::redirect_error(asio::use_awaitable, ec));
        std::vector<cogwheel::durable_task> again;
        for (std::size_t i = 0; i < batch.size(); ++i) {
            if (!ec && !added[i].error)
                fmt::print("due {} {}\n", batch[i].id,
                           duration_cast<milliseconds>(added[i].receipt.due.time_since_epoch()).count());
            else
                again.push_back(std::move(batch[i]));
        }
        batch = std::move(again);
    }
}

asio::awaitable<void> add_all(cogwheel::timer_wheel& wheel, cogwheel::durable_queue& queue,
                              const delivery_options& wanted) {
    std::error_code ec;
    co_await queue.open(asio::redirect_error(asio::use_awaitable, ec));
    if (ec) throw std::runtime_error(queue.trouble().empty() ? ec.message() : queue.trouble());
    std::vector<cogwheel::durable_task> batch;
    for (std::uint64_t n = 0; n < wanted.count; ++n) {
        const cogwheel::http_callback call{.url = wanted.to, .body = fmt::format(R"({{"order":{}}})", n)};
        if (const auto bad = call.check()) throw std::system_error(bad, "--to " + wanted.to);
        const auto delay = wanted.first + wanted.over * n / std::max<std::uint64_t>(wanted.count, 1);
        batch.push_back(
            {.id = fmt::format("order-{}", n), .when = cogwheel::task_trigger::once(delay), .body = call.encode()});
        if (batch.size() == 500 || n + 1 == wanted.count) co_await add(queue, std::exchange(batch, {}));
    }
    fmt::print("scheduled\n");
    output::flush();
    for (bool empty = false; !empty;) {
        const auto counts = co_await queue.counts(asio::redirect_error(asio::use_awaitable, ec));
        empty = !ec && counts.waiting + counts.claimed == 0;
        co_await wheel.async_wait(std::chrono::milliseconds(50), asio::use_awaitable);
    }
    queue.close();
}

} // namespace

int schedule(const delivery_options& wanted) {
    asio::io_context io(1);
    cogwheel::timer_wheel wheel(io);
    cogwheel::durable_queue queue(wheel, queue_options(wanted));
    asio::co_spawn(io, add_all(wheel, queue, wanted), rethrow);
    io.run();
    return 0;
}

} // namespace webhooks
