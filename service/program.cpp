// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "program.hpp"

#include "api/event_hub.hpp"
#include "api/event_writer.hpp"
#include "api/service_api.hpp"
#include "api/task_writer.hpp"
#include "durable_backend.hpp"
#include "http/server.hpp"
#include "service_metrics.hpp"
#include "support/descriptor_limit.hpp"
#include "support/output.hpp"
#include "support/spawned.hpp"

#include <asio/co_spawn.hpp>
#include <asio/redirect_error.hpp>
#include <asio/signal_set.hpp>
#include <asio/use_awaitable.hpp>

#include <csignal>
#include <optional>

namespace cogwheeld {

namespace {

using namespace std::chrono_literals;

/// The connections that the descriptors of this process allow: some are for Redis, callbacks and files.
std::size_t connections_within(const settings& s) {
    raise_descriptor_limit();
    const std::size_t reserve = 64 + (s.works ? s.max_in_flight + s.callbacks.max_idle_connections : 0);
    const std::size_t descriptors = descriptor_limit();
    if (descriptors < reserve + 16)
        throw std::invalid_argument(fmt::format("{} descriptors are too few: raise them (ulimit -n, LimitNOFILE) to {} "
                                                "at least, or lower --max-in-flight",
                                                descriptors, reserve + 16));
    return std::min(s.http.connections, descriptors - reserve);
}

http_limits limits_of(const settings& s) {
    auto limits = s.http;
    limits.connections = connections_within(s);
    return limits;
}

class service {
public:
    explicit service(invocation called)
        : called_{std::move(called)},
          backend_{wheel_, settings_},
          hub_{io_, wheel_},
          api_{queue(), settings_, hub_, metrics_},
          server_{io_, wheel_, settings_.listen, api_, limits_of(settings_)} {
        if (settings_.works)
            deliveries_.emplace(wheel_, queue(), settings_,
                                [this](const cogwheel::durable_event& e) { hub_.publish("task", event_json(e)); });
        offer_metrics(metrics_, wheel_, server_, hub_, api_.state(), deliveries_ ? &*deliveries_ : nullptr);
    }

    int run() {
        fmt::print("listening on {}\n", server_.endpoint());
        output::flush();
        listen_to_signals();
        server_.start();
        asio::co_spawn(io_, open(), rethrow);
        io_.run();
        return exit_code_;
    }

private:
    cogwheel::durable_queue& queue() noexcept { return backend_.queue(); }

    // ---- the start ----

    asio::awaitable<void> open() {
        std::error_code ec;
        co_await queue().open(asio::redirect_error(asio::use_awaitable, ec));
        if (draining_) co_return;
        if (ec) {
            const auto why = queue().trouble();
            output::complain("cogwheeld: cannot use the queue: {}\n", why.empty() ? ec.message() : why);
            exit_code_ = 1;
            begin_drain();
            co_return;
        }
        api_.open();
        output::complain("cogwheeld: the queue '{}' is open\n", queue().options().name);
        if (const auto lost = queue().trouble(); !lost.empty())
            output::complain("cogwheeld: tasks are lost: {}\n", lost);
        if (deliveries_) {
            api_.explain_by(*deliveries_);
            working_ = true;
            deliveries_->start([this](std::error_code failed) { work_ended(failed); });
        }
        if (settings_.serves_api) asio::co_spawn(io_, report(), rethrow);
    }

    void work_ended(std::error_code ec) {
        working_ = false;
        if (!draining_) {
            output::complain("cogwheeld: the worker has ended: {}\n", ec.message());
            exit_code_ = 1;
            begin_drain();
        }
        drained_.cancel();
    }

    // For the page: where the queue stands, once a second while somebody looks.
    asio::awaitable<void> report() {
        while (!draining_) {
            std::error_code ec;
            if (hub_.viewers() != 0) {
                const auto counts = co_await queue().counts(asio::redirect_error(asio::use_awaitable, ec));
                if (!ec) hub_.publish_now("queue", counts_json(counts, queue().trouble()));
                if (deliveries_) hub_.publish_now("worker", worker_json(deliveries_->name(), deliveries_->stats()));
            }
            co_await tick_.async_wait(1s, asio::redirect_error(asio::use_awaitable, ec));
        }
    }

    // ---- signals ----

