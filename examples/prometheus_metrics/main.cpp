// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// prometheus_metrics: a program that Prometheus can watch. Its wheel has work of several kinds; the text of all metrics
// is at http://127.0.0.1:PORT/metrics.

#include "load.hpp"
#include "support/command_line.hpp"
#include "support/statistics_signal.hpp"
#include "support/watch_endpoint.hpp"

#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>
#include <fmt/format.h>

namespace {

constexpr std::string_view usage = R"(usage: prometheus_metrics [options]
A wheel with some work, and its metrics at http://127.0.0.1:PORT/metrics for Prometheus.

  --port P      port to listen on; 0 lets the system choose (default 0)
  --seconds S   end after S seconds; 0: at SIGINT or SIGTERM (default 0)

SIGUSR1 prints statistics on standard error.
Exit code: 0 served until the end; 1 something failed on the way; 2 bad command line, or the port cannot be had.
)";

struct options {
    std::uint16_t port = 0;
    std::chrono::nanoseconds seconds{0};
    bool help = false;
};

options parse_options(int argc, char** argv) {
    options result;
    for (command_line::reader line{argc, argv}; line.next();) {
        const auto name = line.name();
        if (name == "--port") {
            result.port = static_cast<std::uint16_t>(line.count(0, 65535));
        } else if (name == "--seconds") {
            result.seconds = line.duration("s");
        } else if (name == "--help" || name == "-h") {
            result.help = true;
            return result;
        } else {
            line.unknown();
        }
    }
    return result;
}

int serve(const options& wanted) {
    asio::io_context io{1};
    cogwheel::timer_wheel wheel{io};
    load work{wheel};
    cogwheel::metrics metrics;
    work.add_to(metrics);
    watch_endpoint endpoint{io.get_executor(),
                            wheel,
                            {.metrics = &metrics},
                            {asio::ip::address_v4::loopback(), wanted.port},
                            "prometheus_metrics"};
    const auto summary = [&] {
        const auto& counts = endpoint.counts();
        const auto timers = wheel.stats();
        return fmt::format("metrics  {} served, {} refused, {} dropped\n"
                           "wheel    {} timers scheduled: {} fired, {} cancelled, {} pending\n",
                           counts.served, counts.refused, counts.dropped, timers.scheduled, timers.fired,
                           timers.cancelled, timers.pending);
    };

    statistics_signal statistics{io.get_executor(), summary};
    asio::signal_set signals{io, SIGINT, SIGTERM};
    const auto stop = [&] {
        std::error_code ignored;
        signals.clear(ignored); // a second signal ends the process at once
        signals.cancel(ignored);
        statistics.stop();
        endpoint.stop();
        wheel.stop(); // ends the work
    };
    signals.async_wait([&](std::error_code ec, int) {
        if (!ec) stop();
    });
    if (wanted.seconds.count() > 0) wheel.schedule(wanted.seconds, stop);

    endpoint.start();
    work.start();
    fmt::print("listening on {}\n", endpoint.endpoint());
    output::flush();
    try {
        io.run();
    } catch (const std::exception& error) {
        output::complain("prometheus_metrics: {}\n", error.what());
        return 1;
    }
    fmt::print("{}", summary());
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    return command_line::run("prometheus_metrics", [&] {
        const options wanted = parse_options(argc, argv);
        if (!wanted.help) return serve(wanted);
        fmt::print("{}", usage);
        return 0;
    });
}
