// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// wheel_monitor: a program whose wheels can be watched. The page is at http://127.0.0.1:PORT/, and the metrics for
// Prometheus at /metrics.

#include "backend.hpp"
#include "support/command_line.hpp"
#include "support/statistics_signal.hpp"
#include "support/watch_endpoint.hpp"
#include "work.hpp"

#include <cogwheel/observe/debug_page.hpp>
#include <cogwheel/observe/metrics.hpp>

#include <asio/signal_set.hpp>
#include <fmt/format.h>

namespace {

constexpr std::string_view usage = R"(usage: wheel_monitor [options]
Three wheels with some work, a page that shows them live, and their metrics for Prometheus.

  --port P       port to listen on; 0 lets the system choose (default 0)
  --sessions N   sessions, each with a timer (default 20000)
  --block D      let one handler block the loop for D every two seconds, to see what that does (default 0s: never)
  --seconds S    end after S seconds; 0: at SIGINT or SIGTERM (default 0)

A duration D is a number and a unit: 500ms, 1.5s. SIGUSR1 prints statistics on standard error.
Exit code: 0 served until the end; 1 something failed on the way; 2 bad command line, or the port cannot be had.
)";

struct options {
    std::uint16_t port = 0;
    std::size_t sessions = 20'000;
    std::chrono::nanoseconds block{0}, seconds{0};
    bool help = false;
};

options parse_options(int argc, char** argv) {
    options result;
    for (command_line::reader line{argc, argv}; line.next();) {
        const auto name = line.name();
        if (name == "--port") {
            result.port = static_cast<std::uint16_t>(line.count(0, 65535));
        } else if (name == "--sessions") {
            result.sessions = line.count(1, 10'000'000);
        } else if (name == "--block") {
            result.block = line.duration();
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
    cogwheel::timer_wheel wheel{io}; // the endpoint's: its timers are not among those that it shows
    work work{io, wanted.sessions, wanted.block};
    cogwheel::timer_wheel calls{io};
    backend backend{calls};
    cogwheel::debug_page page;
    page.add("server", work.server());
    page.add("subscriptions", work.subscriptions());
    page.add("backend", calls);
    cogwheel::metrics metrics;
    metrics.add("server", work.server());
    metrics.add("subscriptions", work.subscriptions());
    backend.add_to(metrics);
    watch_endpoint endpoint{io.get_executor(),
                            wheel,
                            {.metrics = &metrics, .page = &page},
                            {asio::ip::address_v4::loopback(), wanted.port},
                            "wheel_monitor"};

    const auto summary = [&] {
        const auto& counts = endpoint.counts();
        const auto timers = work.server().stats();
        return fmt::format("pages    {} served, {} refused, {} dropped; {} viewers now\n"
                           "wheel    {} timers scheduled: {} fired, {} cancelled, {} pending\n",
                           counts.served, counts.refused, counts.dropped, counts.viewers, timers.scheduled,
                           timers.fired, timers.cancelled, timers.pending);
    };
    statistics_signal statistics{io.get_executor(), summary};
    asio::signal_set signals{io, SIGINT, SIGTERM};
    const auto stop = [&] {
        std::error_code ignored;
        signals.clear(ignored); // a second signal ends the process at once
        signals.cancel(ignored);
        statistics.stop();
        endpoint.stop();
        work.stop();
        calls.stop(); // ends the backend's work
        wheel.stop();
    };
    signals.async_wait([&](std::error_code ec, int) {
        if (!ec) stop();
    });
    if (wanted.seconds.count() > 0) wheel.schedule(wanted.seconds, stop);

    endpoint.start();
    work.start();
    backend.start();
    fmt::print("listening on {0}\npage on http://{0}/\n", endpoint.endpoint());
    output::flush();
    try {
        io.run();
    } catch (const std::exception& error) {
        output::complain("wheel_monitor: {}\n", error.what());
        return 1;
    }
    fmt::print("{}", summary());
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    return command_line::run("wheel_monitor", [&] {
        const options wanted = parse_options(argc, argv);
        if (!wanted.help) return serve(wanted);
        fmt::print("{}", usage);
        return 0;
    });
}
