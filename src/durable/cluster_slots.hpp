// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Which node of a Redis cluster has a key: pure functions (Redis Cluster specification).
#pragma once

#include <cogwheel/durable/redis_options.hpp>
#include <cogwheel/durable/redis_reply.hpp>

#include <optional>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

inline constexpr std::size_t cluster_slot_count = 16'384;

/// CRC-16/XMODEM.
std::uint16_t crc16(std::string_view bytes) noexcept;
/// Returns what is between the first { and the next }, if that is not empty; else the key.
std::string_view hash_tag(std::string_view key) noexcept;
std::uint16_t slot_of(std::string_view key) noexcept;

/// The masters, and which of them has each slot.
struct slot_table {
    static constexpr std::uint16_t none = 0xffff;

    std::vector<redis_address> masters{};
    std::vector<std::uint16_t> owner{}; // 16384 indexes of masters

    /// Returns nullptr if no master has the slot.
    const redis_address* find(std::uint16_t slot) const noexcept {
        const auto i = slot < owner.size() ? owner[slot] : none;
        return i < masters.size() ? &masters[i] : nullptr;
    }
};

/// Reads the reply of CLUSTER SLOTS. A node without a host is on the host that was asked. Returns nothing if the reply
/// is not as it should be, or names no slot.
std::optional<slot_table> read_cluster_slots(const redis_reply& reply, const redis_address& asked);

/// What an error reply of a cluster asks for. None of these commands was done.
struct redirection {
    enum class kind : std::uint8_t {
        none,  // another error, or no error
        moved, // send it to `to`, which has the slot from now on
        ask,   // send it to `to` this time, after ASKING
        later  // send it again soon
    };
    kind what = kind::none;
    redis_address to{};
};

redirection read_redirection(const redis_reply& reply, const redis_address& asked);

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
