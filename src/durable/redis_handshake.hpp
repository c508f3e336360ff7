// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The first commands on a connection, and what their replies mean: pure functions.
#pragma once

#include <cogwheel/durable/redis_command.hpp>
#include <cogwheel/durable/redis_connection.hpp>
#include <cogwheel/durable/redis_options.hpp>

#include <span>
#include <string>
#include <system_error>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

enum class handshake_step : std::uint8_t { auth, select, info, role, ping };

struct handshake {
    std::vector<handshake_step> steps{};
    std::vector<redis_command> commands{}; // one a step
    std::string secret{};                  // the password, which no message repeats
};

/// sentinel: the server is one: it has a user of its own, and no databases.
handshake make_handshake(const redis_options& o, bool sentinel);

struct server_facts {
    error_code error{};
    std::string message{}; // why, with the server's words unless they may hold the password
    int version = 0;       // 70015 for 7.0.15; of Valkey, that of the Redis with which it is compatible
    std::string server = "a server of unknown version"; // else "Redis 7.0.15" or "Valkey 8.1.1"
    redis_role role = redis_role::unknown;
};

/// replies: one a step. A user who may not run INFO, ROLE or PING may use the connection; the facts are unknown then.
server_facts read_handshake(const handshake& made, std::span<const redis_reply> replies, std::string_view user);

/// Returns 70015 for "...redis_version:7.0.15...", else 0.
int read_version(std::string_view info) noexcept;

/// Returns "Redis 7.0.15", "Valkey 8.1.1" or "a server of unknown version".
std::string server_name(std::string_view info);

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
