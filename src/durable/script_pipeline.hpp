// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Calls of scripts, sent together. A server that has lost its scripts (restart, failover, SCRIPT FLUSH) answers
// NOSCRIPT: they are loaded, and these calls are repeated.
#pragma once

#include "shard_calls.hpp"

#include <cogwheel/durable/redis_client.hpp>

#include COGWHEEL_ASIO_HEADER(awaitable.hpp)

#include <chrono>
#include <memory>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// How many replicas must confirm, and how long the server waits for them. 0: none.
struct replica_wait {
    std::uint32_t replicas = 0;
    std::chrono::milliseconds timeout{};
};

struct sent_calls {
    error_code error{};
    std::int64_t confirmed = 0; // by so many replicas
    std::vector<redis_reply> replies{};
};

/// Preconditions: there is a call; in a cluster, all are of one shard.
/// Lifetime: the client may end meanwhile; then the error is operation_aborted.
asio::awaitable<sent_calls> send_calls(std::weak_ptr<redis_client> to, std::vector<script_call> all, replica_wait wait);

/// The same with any commands.
asio::awaitable<sent_calls> send_commands(std::weak_ptr<redis_client> to, std::vector<redis_command> commands);

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
