// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Coroutines of Boost.Cobalt wait for a wheel, and for an operation with a limit of time. `./dev compat --boost` builds
// it with sid's Boost.
#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/asio/timer_wheel.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/cobalt/main.hpp>
#include <boost/cobalt/op.hpp>
#include <boost/cobalt/promise.hpp>

#include <chrono>
#include <cstdio>

namespace cobalt = boost::cobalt;
using namespace std::chrono_literals;

cobalt::promise<int> waits(cogwheel::timer_wheel& wheel) {
    for (int i = 0; i < 3; ++i) co_await wheel.async_wait(2ms, cobalt::use_op);
    co_return 3;
}

cobalt::main co_main(int, char**) {
    cogwheel::timer_wheel wheel(co_await boost::asio::this_coro::executor, {.tick = 1ms});
    const int waited = co_await waits(wheel);
    boost::asio::steady_timer silent(co_await boost::asio::this_coro::executor, 1h);
    auto [ec] = co_await silent.async_wait(cogwheel::timeout(wheel, 3ms, boost::asio::as_tuple(cobalt::use_op)));
    std::printf("%d waits, then %s\n", waited, ec.message().c_str());
    co_return waited == 3 && ec == boost::asio::error::timed_out ? 0 : 1;
}
