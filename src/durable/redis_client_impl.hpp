// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What is behind redis_client: one connection, or those to the masters of a cluster.
#pragma once

#include "redis_connection_impl.hpp"

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// Thread safety: any thread.
class redis_client_impl {
public:
    virtual ~redis_client_impl() = default;

    virtual const redis_strand& strand() const noexcept = 0;
    virtual void start(redis_request_ptr request, std::vector<redis_command> commands) = 0;
    virtual void start_on_all(redis_command command, completion<std::vector<redis_reply>> done) = 0;
    virtual void wait(completion<void> done) = 0;
    virtual void close() = 0;
    virtual void set_hook(std::function<void(bool, error_code)> hook) = 0;
    virtual bool connected() const noexcept = 0;
    virtual int version() const noexcept = 0;
    virtual std::string node_of(std::string_view key) const = 0;
};

std::shared_ptr<redis_client_impl> make_cluster_client(const timer_wheel& wheel,
                                                       std::shared_ptr<const redis_options> options);

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
