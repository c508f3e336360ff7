// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What reads the bytes of a Redis server, and texts of the configuration, with any input. A fuzz target calls it, and
// redis_fuzz_test.cpp with inputs of its own. A fault ends the program.
#pragma once

#include "src/durable/cluster_slots.hpp"
#include "src/durable/redis_handshake.hpp"
#include "src/durable/resp_reader.hpp"

#include <cstdio>
#include <cstdlib>
#include <span>
#include <stdexcept>

namespace cogwheel_tests {

namespace redis_fuzz {

inline void must(bool right, const char* what) {
    if (right) return;
    std::fprintf(stderr, "fuzz_redis: %s\n", what);
    std::abort();
}

inline void print(const cogwheel::redis_reply& r, std::string& out) {
    out += std::to_string(static_cast<int>(r.what())) + ":" + std::to_string(r.integer()) + ":" + r.text() + "(";
    for (const auto& e : r.elements()) print(e, out);
    out += ")";
}

inline void use(const cogwheel::redis_reply& reply) {
    const cogwheel::redis_address asked{.host = "asked", .port = 1};
    must(static_cast<bool>(reply.error()) == reply.is_error(), "an error reply has a code");
    const auto table = cogwheel::detail::read_cluster_slots(reply, asked);
    if (table) {
        must(!table->masters.empty() && table->owner.size() == cogwheel::detail::cluster_slot_count,
             "a table is whole");
        for (const auto owner : table->owner)
            must(owner == cogwheel::detail::slot_table::none || owner < table->masters.size(), "an owner is a master");
    }
    const auto r = cogwheel::detail::read_redirection(reply, asked);
    using kind = cogwheel::detail::redirection::kind;
    if (r.what == kind::moved || r.what == kind::ask) must(!r.to.host.empty() && r.to.port != 0, "a target is whole");
    const auto made = cogwheel::detail::make_handshake({}, false);
    const std::vector<cogwheel::redis_reply> replies(made.steps.size(), reply);
    must(cogwheel::detail::read_handshake(made, replies, "u").version >= 0, "a version is a number");
}

/// Reads all replies, with pieces of `piece` bytes, and returns them as text.
inline std::string read(std::string_view bytes, std::size_t piece, std::size_t limit) {
    cogwheel::detail::resp_reader reader(limit);
    std::string shown;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
        reader.feed(bytes.substr(at, piece));
        for (;;) {
            cogwheel::redis_reply reply;
            const auto outcome = reader.next(reply);
            if (outcome == cogwheel::detail::resp_reader::outcome::bad) return shown + "bad";
            if (outcome == cogwheel::detail::resp_reader::outcome::more) break;
            print(reply, shown);
            use(reply);
        }
    }
    return shown;
}

} // namespace redis_fuzz

/// The first byte is the size of the pieces.
inline void fuzz_redis(std::span<const std::uint8_t> input) {
    using namespace redis_fuzz;
    if (input.empty()) return;
    const std::size_t piece = std::size_t{input[0]} + 1;
    const std::string_view bytes(reinterpret_cast<const char*>(input.data()) + 1, input.size() - 1);
    constexpr std::size_t limit = 1 << 20;
    const auto whole = read(bytes, limit, limit);
    const auto pieces = read(bytes, piece, limit);
    must(whole == pieces, "pieces give the same replies as the whole");
    read(bytes, piece, 64);
    use(cogwheel::redis_reply::text(cogwheel::redis_reply::kind::error, std::string(bytes)));
    must(cogwheel::detail::read_version(bytes) >= 0, "a version is a number");
    must(cogwheel::detail::slot_of(bytes) < cogwheel::detail::cluster_slot_count, "a slot is one");
    try {
        const auto o = cogwheel::redis_options::from_url(bytes);
        o.validate();
        for (const auto& a : o.addresses) must(!a.text().empty(), "an address has a text");
    } catch (const std::invalid_argument&) { // NOLINT(bugprone-empty-catch): most texts are no address
    }
}

} // namespace cogwheel_tests
