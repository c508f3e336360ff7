// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The interface by which an engine reports its turns. A program that does not watch its wheels does not compile the
// class behind it (turn_hooks.hpp). It only pays for one look at a null pointer in each turn.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// All functions are called with the engine's lock, which is held again when they return.
template <class Lock>
class turn_watch {
public:
    /// A turn has ended. Releases the lock meanwhile. Errors: those of the user's code.
    virtual void turn_ended(Lock& lock) = 0;
    /// The engine has armed its driver for the time after a turn.
    virtual void driver_armed() noexcept = 0;
    /// The context shuts down. Releases the lock meanwhile.
    virtual void drop(Lock& lock) noexcept = 0;

protected:
    ~turn_watch() = default;
};

template <class Engine>
class turn_hooks;

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
