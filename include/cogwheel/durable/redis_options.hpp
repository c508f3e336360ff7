// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Where a Redis server is, and how to talk to it.
//
//     cogwheel::redis_options::from_url("redis://user:password@127.0.0.1:6379/0")
//     cogwheel::redis_options::from_url("unix:///run/redis/redis.sock")
//     cogwheel::redis_options::from_url("sentinel://10.0.0.1:26379,10.0.0.2:26379/mymaster")
//     cogwheel::redis_options::from_url("cluster://10.0.0.1:7000,10.0.0.2:7000")
#pragma once

#include <cogwheel/resilience/backoff.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// The address of one server: a host and a port, or the path of a unix socket.
struct redis_address {
    std::string host;
    std::uint16_t port = 6379;
    std::string path{}; ///< of a unix socket; then host and port do not count

    /// Returns "host:port", "[::1]:port" or the path.
    std::string text() const;
    friend bool operator==(const redis_address&, const redis_address&) = default;
};

/// TLS of a connection (OpenSSL). All names are those of files in PEM format; empty: none.
struct redis_tls {
    bool enabled = false;
    bool verify = true;        ///< the server's certificate, with its host name
    std::string ca_file{};     ///< empty: the system's certificates
    std::string certificate{}; ///< of the client
    std::string key{};
    std::string server_name{}; ///< empty: the host
};

/// How a client finds the server that takes its commands.
enum class redis_topology : std::uint8_t {
    single,   ///< the first address
    sentinel, ///< addresses are those of sentinels, which name the master
    cluster,  ///< addresses are those of some nodes, which name all others
};
std::string_view to_string(redis_topology) noexcept; ///< the name of the constant

/// The options of redis_connection and redis_client.
struct redis_options {
    std::vector<redis_address> addresses{};
    redis_topology topology = redis_topology::single;
    std::string master_name = "mymaster"; ///< with sentinels
    std::string user{};                   ///< ACL user; empty: the default user
    std::string password{};
    std::string sentinel_user{}, sentinel_password{};
    std::uint32_t database = 0; ///< SELECT; a cluster has database 0 only
    redis_tls tls{};

    /// The limit on connecting, including TLS, AUTH and SELECT. Above zero, up to a day.
    std::chrono::nanoseconds connect_timeout = std::chrono::seconds(2);
    /// The limit on each command, from its call to its reply. When it is over, the connection is closed, because its
    /// replies are not in step any more; all its commands fail. Above zero, up to a day.
    std::chrono::nanoseconds command_timeout = std::chrono::seconds(3);
    /// The delays between attempts to connect.
    cogwheel::backoff reconnect = cogwheel::backoff::exponential(std::chrono::milliseconds(20))
                                      .cap(std::chrono::milliseconds(500))
                                      .jitter(backoff_jitter::equal);
    /// Commands that may wait for their replies on one connection; further ones fail with server_busy. At least 1. So
    /// does a command that finds others of 64 MiB, together with it, which the server has not taken yet.
    std::size_t max_in_flight = 65'536;
    /// The longest reply, in bytes; a longer one closes the connection.
    std::size_t max_reply = std::size_t{64} << 20;

    /// Receives a line for each change of a connection, such as "127.0.0.1:6379: connected (Redis 7.0.15, master)".
    /// One thread of a client at a time calls it, on one of the client's strands. Failures that repeat themselves make
    /// one line a minute. Default: nothing.
    std::function<void(std::string_view)> log{};

    /// Parses an address. Schemes: redis, rediss (TLS), unix, sentinel, cluster. User, password and names may be
    /// percent-encoded. Errors: std::invalid_argument that names the part, and what is right.
    static redis_options from_url(std::string_view url);

    /// Checks the options. Errors: std::invalid_argument that names the value, the range and the remedy.
    void validate() const;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
