// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// To be included after the headers whose order is tested.
#pragma once

#include "asio_as_seen.hpp"

#include <asio/any_io_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ip/udp.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <asio/strand.hpp>
#include <asio/thread_pool.hpp>

#define COGWHEEL_SIZE(type) {#type, sizeof(type)}
#define COGWHEEL_TEXT(...) #__VA_ARGS__
#define COGWHEEL_TEXT_OF_VALUE(name) COGWHEEL_TEXT(name)
#define COGWHEEL_VALUE(name) {#name, COGWHEEL_TEXT_OF_VALUE(ASIO_HAS_##name)}

namespace include_order {

// Internal: each file has its own.
static asio_as_seen look() {
    return {.sizes = {COGWHEEL_SIZE(asio::any_io_executor), COGWHEEL_SIZE(asio::cancellation_signal),
                      COGWHEEL_SIZE(asio::detail::event), COGWHEEL_SIZE(asio::detail::mutex),
                      COGWHEEL_SIZE(asio::detail::scheduler), COGWHEEL_SIZE(asio::detail::thread),
                      COGWHEEL_SIZE(asio::executor_work_guard<asio::any_io_executor>), COGWHEEL_SIZE(asio::io_context),
                      COGWHEEL_SIZE(asio::ip::tcp::acceptor), COGWHEEL_SIZE(asio::ip::tcp::resolver),
                      COGWHEEL_SIZE(asio::ip::tcp::socket), COGWHEEL_SIZE(asio::ip::udp::socket),
                      COGWHEEL_SIZE(asio::signal_set), COGWHEEL_SIZE(asio::steady_timer),
                      COGWHEEL_SIZE(asio::strand<asio::any_io_executor>), COGWHEEL_SIZE(asio::thread_pool)},
            .macros = {COGWHEEL_VALUE(BOOST_ALIGN), COGWHEEL_VALUE(EPOLL), COGWHEEL_VALUE(EVENTFD),
                       COGWHEEL_VALUE(IOCP), COGWHEEL_VALUE(IO_URING), COGWHEEL_VALUE(KQUEUE),
                       COGWHEEL_VALUE(LOCAL_SOCKETS), COGWHEEL_VALUE(PTHREADS), COGWHEEL_VALUE(STD_ALIGNED_ALLOC),
                       COGWHEEL_VALUE(STD_CHRONO), COGWHEEL_VALUE(STD_COROUTINE), COGWHEEL_VALUE(STD_MUTEX_AND_CONDVAR),
                       COGWHEEL_VALUE(STD_THREAD), COGWHEEL_VALUE(THREADS), COGWHEEL_VALUE(TIMERFD)}};
}

} // namespace include_order
