// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// An idle_stream between other layers: how Boost.Beast finds the lowest one. The same objects with another executor.
#include <cogwheel/net/idle_stream.hpp>
#include <cogwheel/net/session_group.hpp>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <doctest/doctest.h>

#include <concepts>

using namespace cogwheel;

namespace {

using tcp_socket = asio::ip::tcp::socket;

// As Boost.Beast's get_lowest_layer().
template <class Layer>
auto& lowest_of(Layer& layer) {
    if constexpr (requires { layer.next_layer(); })
        return lowest_of(layer.next_layer());
    else
        return layer;
}

using io_executor = asio::io_context::executor_type;
template <class T>
using on_io = typename T::template rebind_executor<io_executor>::other;
static_assert(std::same_as<on_io<idle_stream<tcp_socket>>::executor_type, io_executor>);
static_assert(std::same_as<on_io<idle_monitor<>>, idle_monitor<timer_wheel, io_executor>>);
static_assert(std::same_as<on_io<session_group<>>::executor_type, io_executor>);

} // namespace

TEST_CASE("idle_stream_lowest_layer_is_below_all_next_layers") {
    asio::io_context io;
    timer_wheel wheel(io);
    idle_stream<tcp_socket> inner(wheel, {}, io);
    idle_stream<idle_stream<tcp_socket>&> outer(wheel, {}, inner);
    CHECK(&lowest_of(outer) == &inner.next_layer());
    CHECK(&outer.lowest_layer() == &inner.lowest_layer());
}
