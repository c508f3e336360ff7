// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What the hooks of a redis_store's connections use. They run on other strands, and may be under way when the store
// ends: so they post to the store's strand, where a weak reference finds this or nothing.
#pragma once

#include "redis_store.hpp"

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

struct redis_store::shared_state {
    hints hooks{};
    std::string trouble{};
    bool was_connected = false;
    bool closed = false;

    /// What the scripts publish: a shard, with a + before it if its task is not due soon; "w": on_workers; "a":
    /// on_alive.
    void hint(std::string_view payload) const;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
