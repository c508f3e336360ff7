// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Changes that replicas must confirm (durability replicas(n)). WAIT stops its connection, for as long as a replica is
// down. So these calls have connections of their own, and a node gets one pipeline at a time. What comes meanwhile is
// gathered, and sent together with one WAIT for all. In a cluster, a pipeline has the calls of one shard.
#pragma once

#include "script_pipeline.hpp"

#include <cogwheel/durable/durable_options.hpp>

#include <map>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// Thread safety: one strand, the executor.
class confirmed_calls {
public:
    /// Starts to connect.
    confirmed_calls(const timer_wheel& wheel, asio::any_io_executor executor, const durable_options& options);
    ~confirmed_calls() { close(); }
    confirmed_calls(const confirmed_calls&) = delete;
    confirmed_calls& operator=(const confirmed_calls&) = delete;

    redis_client& client() noexcept { return *client_; }
    void close();

    /// Preconditions: there is a call; all are of one shard. The calls wait for at most twice replica_timeout.
    asio::awaitable<sent_calls> send(std::vector<script_call> calls);

private:
    using clock = std::chrono::steady_clock;
    struct one {
        std::vector<script_call> calls;
        completion<sent_calls> done;
        clock::time_point since;
    };
    struct lane { // of a node
        std::vector<one> waiting{};
        bool busy = false;
    };
    struct lanes { // shared with the coroutines, which may end after the object
        asio::any_io_executor executor;
        std::weak_ptr<redis_client> client;
        replica_wait wait;
        bool cluster = false;
        bool closed = false;
        std::map<std::string, lane, std::less<>> by_node{};
    };

    static void add(const std::shared_ptr<lanes>& all, one call);
    static std::vector<one> take(const lanes& all, lane& from);
    static asio::awaitable<void> work(std::shared_ptr<lanes> all, lane& own);
    static asio::awaitable<void> send_some(std::shared_ptr<lanes> all, std::vector<one>& some);

    std::shared_ptr<redis_client> client_;
    std::shared_ptr<lanes> lanes_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
