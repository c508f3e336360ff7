// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "work/deliveries.hpp"

#include "support/output.hpp"

#include <cogwheel/durable/webhook_signature.hpp>

namespace cogwheeld {

namespace {

cogwheel::durable_worker_options worker_options(const settings& s,
                                                std::function<void(const cogwheel::durable_event&)> f) {
    return {
        .max_in_flight = s.max_in_flight,
        .lease = s.lease,
        .backoff =
            cogwheel::backoff::exponential(s.backoff_first).cap(s.backoff_cap).jitter(cogwheel::backoff_jitter::equal),
        .max_wait = s.max_wait,
        .on_event = std::move(f)};
}

} // namespace

deliveries::deliveries(cogwheel::timer_wheel& wheel, cogwheel::durable_queue& queue, const settings& wanted,
                       std::function<void(const cogwheel::durable_event&)> heard)
    : wheel_{wheel},
      heard_{std::move(heard)},
      handler_{std::make_shared<cogwheel::callback_sender>(wheel, wanted.callbacks)},
      worker_{queue, worker_options(wanted, [this](const cogwheel::durable_event& e) { note(e); })} {}

void deliveries::start(std::function<void(std::error_code)> ended) {
    worker_.run(handler_, [this, f = std::move(ended)](std::error_code ec) {
        handler_.sender()->close();
        f(ec);
    });
}

void deliveries::drain() { worker_.drain(); }
void deliveries::cut() {
    handler_.sender()->close();
    for (const auto& old : draining_)
        if (const auto sender = old.lock()) sender->close();
}
void deliveries::stop() { worker_.stop(); }

void deliveries::change(const settings& wanted) {
    auto old = handler_.sender();
    handler_.change(std::make_shared<cogwheel::callback_sender>(wheel_, wanted.callbacks));
    std::erase_if(draining_, [](const auto& s) { return s.expired(); });
    draining_.push_back(old);
    auto& sender = *old;
    sender.async_drain([keep = std::move(old)](std::error_code) {}); // its connections close when it has drained
}

void deliveries::note(const cogwheel::durable_event& e) {
    heard_(e);
    if (e.what == cogwheel::durable_event::kind::done) trouble_.clear();
    if (e.what == cogwheel::durable_event::kind::dead) say_dead(e);
    // It comes again with each attempt to claim: one line until something works.
    if (e.what == cogwheel::durable_event::kind::trouble &&
        std::exchange(trouble_, e.error.message()) != e.error.message())
        output::complain("cogwheeld: the worker has trouble: {}\n", trouble_);
}

// A host that is gone for good takes all its tasks along: some of them are named, the rest is counted.
void deliveries::say_dead(const cogwheel::durable_event& e) {
    constexpr int named_in_a_second = 10;
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::steady_clock::now());
    if (std::exchange(dead_second_, now) != now) {
        if (dead_now_ > named_in_a_second)
            output::complain("cogwheeld: and {} more are dead\n", dead_now_ - named_in_a_second);
        dead_now_ = 0;
    }
    if (++dead_now_ <= named_in_a_second)
        output::complain("cogwheeld: task {} is dead after attempt {}: {}\n", cogwheel::webhook_safe(e.id),
                         e.token.attempt, e.message);
}

} // namespace cogwheeld
