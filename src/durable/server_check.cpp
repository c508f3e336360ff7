// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "server_check.hpp"

#include <cogwheel/durable/error.hpp>

#include <charconv>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

constexpr int oldest_version = 7;

/// The value of a field of INFO; empty: it has none.
std::string_view field(std::string_view info, std::string_view name) {
    std::size_t at = 0;
    while ((at = info.find(name, at)) != info.npos) {
        const std::size_t end = at + name.size();
        if ((at == 0 || info[at - 1] == '\n') && end < info.size() && info[end] == ':')
            return info.substr(end + 1, info.find_first_of("\r\n", end) - end - 1);
        at = end;
    }
    return {};
}

server_refusal check_durability(std::string_view info, durable_durability wanted) {
    if (wanted.what() == durable_durability::kind::aof && field(info, "aof_enabled") != "1")
        return {
            durable_errc::durability_refused,
            "durability is aof(), but the server has no append-only file; set appendonly yes (CONFIG SET appendonly "
            "yes, and redis.conf), or ask for memory()"};
    if (wanted.what() != durable_durability::kind::replicas) return {};
    std::uint32_t online = 0;
    for (std::size_t at = 0; (at = info.find("state=online", at)) != info.npos; ++at) ++online;
    if (online >= wanted.count()) return {};
    return {durable_errc::durability_refused, "durability is replicas(" + std::to_string(wanted.count()) +
                                                  "), but the server has " + std::to_string(online) +
                                                  " replicas online; start more, or ask for fewer"};
}

} // namespace

server_refusal check_server(std::string_view info, durable_durability wanted) {
    const std::string version(field(info, "redis_version"));
    int major = 0;
    std::from_chars(version.data(), version.data() + version.size(), major);
    if (major < oldest_version)
        return {durable_errc::wrong_server, "the server is Redis " +
                                                (version.empty() ? "of an unknown version" : version) +
                                                ", but durable tasks need 7.0 or later; upgrade it"};
    if (field(info, "role") != "master")
        return {durable_errc::wrong_server, "the server is a read-only replica of " +
                                                std::string(field(info, "master_host")) + ':' +
                                                std::string(field(info, "master_port")) +
                                                "; give the address of the master, or those of sentinels"};
    return check_durability(info, wanted);
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