    void listen_to_signals() {
        ends_.async_wait([this](std::error_code ec, int) {
            if (!ec) begin_drain();
        });
        await_reload();
    }

    void await_reload() {
        reloads_.async_wait([this](std::error_code ec, int) {
            if (ec) return;
            reload();
            await_reload();
        });
    }

    // What is wrong leaves everything as it was.
    void reload() {
        try {
            auto arguments = called_.arguments;
            std::vector<char*> pointers;
            for (auto& a : arguments) pointers.push_back(a.data());
            const auto now = read_arguments(static_cast<int>(pointers.size()), pointers.data()).wanted;
            if (deliveries_) deliveries_->change(now);
            api_.change(now);
            output::complain("cogwheeld: tokens, keys, allowed hosts and rate are as the files say\n");
        } catch (const std::exception& error) {
            output::complain("cogwheeld: nothing is changed: {}\n", error.what());
        }
    }

    // ---- the end ----

    void begin_drain() {
        if (std::exchange(draining_, true)) return;
        std::error_code ignored;
        ends_.clear(ignored); // a second signal ends the process at once
        ends_.cancel(ignored);
        reloads_.cancel(ignored);
        asio::co_spawn(io_, drain(), rethrow);
    }

    asio::awaitable<void> drain() {
        api_.close();
        hub_.close();
        server_.stop();
        if (working_) deliveries_->drain();
        drained_.expires_after(settings_.drain); // for both
        const std::size_t cut = co_await server_.drain(settings_.drain);
        if (working_) {
            std::error_code ignored;
            co_await drained_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
        }
        const std::size_t under_way = working_ ? deliveries_->stats().in_flight : 0;
        const bool late = cut != 0 || working_;
        if (working_) { // the queue hears how they ended
            deliveries_->cut();
            drained_.expires_after(5s);
            std::error_code ignored;
            co_await drained_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
        }
        if (late) {
            output::complain("cogwheeld: ended after {} s with {} connections and {} callbacks under way\n",
                             std::chrono::ceil<std::chrono::seconds>(settings_.drain).count(), cut, under_way);
            exit_code_ = 1;
        }
        if (working_) deliveries_->stop();
        tick_.stop();
        queue().close();
    }

    invocation called_;
    const settings& settings_ = called_.wanted;
    asio::io_context io_{1};
    cogwheel::timer_wheel wheel_{io_, {.tick = 1ms}};
    cogwheel::timer_wheel tick_{io_}; // of report(): stops on its own
    durable_backend backend_;
    cogwheel::metrics metrics_;
    event_hub hub_;
    service_api api_;
    http_server server_;
    std::optional<deliveries> deliveries_;
    asio::signal_set ends_{io_, SIGTERM, SIGINT}, reloads_{io_, SIGHUP};
    asio::steady_timer drained_{io_};
    bool working_ = false, draining_ = false;
    int exit_code_ = 0;
};

} // namespace

int serve(invocation called) { return service(std::move(called)).run(); }

int audit(const settings& wanted) {
    asio::io_context io{1};
    cogwheel::timer_wheel wheel(io);
    durable_backend backend(wheel, wanted);
    auto& queue = backend.queue();
    int code = 1;
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            std::error_code ec;
            const auto token = [&ec] { return asio::redirect_error(asio::use_awaitable, ec); };
            co_await queue.open(token());
            cogwheel::durable_audit found;
            cogwheel::durable_counts counts;
            if (!ec) found = co_await queue.audit(token());
            if (!ec) counts = co_await queue.counts(token());
            if (ec)
                output::complain("cogwheeld: {}\n", queue.trouble().empty() ? ec.message() : queue.trouble());
            else
                fmt::print("queue     {}\nseen      {} tasks\nrepaired  {}\nwaiting   {}\nclaimed   {}\noverdue   {}\n"
                           "done      {}\ndead      {}\npaused    {}\n",
                           queue.options().name, found.tasks, found.repaired, counts.waiting, counts.claimed,
                           counts.overdue, counts.done, counts.dead, counts.paused ? "yes" : "no");
            const auto lost = ec ? std::string() : queue.trouble();
            if (!lost.empty()) output::complain("cogwheeld: tasks are lost: {}\n", lost);
            code = ec || !lost.empty() ? 1 : 0;
            queue.close();
        },
        rethrow);
    io.run();
    return code;
}

} // namespace cogwheeld
