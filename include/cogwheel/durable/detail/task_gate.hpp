// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a handler tells its worker of tasks that must wait: those that need the same thing have a key, such as the host
// of a callback. While it has no place, its tasks do not begin, and hold nothing.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// Thread safety: any thread.
class task_gate {
public:
    struct room {
        std::size_t places = 0; // tasks of the key that one worker may run at once
        bool broken = false;    // what they need has failed, and does not work again yet
    };

    virtual ~task_gate() = default;
    /// Returns the key of a task with this body; empty: it never waits.
    virtual std::string key_of(std::string_view body) const = 0;
    virtual room room_of(const std::string& key) const = 0;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
