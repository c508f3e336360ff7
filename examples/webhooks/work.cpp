// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "roles.hpp"
#include "support/output.hpp"

#include <cogwheel/durable/callback_handler.hpp>
#include <cogwheel/durable/durable_worker.hpp>

#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>

#include <csignal>

namespace webhooks {
namespace {

using namespace std::chrono_literals;
using cogwheel::durable_delivery;
using cogwheel::durable_outcome;

void say(const std::string& line) {
    fmt::print("{}\n", line);
    output::flush();
}

/// Says what begins, and sends it.
struct spoken_handler {
    asio::awaitable<durable_outcome> operator()(durable_delivery& task) const {
        say(fmt::format("begun {} {}", task.id(), task.attempt()));
        return handler(task);
    }
    auto gate() const { return handler.gate(); }

    cogwheel::callback_handler handler;
};

} // namespace

int work(const delivery_options& wanted) {
    asio::io_context io(1);
    cogwheel::timer_wheel wheel(io, {.tick = 100us});
    cogwheel::callback_options sending{.keys = {cogwheel::webhook_key::from_text(wanted.secret)}};
    sending.guard.networks = {cogwheel::ip_network::from_text("127.0.0.1")}; // the receiver of the demo
    const auto sender = std::make_shared<cogwheel::callback_sender>(wheel, sending);
    cogwheel::durable_queue queue(wheel, queue_options(wanted));
    cogwheel::durable_worker worker(
        queue, {.name = wanted.name,
                .lease = 3s, // so that the demo does not take half a minute longer
                .claim_lease = 1s,
                .backoff = cogwheel::backoff::exponential(200ms).cap(2s).jitter(cogwheel::backoff_jitter::full),
                .on_event = [](const cogwheel::durable_event& event) {
                    if (!event.id.empty())
                        say(fmt::format("event {} {} {}", event.id, event.token.attempt, to_string(event.what)));
                }});
    asio::signal_set signals(io, SIGTERM, SIGINT);
    signals.async_wait([&](std::error_code ec, int) {
        if (!ec) worker.drain();
    });
    std::error_code ended;
    worker.run(spoken_handler{cogwheel::callback_handler(sender)}, [&](std::error_code ec) {
        ended = ec;
        sender->close();
        queue.close();
        signals.cancel(ec);
    });
    io.run();
    if (ended) throw std::runtime_error(queue.trouble().empty() ? ended.message() : queue.trouble());
    return 0;
}

} // namespace webhooks
