// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Which shard a task belongs to. The server holds tasks by this: a change loses them.
#include "task_store.hpp"

namespace cogwheel::inline v0::detail {

std::uint32_t task_store::shard_of(std::string_view id) const noexcept {
    std::uint64_t hash = 0xcbf29ce484222325; // FNV-1a
    for (const char c : id) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    // The low bits of FNV-1a depend on the low bits of the text only.
    return static_cast<std::uint32_t>((hash ^ (hash >> 32)) % shards());
}

} // namespace cogwheel::inline v0::detail
