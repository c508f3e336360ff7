// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include <cogwheel/asio/timer_wheel.hpp>
#include <cogwheel/observe/metrics.hpp>

#include <asio/io_context.hpp>

#include <string>

int main() {
    asio::io_context io;
    cogwheel::timer_wheel wheel{io};
    cogwheel::metrics metrics;
    metrics.add("server", wheel);
    wheel.schedule(std::chrono::hours(1), [] {}).cancel();

    std::string body;
    auto text = metrics.render();
    while (text.next(body)) {
    }
    return body.find("cogwheel_timers_scheduled_total{wheel=\"server\"") != std::string::npos ? 0 : 1;
}
