// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a store remembers of the failed attempts of a task: the last ten, and of each message the first 200 bytes. In a
// server it is one value with the message of the last failure, its note:
//
//     1, size of the message (4 bytes), message; then of each attempt, the oldest first:
//     end in ms (8), number (2), 1 if its lease ran out (1), size of its message (1), its message
//
// Numbers are little-endian. A note that begins with another byte is a message only.
#pragma once

#include "task_store.hpp"

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

inline constexpr std::size_t most_past_attempts = 10;
inline constexpr std::size_t most_past_message = 200; // bytes

/// Makes this the message of the task, and its attempt the last one of the history. Complexity: O(1).
void remember_failure(stored_task&, std::int64_t ended_ms, bool lease_ran_out, std::string message);

std::string pack_note(const stored_task&);
/// A damaged note becomes the message, as it is.
void unpack_note(std::string note, stored_task&);

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
