// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// threaded_echo: an echo server with an io_context and a timer wheel for each thread.
//
// The main thread waits for signals on a context of its own. Nothing ends in silence: what a handler or a coroutine
// throws makes all workers drain, and the process exits with 1.

#include "support/address.hpp"
#include "support/command_line.hpp"
#include "support/descriptor_limit.hpp"
#include "support/listen.hpp"
#include "worker.hpp"

#include <asio/post.hpp>
#include <asio/signal_set.hpp>

#include <csignal>
#include <deque>
#include <exception>
#include <thread>
#include <vector>

namespace threaded {
namespace {

constexpr std::string_view usage =
    R"(usage: threaded_echo [options]
An echo server in which each thread has its own event loop, timer wheel and listening socket. The threads share nothing.

  --port P             port to listen on; 0 lets the system choose (default 0)
  --address A          address to listen on (default 127.0.0.1)
  --threads N          threads, each with a loop (default 2)
  --idle D             close a connection over which nothing has gone for D (default 30s)
  --write-timeout D    close a connection whose peer has taken none of its bytes for D (default 10s)
  --max-connections N  a thread with N connections closes further ones at once (default: no limit)
  --drain D            at the end, wait at most D for connections that still have bytes to send (default 5s)

A duration D is a number and a unit: 500ms, 1.5s, 2m, 1h.

SIGTERM or SIGINT ends the server. It closes the listening sockets, sends back what has arrived, and closes each
connection that has nothing to send. A second signal ends the process at once.
Exit code: 0; 1 if connections were cut at the end of --drain, or a thread failed; 2 if the server could not start.
)";

options parse_options(int argc, char** argv) {
    options result;
    command_line::reader line{argc, argv};
    while (line.next()) {
        const auto name = line.name();
        if (name == "--port") {
            result.port = static_cast<std::uint16_t>(line.count(0, 65535));
        } else if (name == "--address") {
            result.address = command_line::read_address(line);
        } else if (name == "--threads") {
            result.threads = static_cast<unsigned>(line.count(1, 256));
        } else if (name == "--idle") {
            result.idle = line.positive_duration();
        } else if (name == "--write-timeout") {
            result.write_timeout = line.positive_duration();
        } else if (name == "--max-connections") {
            result.max_connections = line.count(1, 1'000'000'000);
        } else if (name == "--drain") {
            result.drain = line.positive_duration();
        } else if (name == "--help" || name == "-h") {
            result.help = true;
            return result;
        } else {
            line.unknown();
        }
    }
    return result;
}

class server {
public:
    explicit server(const options& wanted) : options_{wanted} {
        // The first one learns the port if the system chooses it.
        asio::ip::tcp::endpoint at{options_.address, options_.port};
        for (unsigned i = 0; i < options_.threads; ++i) at = workers_.emplace_back(options_, at).endpoint();
        endpoint_ = at;
    }

    asio::ip::tcp::endpoint endpoint() const { return endpoint_; }

    /// Returns at the end of the last connection. Errors: the first failure of a thread.
    void run() {
        signals_.async_wait([this](std::error_code ec, int) {
            if (!ec) stop();
        });
        std::vector<std::jthread> threads; // joins
        try {
            for (worker& w : workers_) threads.emplace_back([this, &w] { run(w); });
            control_.run();
        } catch (...) {
            for (worker& w : workers_) w.drain();
            throw;
        }
        threads.clear();
        control_.restart();
        control_.poll(); // what failed after the signal
        if (failure_ != nullptr) std::rethrow_exception(failure_);
    }

    /// Prints a line for each thread. Returns the exit code.
    int conclude() const {
        bool good = true;
        for (std::size_t i = 0; i < workers_.size(); ++i) {
            fmt::print("thread {}: {}\n", i, workers_[i].summary());
            good = good && workers_[i].counted().cut == 0;
        }
        if (!good) output::complain("threaded_echo: connections were cut: they still had bytes to send\n");
        return good ? 0 : 1;
    }

private:
    /// What a handler throws ends the server in good order, not only this thread.
    void run(worker& w) {
        for (;;) {
            try {
                w.run();
                return;
            } catch (...) {
                asio::post(control_, [this, failure = std::current_exception()] {
                    if (failure_ == nullptr) failure_ = failure;
                    stop();
                });
            }
        }
    }

    void stop() {
        std::error_code ignored;
        signals_.clear(ignored); // a second signal ends the process at once
        signals_.cancel(ignored);
        for (worker& w : workers_) w.drain();
    }

    const options options_;
    asio::io_context control_{1};
    asio::signal_set signals_{control_, SIGINT, SIGTERM};
    std::deque<worker> workers_;
    asio::ip::tcp::endpoint endpoint_;
    std::exception_ptr failure_; // on control_
};

int serve(int argc, char** argv) {
    const options options = parse_options(argc, argv);
    if (options.help) {
        fmt::print("{}", usage);
        return 0;
    }
    raise_descriptor_limit();
    server server{options};
    fmt::print("listening on {}\n", to_text(server.endpoint()));
    output::flush();
    try {
        server.run();
    } catch (const std::exception& error) {
        output::complain("threaded_echo: {}\n", error.what());
        return 1;
    }
    return server.conclude();
}

} // namespace
} // namespace threaded

int main(int argc, char** argv) {
    return command_line::run("threaded_echo", [&] { return threaded::serve(argc, argv); });
}
