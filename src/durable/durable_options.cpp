// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include <cogwheel/detail/constant_name.hpp>
#include <cogwheel/durable/durable_options.hpp>

#include <algorithm>
#include <stdexcept>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

void durable_options::validate() const {
    using namespace std::chrono;
    const auto refuse = [](const std::string& why) {
        throw std::invalid_argument("cogwheel::durable_options: " + why);
    };
    const auto ms = [](milliseconds d) { return std::to_string(d.count()) + " ms"; };
    const auto allowed = [](unsigned char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    };
    if (name.empty() || name.size() > 64 || !std::all_of(name.begin(), name.end(), allowed))
        refuse("name has " + std::to_string(name.size()) +
               " characters, but must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -");
    if (shards < 1 || shards > 1'024)
        refuse("shards is " + std::to_string(shards) + ", but must be 1 to 1024; 16 suits most queues");
    if (durability.what() == durable_durability::kind::replicas) {
        if (durability.count() < 1 || durability.count() > 100)
            refuse("durability is replicas(" + std::to_string(durability.count()) +
                   "), but must be replicas(1) to replicas(100)");
        if (replica_timeout < 1ms || replica_timeout > 1h)
            refuse("replica_timeout is " + ms(replica_timeout) + ", but must be 1 ms to an hour");
        // Else the client closes the connection before the server answers.
        if (replica_timeout >= redis.command_timeout)
            refuse("replica_timeout is " + ms(replica_timeout) +
                   ", but must be below redis.command_timeout, which is " +
                   ms(duration_cast<milliseconds>(redis.command_timeout)));
    }
    if (retention < 0ms || retention > hours(24 * 366))
        refuse("retention is " + ms(retention) + ", but must be zero (nothing is kept) to a year");
    if (max_done < 1) refuse("max_done is 0, but must be at least 1; retention = 0 keeps no done task");
    if (max_dead < 1) refuse("max_dead is 0, but must be at least 1");
    if (dead_retention < 1ms || dead_retention > hours(24 * 3'660))
        refuse("dead_retention is " + ms(dead_retention) + ", but must be 1 ms to ten years");
}

std::string_view to_string(durable_durability::kind kind) noexcept {
    return detail::constant_name(kind, {"memory", "aof", "replicas"});
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
