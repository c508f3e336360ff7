// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "work/deliveries.hpp"

#include "api/event_writer.hpp"
#include "api/task_writer.hpp"
#include "support/output.hpp"

#include <asio/awaitable.hpp>
#include <asio/use_awaitable.hpp>

namespace cogwheeld {

namespace {

using cogwheel::durable_delivery;
using cogwheel::durable_outcome;

asio::awaitable<durable_outcome> deliver(std::shared_ptr<cogwheel::callback_sender> sender,
                                         const durable_delivery& task) {
    auto call = cogwheel::http_callback::decode(task.body());
    if (!call) co_return durable_outcome::fail("the body is no callback: another program scheduled this task");
    cogwheel::callback_delivery delivery{.id = task.id(),
                                         .attempt = task.attempt(),
                                         .fencing_token = task.token().text(),
                                         .traceparent = task.traceparent()};
    auto result = co_await sender->async_send(std::move(*call), std::move(delivery), asio::use_awaitable);
    if (result.outcome == cogwheel::callback_outcome::succeeded)
        co_return durable_outcome::done(pack_result(result.status, result.body));
    if (result.outcome == cogwheel::callback_outcome::failed_for_good)
        co_return durable_outcome::fail(std::move(result.message));
    if (result.retry_after) co_return durable_outcome::retry_after(*result.retry_after, std::move(result.message));
    co_return durable_outcome::retry(std::move(result.message));
}

cogwheel::durable_worker_options worker_options(const settings& s,
                                                std::function<void(const cogwheel::durable_event&)> f) {
    return {
        .max_in_flight = s.max_in_flight,
        .lease = s.lease,
        .backoff =
            cogwheel::backoff::exponential(s.backoff_first).cap(s.backoff_cap).jitter(cogwheel::backoff_jitter::equal),
        .on_event = std::move(f)};
}

} // namespace

deliveries::deliveries(cogwheel::timer_wheel& wheel, cogwheel::durable_queue& queue, const settings& wanted,
                       event_hub& hub)
    : wheel_{wheel},
      hub_{hub},
      sender_{std::make_shared<cogwheel::callback_sender>(wheel, wanted.callbacks)},
      worker_{queue, worker_options(wanted, [this](const cogwheel::durable_event& e) { note(e); })} {}

void deliveries::start(std::function<void(std::error_code)> ended) {
    // Each attempt has the sender of its beginning: change() may put another one in its place.
    worker_.run([this](durable_delivery& task) { return deliver(sender_, task); },
                [this, f = std::move(ended)](std::error_code ec) {
                    sender_->close();
                    f(ec);
                });
}

void deliveries::drain() { worker_.drain(); }

void deliveries::stop() {
    worker_.stop();
    sender_->close();
}

void deliveries::change(const settings& wanted) {
    auto old = std::exchange(sender_, std::make_shared<cogwheel::callback_sender>(wheel_, wanted.callbacks));
    auto& sender = *old;
    sender.async_drain([keep = std::move(old)](std::error_code) {}); // its connections close when it has drained
}

void deliveries::note(const cogwheel::durable_event& e) {
    hub_.publish("task", event_json(e));
    if (e.what == cogwheel::durable_event::kind::done) trouble_.clear();
    // It comes again with each attempt to claim: one line until something works.
    if (e.what == cogwheel::durable_event::kind::trouble &&
        std::exchange(trouble_, e.error.message()) != e.error.message())
        output::complain("cogwheeld: the worker has trouble: {}\n", trouble_);
}

} // namespace cogwheeld
