// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Which shard a task belongs to. The server holds tasks by this: a change loses them.
#include "task_store.hpp"

namespace cogwheel::inline v0::detail {

std::uint32_t task_store::shard_of(std::string_view id) const noexcept {
    // A recurring task and its occurrences, "<id>@<due>", belong together: one script makes the one from the other. The
    // recurring task itself may have such a name.
    for (;;) {
        const auto at = id.find_last_not_of("0123456789");
        if (at == id.npos || at == 0 || at + 1 == id.size() || id[at] != '@') break;
        id = id.substr(0, at);
    }
    std::uint64_t hash = 0xcbf29ce484222325; // FNV-1a
    for (const char c : id) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    // The low bits of FNV-1a depend on the low bits of the text only.
    return static_cast<std::uint32_t>((hash ^ (hash >> 32)) % shards());
}

} // namespace cogwheel::inline v0::detail
