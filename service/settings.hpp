// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What cogwheeld is told: by options, and by a TOML file. Options win.
#pragma once

#include "http/credentials.hpp"
#include "http/rate_limit.hpp"
#include "http/server.hpp"

#include <cogwheel/durable/callback_options.hpp>
#include <cogwheel/durable/durable_options.hpp>
#include <cogwheel/resilience/backoff.hpp>

#include <asio/ip/tcp.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace cogwheeld {

struct settings {
    // ---- where the tasks are ----
    std::string redis{};                           ///< a URL of redis_options::from_url(); empty: the journal
    std::filesystem::path data = "cogwheeld-data"; ///< directory of the journal
    bool sync = false;                             ///< the journal: fsync after each change
    cogwheel::durable_options queue{.retention = std::chrono::hours(1)}; ///< its `redis` does not count

    // ---- what this process does ----
    bool serves_api = true;
    bool works = true; ///< sends callbacks
    asio::ip::tcp::endpoint listen{asio::ip::address_v4::loopback(), 8090};
    std::filesystem::path token_file{}; ///< empty: no token; then `listen` must be a loopback address
    std::filesystem::path key_file{};   ///< of signatures: a webhook_key a line
    std::chrono::nanoseconds drain = std::chrono::seconds(30);

    http_limits http{};
    rate_options rate{};

    std::uint32_t max_in_flight = 256;
    std::chrono::milliseconds lease = std::chrono::seconds(30);
    std::chrono::nanoseconds backoff_first = std::chrono::seconds(1), backoff_cap = std::chrono::minutes(10);
    std::chrono::milliseconds max_wait = std::chrono::hours(24); ///< for a host that takes no callbacks
    cogwheel::callback_options callbacks{}; ///< guard, timeouts ...; its `keys` and max_in_flight do not count

    // ---- read from the files above ----
    credentials tokens{};
    std::vector<cogwheel::webhook_key> keys{};
};

/// Reads a TOML file (1.0) into `to`. Unknown tables and keys are refused. Errors: std::invalid_argument that names the
/// file, the line, the value and what is right; std::system_error.
void read_config(const std::filesystem::path& file, settings& to);

/// Reads the token file and the key file, and checks that the settings fit together. Errors: std::invalid_argument,
/// std::system_error.
void complete(settings&);

/// What the arguments ask for.
struct invocation {
    enum class command : std::uint8_t { serve, audit, help, version };

    command what = command::serve;
    std::vector<std::string> arguments{}; ///< for SIGHUP: read again
    settings wanted{};
};

/// Reads options, then the file that --config names, then the options again, so that they win.
/// Errors: command_line::usage_error, std::invalid_argument, std::system_error.
invocation read_arguments(int argc, char** argv);

extern const std::string_view usage;

} // namespace cogwheeld
