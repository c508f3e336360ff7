// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The same as ../main.cpp, with Boost.Asio.
#include <cogwheel/asio/timer_wheel.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>

namespace asio = boost::asio;

asio::awaitable<void> wait(cogwheel::timer_wheel& wheel, bool& fired) {
    co_await wheel.async_wait(std::chrono::milliseconds(10), asio::use_awaitable);
    fired = true;
}

int main() {
    asio::io_context io;
    cogwheel::timer_wheel wheel{io};
    bool fired = false;
    asio::co_spawn(io, wait(wheel, fired), asio::detached);
    io.run();
    const boost::system::error_code stopped = cogwheel::errc::stopped;
    return fired && stopped.category() == cogwheel::errc_category() ? 0 : 1;
}
