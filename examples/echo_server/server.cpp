// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The accept loop and what surrounds it. Nothing here polls: with no client and no --stats, the process sleeps.

#include "server.hpp"

#include "support/listen.hpp"
#include "support/spawned.hpp"

#include <asio/co_spawn.hpp>
#include <asio/dispatch.hpp>
#include <asio/post.hpp>
#include <asio/redirect_error.hpp>
#include <asio/strand.hpp>
#include <asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <exception>
#include <thread>
#include <vector>

namespace echo {
namespace {

constexpr std::chrono::milliseconds accept_retry_delay{100};

} // namespace

server::server(const options& wanted)
    : options_{wanted},
      io_{static_cast<int>(wanted.threads)},
      control_{new_executor()},
      wheel_{io_, {.tick = wanted.tick, .slots = wanted.slots}},
      acceptor_{listen_on(control_, {wanted.address, wanted.port})},
      signals_{control_, SIGINT, SIGTERM} {
    if (options_.metrics_port || options_.monitor) offer_metrics();
}

std::string server::endpoint() const { return to_text(acceptor_.local_endpoint()); }

asio::any_io_executor server::new_executor() {
    if (options_.threads > 1) return asio::make_strand(io_);
    return io_.get_executor();
}

void server::run() {
    signals_.async_wait([this](std::error_code ec, int) {
        if (!ec) stop();
    });
    if (options_.seconds.count() > 0)
        wheel_.schedule(options_.seconds, [this] { asio::dispatch(control_, [this] { stop(); }); });
    if (metrics_server_) metrics_server_->start();
    if (monitor_) monitor_->start();
    if (options_.stats.count() > 0) {
        asio::co_spawn(control_, epoch_loop(), rethrow);
        asio::co_spawn(control_, report_loop(), rethrow);
    }
    accept_if_room();
    {
        std::vector<std::jthread> others;
        for (unsigned i = 1; i < options_.threads; ++i) others.emplace_back([this] { run_thread(); });
        run_thread();
    }
    if (failure_ != nullptr) std::rethrow_exception(failure_);
}

/// What a handler throws ends the server, not the thread.
void server::run_thread() {
    for (;;) {
        try {
            io_.run();
            return;
        } catch (...) {
            fail(std::current_exception());
        }
    }
}

/// The first failure is told when all have come to an end.
void server::fail(const std::exception_ptr& failure) {
    {
        const std::lock_guard lock{mutex_};
        if (failure_ == nullptr) failure_ = failure;
    }
    asio::post(control_, [this] { stop(); });
}

std::string server::summary() const {
    return counts_.summary(std::chrono::steady_clock::now() - started_, wheel_.stats());
}

void server::accept_if_room() {
    if (!stopping_ && take_room()) asio::co_spawn(control_, accept_loop(), rethrow);
}

asio::awaitable<void> server::accept_loop() {
    bool complained = false;
    do {
        std::string why;
        try {
            std::error_code ec;
            auto socket =
                co_await acceptor_.async_accept(new_executor(), asio::redirect_error(asio::use_awaitable, ec));
            if (stopping_) co_return;
            if (!ec) {
                start(std::move(socket));
                complained = false;
                continue;
            }
            why = ec.message();
        } catch (const std::exception& error) {
            why = error.what();
        }

        // Out of descriptors or memory (EMFILE, ENFILE, ENOBUFS, ENOMEM), or a connection that died in the queue. The
        // listening socket stays readable: trying again at once would spin, giving up would leave a dead server.
        counts_.accept_failed();
        if (!std::exchange(complained, true))
            output::complain("echo_server: cannot accept: {}; serving {} connections, trying again every {} ms\n", why,
                             connections(), accept_retry_delay.count());
        std::error_code ignored;
        co_await wheel_.async_wait(accept_retry_delay, asio::redirect_error(asio::use_awaitable, ignored));
        if (stopping_) co_return;
    } while (take_room());
}

/// Shows how it goes at once, at each --stats, and at the end.
asio::awaitable<void> server::report_loop() {
    live_report report{counts_};
    for (std::error_code stopped; !stopped;) {
        report.show(connections());
        co_await wheel_.async_wait(options_.stats, asio::redirect_error(asio::use_awaitable, stopped));
    }
    report.show(connections());
}

asio::awaitable<void> server::epoch_loop() {
    for (std::error_code stopped; !stopped;) {
        counts_.activity.begin_epoch();
        co_await wheel_.async_wait(activity_window::epoch_length, asio::redirect_error(asio::use_awaitable, stopped));
    }
}

/// False at the limit; the next connection that leaves then starts the accept loop again.
bool server::take_room() {
    const std::lock_guard lock{mutex_};
    full_ = clients_.size() >= options_.max_connections;
    return !full_;
}

void server::start(asio::ip::tcp::socket socket) {
    counts_.accepted();
    auto client = std::make_shared<connection>(std::move(socket), wheel_, options_, counts_);
    {
        const std::lock_guard lock{mutex_};
        clients_.insert(client);
    }
    try {
        asio::co_spawn(client->get_executor(), client->serve(client),
                       [this, client](const std::exception_ptr& failure) {
                           if (failure != nullptr) counts_.failed();
                           left(client);
                       });
    } catch (...) {
        left(client);
        throw;
    }
}

void server::left(const std::shared_ptr<connection>& client) {
    bool was_full = false;
    {
        const std::lock_guard lock{mutex_};
        clients_.erase(client);
        was_full = std::exchange(full_, false);
    }
    if (was_full) asio::post(control_, [this] { accept_if_room(); });
}

std::size_t server::connections() const {
    const std::lock_guard lock{mutex_};
    return clients_.size();
}

void server::stop() {
    if (std::exchange(stopping_, true)) return;
    std::error_code ignored;
    signals_.clear(ignored); // a second signal ends the process at once
    signals_.cancel(ignored);
    statistics_.stop();
    acceptor_.close(ignored);
    if (metrics_server_) metrics_server_->stop();
    if (monitor_) monitor_->stop();
    wheel_.stop();

    const std::lock_guard lock{mutex_};
    for (const auto& client : clients_) asio::post(client->get_executor(), [client] { client->close(); });
}

/// Its functions run on control_, while connections run on other threads: each reads an atomic, or takes the lock.
void server::offer_metrics() {
    metrics_.add("echo", wheel_);
    metrics_.counter("echo_connections_accepted_total", "Connections that the server accepted.",
                     [this] { return static_cast<double>(counts_.accepted_so_far()); });
    metrics_.gauge("echo_connections", "Connections that are open.",
                   [this] { return static_cast<double>(connections()); });
    metrics_.counter("echo_bytes_total", "Bytes that the server sent back.",
                     [this] { return static_cast<double>(counts_.echoed_bytes()); });
    const auto kicks = [this](kick_reason reason, const char* name) {
        metrics_.counter("echo_kicks_total", "Connections that the server closed, by reason.",
                         [this, reason] { return static_cast<double>(counts_.kicks(reason)); }, {{"reason", name}});
    };
    kicks(kick_reason::idle, "idle");
    kicks(kick_reason::peer_does_not_read, "peer_does_not_read");

    page_.add("echo", wheel_);
    const auto offer = [this](auto& endpoint, watch_sources sources, const asio::ip::tcp::endpoint& at) {
        endpoint.emplace(control_, wheel_, sources, at, "echo_server");
    };
    if (const auto port = options_.metrics_port)
        offer(metrics_server_, {.metrics = &metrics_}, {asio::ip::address_v4::loopback(), *port});
    if (options_.monitor) offer(monitor_, {.metrics = &metrics_, .page = &page_}, *options_.monitor);
}

} // namespace echo
