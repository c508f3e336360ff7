// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Which shard a task belongs to. The server holds tasks by this: a change loses them.
#include "task_store.hpp"

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

// An occurrence, "<id>@<ms since 1970>", lies in the shard of its recurring task, because one script makes both. Dates
// have 13 to 15 digits from 2001 to 9999: ids that merely end with a short number spread over all shards.
std::string_view without_dates(std::string_view id) noexcept {
    for (;;) {
        const auto at = id.rfind('@');
        if (at == id.npos) return id;
        const std::string_view digits = id.substr(at + 1);
        if (digits.size() < 13 || digits.size() > 15 || digits.find_first_not_of("0123456789") != digits.npos)
            return id;
        id.remove_suffix(digits.size() + 1);
    }
}

} // namespace

std::uint32_t task_store::shard_of(std::string_view id) const noexcept {
    std::uint64_t hash = 0xcbf29ce484222325; // FNV-1a
    for (const char c : without_dates(id)) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    // The low bits of FNV-1a depend on the low bits of the text only.
    return static_cast<std::uint32_t>((hash ^ (hash >> 32)) % shards());
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
