// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The log of several connections, which work on strands of their own: one thread at a time calls it.
#pragma once

#include <cogwheel/durable/redis_options.hpp>

#include <memory>
#include <mutex>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

inline redis_options with_serial_log(redis_options o) {
    if (!o.log) return o;
    o.log = [mutex = std::make_shared<std::mutex>(), log = std::move(o.log)](std::string_view line) {
        const std::lock_guard lock(*mutex);
        log(line);
    };
    return o;
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
