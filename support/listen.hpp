// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A socket that listens, or an error that says where it could not.
#pragma once

#include <asio/ip/tcp.hpp>
#include <fmt/format.h>

#include <string>
#include <system_error>

inline std::string to_text(const asio::ip::tcp::endpoint& endpoint) {
    const auto address = endpoint.address().to_string();
    return endpoint.address().is_v6() ? fmt::format("[{}]:{}", address, endpoint.port())
                                      : fmt::format("{}:{}", address, endpoint.port());
}

/// Errors: std::system_error that names address and port.
inline asio::ip::tcp::acceptor listen_on(const asio::any_io_executor& executor,
                                         const asio::ip::tcp::endpoint& endpoint) {
    try {
        return {executor, endpoint};
    } catch (const std::system_error& error) {
        throw std::system_error{error.code(), fmt::format("cannot listen on {}", to_text(endpoint))};
    }
}
