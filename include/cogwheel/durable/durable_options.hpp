// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Where a queue of durable tasks is, and what it keeps.
#pragma once

#include <cogwheel/durable/redis_options.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// What the server must promise before schedule(), cancel() and reschedule() succeed. open() refuses a server that
/// cannot give it.
///
///     durable_durability::memory()    the process of the server lives
///     durable_durability::aof()       the server has an append-only file: its tasks survive kill -9. What a loss of
///                                     power may cost is its option appendfsync (always: nothing; everysec: a second).
///                                     With everysec, a server whose disk is busy holds back its writes for up to two
///                                     seconds, and answers all the same: then kill -9 costs these, too
///     durable_durability::replicas(1) one replica has confirmed the change (WAIT): it survives the loss of the master
class durable_durability {
public:
    enum class kind : std::uint8_t { memory, aof, replicas };

    static constexpr durable_durability memory() noexcept { return {kind::memory, 0}; }
    static constexpr durable_durability aof() noexcept { return {kind::aof, 0}; }
    /// n: 1 to 100.
    static constexpr durable_durability replicas(std::uint32_t n) noexcept { return {kind::replicas, n}; }

    constexpr kind what() const noexcept { return kind_; }
    constexpr std::uint32_t count() const noexcept { return count_; }

    friend constexpr bool operator==(durable_durability, durable_durability) = default;

private:
    constexpr durable_durability(kind k, std::uint32_t n) noexcept : kind_(k), count_(n) {}

    kind kind_;
    std::uint32_t count_;
};
std::string_view to_string(durable_durability::kind) noexcept; ///< the name of the constant

/// The options of a durable_queue. All programs that use a queue give the same name, shards and retention.
struct durable_options {
    redis_options redis{};

    /// The name of the queue, a part of its keys. 1 to 64 characters of A-Z, a-z, 0-9, _ and -.
    std::string name = "default";

    /// The number of parts of a queue. Each shard should stay below 100,000 tasks; with a cluster, take 64. 1 to 1,024.
    /// The server keeps the number of the first open(); open() refuses another one.
    std::uint32_t shards = 16;

    durable_durability durability = durable_durability::aof();
    /// How long an operation waits for the replicas, before it completes with durability_unknown. 1 ms to an hour.
    std::chrono::milliseconds replica_timeout = std::chrono::seconds(1);

    /// How long a done task is kept, with its result. Its id is in use until then. Default: not at all. Up to a year.
    std::chrono::milliseconds retention{};
    std::uint32_t max_done = 1'000; ///< done tasks that a shard keeps; the oldest go first. At least 1
    /// Dead tasks that a shard keeps, and how long. The oldest go first. At least 1; up to ten years.
    std::uint32_t max_dead = 10'000;
    std::chrono::milliseconds dead_retention = std::chrono::hours(24 * 30);

    /// Checks all but `redis`, which only a queue in Redis checks. Errors: std::invalid_argument that names the value,
    /// the range and the remedy.
    void validate() const;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
