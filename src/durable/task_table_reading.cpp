// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What the table answers without a change.
#include "task_table.hpp"

#include <charconv>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

const task_table::record* task_table::find(std::string_view id) const {
    const auto at = records_.find(id);
    return at == records_.end() ? nullptr : &at->second;
}

stored_page task_table::list(std::string_view cursor, std::uint32_t n) const {
    stored_page page;
    auto at = cursor.empty() ? records_.begin() : records_.upper_bound(cursor);
    for (; at != records_.end() && page.tasks.size() < n; ++at) page.tasks.push_back(at->second.task);
    if (at != records_.end()) page.cursor = page.tasks.empty() ? std::string(cursor) : page.tasks.back().id;
    return page;
}

stored_page task_table::dead(std::string_view cursor, std::uint32_t n) const {
    stored_page page;
    auto at = dead_.begin();
    if (const auto colon = cursor.find(':'); colon != cursor.npos) {
        std::int64_t since = 0;
        std::from_chars(cursor.data(), cursor.data() + colon, since);
        at = dead_.upper_bound({since, cursor.substr(colon + 1)});
    }
    std::int64_t last = 0;
    for (; at != dead_.end() && page.tasks.size() < n; ++at) {
        last = at->first;
        page.tasks.push_back(find(at->second)->task);
    }
    if (at != dead_.end() && !page.tasks.empty()) page.cursor = std::to_string(last) + ':' + page.tasks.back().id;
    return page;
}

shard_counts task_table::counts(std::int64_t now_us) const {
    shard_counts c{.now_us = now_us, .done = done_.size(), .dead = dead_.size(), .paused = paused_};
    for (const auto& [score, id] : due_) {
        ++(score > 0 ? c.waiting : c.leased);
        if (score <= 0 || score > now_us / 1000) continue;
        if (c.overdue++ == 0) c.oldest_ms = now_us / 1000 - score;
    }
    return c;
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
