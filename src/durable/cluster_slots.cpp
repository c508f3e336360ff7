// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "cluster_slots.hpp"

#include "url_parts.hpp"

#include <algorithm>
#include <array>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

constexpr std::array<std::uint16_t, 256> make_crc_table() {
    std::array<std::uint16_t, 256> table{};
    for (unsigned i = 0; i < 256; ++i) {
        unsigned crc = i << 8;
        for (int bit = 0; bit < 8; ++bit) crc = (crc & 0x8000) != 0 ? (crc << 1) ^ 0x1021 : crc << 1;
        table[i] = static_cast<std::uint16_t>(crc);
    }
    return table;
}

constexpr auto crc_table = make_crc_table();

redis_address on_host(std::string_view host, std::uint16_t port, const redis_address& asked) {
    // A unix socket gives no host. A node that is reached by one is on this machine.
    const std::string_view own = asked.path.empty() ? std::string_view(asked.host) : "127.0.0.1";
    return {.host = std::string(host.empty() ? own : host), .port = port};
}

struct slot_range {
    std::uint16_t first, last;
    redis_address master;
};

std::optional<slot_range> read_range(const redis_reply& entry, const redis_address& asked) {
    const auto& parts = entry.elements();
    if (parts.size() < 3 || parts[2].elements().size() < 2) return std::nullopt;
    const std::int64_t first = parts[0].integer(), last = parts[1].integer();
    const auto& host = parts[2].elements()[0];
    const std::int64_t port = parts[2].elements()[1].integer();
    const bool numbers = parts[0].what() == redis_reply::kind::integer && parts[1].what() == redis_reply::kind::integer;
    if (!numbers || first < 0 || last < first || last >= std::int64_t{cluster_slot_count}) return std::nullopt;
    if (port < 0 || port > 65'535) return std::nullopt;
    return slot_range{static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(last),
                      on_host(host.text(), static_cast<std::uint16_t>(port), asked)};
}

// "MOVED 3999 127.0.0.1:6381". A host may be an IPv6 address without brackets, or empty.
std::optional<redis_address> read_target(std::string_view words, const redis_address& asked) {
    const auto space = words.find(' ');
    if (space == words.npos) return std::nullopt;
    if (!decimal(words.substr(0, space), cluster_slot_count - 1)) return std::nullopt;
    const auto address = words.substr(space + 1);
    const auto colon = address.rfind(':');
    if (colon == address.npos) return std::nullopt;
    const auto port = decimal(address.substr(colon + 1), 65'535);
    const auto host = address.substr(0, colon);
    if (!port || *port == 0 || host == "?") return std::nullopt;
    return on_host(host, static_cast<std::uint16_t>(*port), asked);
}

} // namespace

std::uint16_t crc16(std::string_view bytes) noexcept {
    unsigned crc = 0;
    for (const char c : bytes)
        crc = ((crc << 8) ^ crc_table[(crc >> 8 ^ static_cast<unsigned char>(c)) & 0xff]) & 0xffff;
    return static_cast<std::uint16_t>(crc);
}

std::string_view hash_tag(std::string_view key) noexcept {
    const auto open = key.find('{');
    if (open == key.npos) return key;
    const auto close = key.find('}', open + 1);
    if (close == key.npos || close == open + 1) return key;
    return key.substr(open + 1, close - open - 1);
}

std::uint16_t slot_of(std::string_view key) noexcept {
    return static_cast<std::uint16_t>(crc16(hash_tag(key)) % cluster_slot_count);
}

std::optional<slot_table> read_cluster_slots(const redis_reply& reply, const redis_address& asked) {
    if (!reply.is_array() || reply.elements().empty()) return std::nullopt;
    slot_table table;
    table.owner.assign(cluster_slot_count, slot_table::none);
    for (const auto& entry : reply.elements()) {
        const auto range = read_range(entry, asked);
        if (!range) return std::nullopt;
        if (range->master.host == "?" || range->master.port == 0) continue; // the node does not know this one yet
        auto at = std::find(table.masters.begin(), table.masters.end(), range->master);
        if (at == table.masters.end()) at = table.masters.insert(at, range->master);
        const auto index = static_cast<std::uint16_t>(at - table.masters.begin());
        if (table.masters.size() >= slot_table::none) return std::nullopt;
        std::fill(table.owner.begin() + range->first, table.owner.begin() + range->last + 1, index);
    }
    if (table.masters.empty()) return std::nullopt;
    return table;
}

redirection read_redirection(const redis_reply& reply, const redis_address& asked) {
    using kind = redirection::kind;
    if (!reply.is_error()) return {};
    const std::string_view text = reply.text();
    const auto space = std::min(text.find(' '), text.size());
    const auto word = text.substr(0, space);
    if (word == "MOVED" || word == "ASK") {
        auto to = space < text.size() ? read_target(text.substr(space + 1), asked) : std::nullopt;
        if (!to) return {kind::later, {}}; // the next table says where
        return {word == "MOVED" ? kind::moved : kind::ask, std::move(*to)};
    }
    for (const std::string_view later : {"TRYAGAIN", "CLUSTERDOWN", "LOADING", "MASTERDOWN", "READONLY"})
        if (word == later) return {kind::later, {}};
    return {};
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
