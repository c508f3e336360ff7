// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Accepts, keeps the list of connections, reports, and ends in good order. Its own work (accepting, signals,
// reports) runs on one strand; connections run on theirs. With one thread all of them are the context itself.
#pragma once

#include "connection.hpp"
#include "options.hpp"
#include "statistics.hpp"
#include "support/statistics_signal.hpp"
#include "support/watch_endpoint.hpp"

#include <cogwheel/observe/metrics.hpp>

#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>

#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>

namespace echo {

class server {
public:
    /// Listens. Errors: std::system_error (an address cannot be had), std::invalid_argument (tick or slots).
    explicit server(const options& wanted);

    /// "ADDRESS:PORT", with the port that the system chose.
    std::string endpoint() const;

    /// The same of the metrics, and of the page; empty if there are none.
    std::string metrics_endpoint() const { return metrics_server_ ? metrics_server_->endpoint() : std::string{}; }
    std::string monitor_endpoint() const { return monitor_ ? monitor_->endpoint() : std::string{}; }

    /// Serves in this thread and threads - 1 others until a signal or the end of --seconds.
    /// Errors: what has ended the accept loop or a thread: the server stops then, in good order.
    void run();

    std::string summary() const;

private:
    asio::any_io_executor new_executor();
    void offer_metrics();
    void accept_if_room();
    asio::awaitable<void> accept_loop();
    asio::awaitable<void> report_loop();
    asio::awaitable<void> epoch_loop();
    bool take_room();
    void start(asio::ip::tcp::socket socket);
    void left(const std::shared_ptr<connection>& client);
    void run_thread();
    void fail(const std::exception_ptr& failure);
    std::size_t connections() const;
    void stop();

    const options options_;
    statistics counts_; // outlives the connections, which io_ may hold: they count themselves out
    asio::io_context io_;
    asio::any_io_executor control_;
    cogwheel::timer_wheel wheel_;
    asio::ip::tcp::acceptor acceptor_;
    asio::signal_set signals_;
    statistics_signal statistics_{control_, [this] { return summary(); }};
    cogwheel::metrics metrics_;
    cogwheel::debug_page page_;
    std::optional<watch_endpoint<cogwheel::timer_wheel>> metrics_server_, monitor_; // on control_
    const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
    bool stopping_ = false; // on control_

    mutable std::mutex mutex_; // guards what follows
    std::unordered_set<std::shared_ptr<connection>> clients_;
    bool full_ = false;
    std::exception_ptr failure_;
};

} // namespace echo
