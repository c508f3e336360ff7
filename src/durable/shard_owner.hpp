// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Which worker claims a shard often: by rendezvous hashing (Thaler, Ravishankar 1998). All workers that see the same
// list of workers agree, and a worker that comes or goes moves only its own share. Correctness does not depend on it.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// Returns the weight of a worker for a shard. All processes compute the same one.
constexpr std::uint64_t rendezvous_weight(std::uint32_t shard, std::string_view worker) noexcept {
    std::uint64_t h = 0xcbf29ce484222325;
    for (const char c : worker) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3; // FNV-1a
    h ^= (shard + 1) * 0x9e3779b97f4a7c15;
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9; // the finaliser of splitmix64: FNV alone spreads its last bytes badly
    h = (h ^ (h >> 27)) * 0x94d049bb133111eb;
    return h ^ (h >> 31);
}

/// Returns the owner of a shard, or an empty view if there is no worker. Complexity: O(bytes of all names).
inline std::string_view shard_owner(std::uint32_t shard, std::span<const std::string> workers) noexcept {
    std::string_view best;
    std::uint64_t most = 0;
    for (const std::string& worker : workers) {
        const std::uint64_t weight = rendezvous_weight(shard, worker);
        if (best.empty() || weight > most || (weight == most && worker < best)) {
            best = worker;
            most = weight;
        }
    }
    return best;
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
