// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Finds the server to connect to, and connects.
#pragma once

#include "redis_dialer.hpp"

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// Used by one coroutine at a time.
class redis_finder {
public:
    virtual ~redis_finder() = default;
    /// Makes one attempt.
    virtual asio::awaitable<dialled> find(redis_dialer& dialer) = 0;
    /// Returns whether a READONLY reply means that another server is the right one now.
    virtual bool wants_master() const noexcept { return false; }
};

/// One address.
std::unique_ptr<redis_finder> make_fixed_finder(redis_address address);
/// Some node of a cluster, or of the addresses of a single server.
std::unique_ptr<redis_finder> make_any_finder(std::vector<redis_address> addresses);
/// The master that sentinels name, if its ROLE confirms it.
std::unique_ptr<redis_finder> make_sentinel_finder(std::vector<redis_address> sentinels, std::string master_name);

/// The one that the topology asks for, for a connection to any server of it.
std::unique_ptr<redis_finder> make_finder(const redis_options& o);

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
