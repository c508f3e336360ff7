// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A queue of durable tasks on each backend, for tests in real time: a real redis-server, or a journal in a temporary
// folder. The tests wait for what must happen, and measure no time.
#pragma once

#include "support/durable/redis_server.hpp"
#include "support/tasks/journal_rig.hpp"

#include <cogwheel/durable/durable_worker.hpp>
#include <cogwheel/tasks/task_journal.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/use_awaitable.hpp>
#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cogwheel_tests {

inline cogwheel::durable_task worker_task(std::string id, std::chrono::milliseconds delay = {}) {
    return {.id = std::move(id), .when = cogwheel::task_trigger::once(delay), .body = "body"};
}

/// Short times, so that a test need not wait for the defaults.
inline cogwheel::durable_worker_options quick_worker() {
    cogwheel::durable_worker_options o;
    o.lease = std::chrono::seconds(1);
    o.claim_interval = std::chrono::milliseconds(20);
    o.backoff = cogwheel::backoff::constant(std::chrono::milliseconds(20));
    return o;
}

enum class durable_backend { journal, redis };

/// Returns the backends that this machine has.
inline std::vector<durable_backend> durable_backends() {
    if (redis_server::installed()) return {durable_backend::journal, durable_backend::redis};
    MESSAGE("skipped for Redis: redis-server is not installed");
    return {durable_backend::journal};
}

/// A queue whose context ends with it, whatever waits there.
struct queue_in_memory {
    cogwheel::memory_storage storage;
    asio::io_context io;
    cogwheel::timer_wheel wheel{io};
    cogwheel::durable_queue queue{wheel, storage};
};

class durable_rig {
public:
    explicit durable_rig(durable_backend b, cogwheel::durable_options options = {}) : backend_(b), options_(options) {
        options_.shards = 4;
        options_.durability = cogwheel::durable_durability::memory();
        if (b == durable_backend::redis) {
            server.emplace();
            options_.redis = server->client();
        }
        make_queue();
    }

    /// On servers that run already.
    explicit durable_rig(cogwheel::redis_options servers) : backend_(durable_backend::redis) {
        options_.shards = 4;
        options_.durability = cogwheel::durable_durability::memory();
        options_.redis = std::move(servers);
        make_queue();
    }

    durable_rig(const durable_rig&) = delete;
    durable_rig& operator=(const durable_rig&) = delete;
    /// Lets what was stopped end: a worker that waits keeps itself alive until its context has run.
    ~durable_rig() {
        queue.reset();
        io.restart();
        io.poll();
    }

    /// Makes the queue anew, as a program that was started again.
    void make_queue() {
        queue.reset();
        io.restart();
        io.poll();
        if (backend_ == durable_backend::redis) {
            queue = std::make_unique<cogwheel::durable_queue>(wheel, options_);
        } else {
            journal.reset();
            journal.emplace(folder_ / "tasks");
            queue = std::make_unique<cogwheel::durable_queue>(wheel, *journal, options_);
        }
        act([&](auto h) { queue->open(h); });
        REQUIRE_MESSAGE(!error, error.message(), queue->trouble());
    }

    /// Runs the loop until `done` says true. Fails the test after 90 s, which is far beyond what anything here takes:
    /// a sentinel that a busy machine holds up for two seconds does nothing for the next thirty.
    template <class Done>
    void run_until(Done done) {
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(90);
        while (!done()) {
            REQUIRE(std::chrono::steady_clock::now() < limit);
            io.restart();
            io.run_one_for(std::chrono::milliseconds(20));
        }
    }

    /// Starts operation(token), and runs the loop until it has ended. Returns its result; its error is in `error`.
    template <class R, class Start>
    R get(Start start) {
        std::optional<R> result;
        start([&](std::error_code ec, R r) {
            error = ec;
            result = std::move(r);
        });
        run_until([&] { return result.has_value(); });
        return std::move(*result);
    }
    template <class Start>
    void act(Start start) {
        bool ended = false;
        start([&](std::error_code ec) {
            error = ec;
            ended = true;
        });
        run_until([&] { return ended; });
    }

    cogwheel::durable_receipt add(cogwheel::durable_task t,
                                  cogwheel::on_duplicate policy = cogwheel::on_duplicate::reject) {
        return get<cogwheel::durable_receipt>([&](auto h) { queue->schedule(std::move(t), policy, h); });
    }
    cogwheel::durable_counts counts() {
        return get<cogwheel::durable_counts>([&](auto h) { queue->counts(h); });
    }
    std::optional<cogwheel::durable_info> find(const std::string& id) {
        return get<std::optional<cogwheel::durable_info>>([&](auto h) { queue->find(id, h); });
    }
    cogwheel::durable_cancel_result cancel(const std::string& id) {
        return get<cogwheel::durable_cancel_result>([&](auto h) { queue->cancel(id, h); });
    }

    asio::io_context io;
    cogwheel::timer_wheel wheel{io};
    std::optional<redis_server> server;
    std::optional<cogwheel::task_journal> journal;
    std::unique_ptr<cogwheel::durable_queue> queue;
    std::error_code error;

private:
    durable_backend backend_;
    cogwheel::durable_options options_;
    scratch_directory folder_;
};

/// A worker, what its handler saw, and how it ended.
class worker_rig {
public:
    struct seen {
        std::string id;
        std::uint32_t attempt;
        std::chrono::microseconds lateness;
        cogwheel::fencing_token token;
    };

    explicit worker_rig(durable_rig& r, cogwheel::durable_worker_options options = {})
        : worker(*r.queue, std::move(options)), rig_(&r) {}
    worker_rig(const worker_rig&) = delete;
    worker_rig& operator=(const worker_rig&) = delete;
    /// Lets run() end, because its handlers refer to this object.
    ~worker_rig() {
        worker.stop();
        for (int i = 0; i < 1'000 && started_ && !ended; ++i) {
            rig_->io.restart();
            rig_->io.run_one_for(std::chrono::milliseconds(10));
        }
    }

    /// Runs with a handler that notes each delivery, and then does what `then` says.
    template <class Then>
    void run(Then then) {
        started_ = true;
        worker.run(
            [this, then](cogwheel::durable_delivery& d) mutable {
                deliveries.push_back({d.id(), d.attempt(), d.lateness(), d.token()});
                return then(d);
            },
            [this](std::error_code ec) { ended = ec; });
    }
    void run() {
        run([](cogwheel::durable_delivery&) { return cogwheel::durable_outcome::done(); });
    }

    std::vector<seen> deliveries;
    std::optional<std::error_code> ended;
    cogwheel::durable_worker worker;

private:
    durable_rig* rig_;
    bool started_ = false;
};

} // namespace cogwheel_tests
