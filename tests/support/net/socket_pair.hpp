// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Two sockets of a stream that are connected: of the local kind where Asio has one, else of TCP.
#pragma once

#include <cogwheel/detail/platform.hpp>

#if COGWHEEL_WINDOWS
#include <asio/ip/tcp.hpp>
#else
#include <asio/local/connect_pair.hpp>
#include <asio/local/stream_protocol.hpp>
#endif

namespace cogwheel_tests {

#if COGWHEEL_WINDOWS

using stream_socket = asio::ip::tcp::socket;

inline void connect_pair(stream_socket::lowest_layer_type& a, stream_socket::lowest_layer_type& b) {
    asio::ip::tcp::acceptor acceptor(a.get_executor(), {asio::ip::address_v4::loopback(), 0});
    a.connect(acceptor.local_endpoint());
    acceptor.accept(b);
    a.set_option(asio::ip::tcp::no_delay(true));
    b.set_option(asio::ip::tcp::no_delay(true));
}

#else

using stream_socket = asio::local::stream_protocol::socket;

inline void connect_pair(stream_socket::lowest_layer_type& a, stream_socket::lowest_layer_type& b) {
    asio::local::connect_pair(a, b);
}

#endif

} // namespace cogwheel_tests
