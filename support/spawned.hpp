// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Tokens for asio::co_spawn where nothing waits for the coroutine. asio::detached drops its exception: an accept loop
// that has died that way leaves a process that looks alive.
#pragma once

#include <exception>
#include <system_error>

/// An exception leaves the context's run(), and so ends the program.
inline constexpr auto rethrow = [](const std::exception_ptr& failure) {
    if (failure != nullptr) std::rethrow_exception(failure);
};

/// The same, but for errors of the network: peers may leave whenever they like.
inline constexpr auto rethrow_unless_network = [](const std::exception_ptr& failure) {
    try {
        rethrow(failure);
    } catch (const std::system_error&) {
    }
};
