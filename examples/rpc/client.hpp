// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A client that survives what networks do, and all of whose timers are one wheel's:
//
// - call() has a deadline; each attempt a timeout, which counts from the moment the request is written. What is worth
//   it is tried again after a jittered backoff, as long as the budget that all clients share has a token.
// - An answer that comes too late is counted, and hurts nobody: its id has been given up.
// - A lost connection fails what is in flight on it and is made again, with a backoff that begins anew with an answer,
//   and not because the server has accepted. A connection that nothing goes out on is pinged, and one that nothing
//   comes back from is dropped: both are idle events.
#pragma once

#include "channel.hpp"

#include <cogwheel/net/pending_requests.hpp>
#include <cogwheel/resilience/backoff.hpp>
#include <cogwheel/resilience/retry.hpp>

#include <random>

namespace rpc {

struct client_options {
    tcp::endpoint server;
    std::chrono::nanoseconds connect = std::chrono::seconds{5}; // of one attempt
    std::chrono::nanoseconds timeout = std::chrono::seconds{1}; // of one attempt
    std::uint32_t attempts = 3;
    std::chrono::nanoseconds heartbeat = std::chrono::seconds{5};
};

struct client_counts {
    std::uint64_t connects = 0, drops = 0, pings = 0;
};

/// For one thread or strand, which is the wheel's. Lifetime: run() has returned before it goes.
class client {
public:
    client(cogwheel::timer_wheel& wheel, const client_options& options, cogwheel::retry_budget& budget)
        : wheel_{wheel}, options_{options}, budget_{budget}, requests_{wheel} {}

    /// Connects, and does so again when the connection is lost, until stop().
    asio::awaitable<void> run();
    void stop();

    /// The answer. Errors: std::system_error, that of the last attempt.
    asio::awaitable<std::string> call(std::string body, cogwheel::deadline until);

    const client_counts& counts() const { return counts_; }
    const cogwheel::request_stats& requests() const { return requests_.stats(); }

private:
    /// The id of the request. Errors: connection_aborted while there is no connection.
    std::uint64_t send(const std::string& body);
    asio::awaitable<std::shared_ptr<channel>> connect();

    cogwheel::timer_wheel& wheel_;
    const client_options options_;
    cogwheel::retry_budget& budget_;
    cogwheel::pending_requests<std::uint64_t, std::string> requests_;
    std::shared_ptr<channel> channel_; // null while there is none
    std::uint64_t last_id_ = 0;
    client_counts counts_;
    std::minstd_rand random_{std::random_device{}()};
    bool stopped_ = false;
    asio::cancellation_signal stop_connecting_;
};

/// The program `rpc call`. At the end each call that was made has been answered, has timed out or has failed; it
/// prints the sums. Returns 0: they add up; 1: they do not, an answer was wrong, or not one call was answered.
/// Errors: those of the command line.
int call(int argc, char** argv);

} // namespace rpc
