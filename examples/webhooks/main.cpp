// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// webhooks: takes the HTTP callbacks of durable timers. It verifies the signature (Standard Webhooks 1.0), and does the
// work once for each id, however often it is delivered: receiver::judge(). And it is their sender: it schedules
// callbacks in Redis (schedule.cpp), and delivers them, although workers and Redis die (work.cpp).

#include "roles.hpp"
#include "server.hpp"
#include "support/address.hpp"
#include "support/command_line.hpp"
#include "support/descriptor_limit.hpp"
#include "support/statistics_signal.hpp"

#include <asio/signal_set.hpp>
#include <fmt/format.h>

#include <array>
#include <exception>
#include <functional>
#include <random>

namespace {

constexpr std::string_view usage = R"(usage: webhooks [options]
       webhooks --schedule N | --work [options]
Takes webhooks by POST, verifies them, and prints a line for each: its id, the attempt, and new, repeated or why refused.

  --address A          address to listen on (default 127.0.0.1)
  --port P             port to listen on; 0 lets the system choose (default 0)
  --secret S           whsec_ and base64 of 24 to 64 bytes; several times: one of them must have signed
                       (default: a new one, which is printed)
  --tolerance D        how far a timestamp may be from now (default 5m)
  --remember N         ids that are remembered (default 10000)
  --idle D             a connection without a request for D is closed (default 30s)
  --within D           a request that takes longer is refused (default 10s)
  --max-connections N  further ones are closed (default 1000)
  --max-body N         bytes; larger bodies are refused (default 1048576)
  --seconds S          end after S seconds; 0: at SIGINT or SIGTERM (default 0)

For demonstrations:
  --fail N             let N percent of the deliveries fail (default 0)
  --answer STATUS      the status with which they fail (default 503)
  --retry-after S      the header Retry-After of refusals and failures, in seconds
  --delay D            answer after D
  --times              end each line with the time of arrival, in milliseconds since 1970

Callbacks by way of Redis, to the receiver:
  --schedule N         schedules N callbacks, prints their due times, and ends when all of them are delivered
  --work               delivers callbacks until SIGTERM
  --redis URL          the server, such as unix:///run/redis.sock
  --name NAME          of the worker (default: host name and process id)
  --secret S           of the signature
  --to URL             where callbacks go
  --first D            when the first callback is due (default 1s)
  --over D             time from the first to the last (default 10s)

SIGUSR1 prints statistics on standard error. SIGINT and SIGTERM let requests under way finish.
Exit code: 0 served until the end; 1 something failed on the way; 2 bad command line, or the port cannot be had.
)";

struct options {
    server_options web;
    receiver::options rules;
    std::chrono::nanoseconds seconds{0};
    bool times = false;
    bool help = false;
};

options parse_options(int argc, char** argv) {
    options result;
    auto address = result.web.address.address();
    std::uint16_t port = 0;
    for (command_line::reader line{argc, argv}; line.next();) {
        const auto name = line.name();
        if (name == "--address") {
            address = command_line::read_address(line);
        } else if (name == "--port") {
            port = static_cast<std::uint16_t>(line.count(0, 65535));
        } else if (name == "--secret") {
            const auto text = line.value();
            try {
                result.rules.keys.push_back(cogwheel::webhook_key::from_text(text));
            } catch (const std::invalid_argument& e) {
                throw command_line::usage_error{fmt::format("bad value for --secret: {}", e.what())};
            }
        } else if (name == "--tolerance") {
            result.rules.tolerance = std::chrono::ceil<std::chrono::seconds>(line.duration());
        } else if (name == "--remember") {
            result.rules.remembered = line.count(1, 100'000'000);
        } else if (name == "--idle") {
            result.web.idle = line.positive_duration();
        } else if (name == "--within") {
            result.web.within = line.positive_duration();
        } else if (name == "--max-connections") {
            result.web.max_connections = line.count(1, 1'000'000);
        } else if (name == "--max-body") {
            result.web.max_body = line.count(1, 1'000'000'000);
        } else if (name == "--seconds") {
            result.seconds = line.duration("s");
        } else if (name == "--fail") {
            result.rules.fail_percent = static_cast<unsigned>(line.count(0, 100));
        } else if (name == "--answer") {
            result.rules.fail_status = static_cast<int>(line.count(300, 599));
        } else if (name == "--retry-after") {
            result.web.retry_after = std::to_string(line.count(0, 1'000'000));
        } else if (name == "--delay") {
            result.web.delay = line.duration();
        } else if (name == "--times") {
            result.times = true;
        } else if (name == "--help" || name == "-h") {
            result.help = true;
            return result;
        } else {
            line.unknown();
        }
    }
    result.web.address = {address, port};
    return result;
}

int deliver(int argc, char** argv) {
    webhooks::delivery_options wanted;
    int (*role)(const webhooks::delivery_options&) = webhooks::work;
    for (command_line::reader line{argc, argv}; line.next();) {
        const auto name = line.name();
        if (name == "--schedule") {
            role = webhooks::schedule;
            wanted.count = line.count(1, 1'000'000);
        } else if (name == "--redis") {
            wanted.redis = line.value();
        } else if (name == "--name") {
            wanted.name = line.value();
        } else if (name == "--secret") {
            wanted.secret = line.value();
        } else if (name == "--to") {
            wanted.to = line.value();
        } else if (name == "--first") {
            wanted.first = line.duration();
        } else if (name == "--over") {
            wanted.over = line.duration();
        } else if (name != "--work") {
            line.unknown();
        }
    }
    if (wanted.redis.empty()) throw command_line::usage_error("--redis URL is missing (see --help)");
    return role(wanted);
}

cogwheel::webhook_key new_key() {
    std::random_device random;
    std::array<std::byte, 32> secret{};
    for (auto& byte : secret) byte = static_cast<std::byte>(random());
    return cogwheel::webhook_key{secret};
}

void print_delivery(const http_request& request, const verdict& v, bool times) {
    const std::chrono::duration<double, std::milli> now = std::chrono::system_clock::now().time_since_epoch();
    const auto attempt = request.header("cogwheel-attempt");
    fmt::print("{} {}{}{}: {} ({}){}\n", v.status, request.header("webhook-id"), attempt.empty() ? "" : " attempt ",
               attempt, v.words, request.body.size(), times ? fmt::format(" at {:.3f}", now.count()) : "");
    output::flush();
}

int serve(options wanted) {
    raise_descriptor_limit();
    const bool makes_key = wanted.rules.keys.empty();
    if (makes_key) wanted.rules.keys.push_back(new_key());
    const std::string secret = wanted.rules.keys.front().text();
    asio::io_context io{1};
    receiver judge{std::move(wanted.rules)};
    std::function<void()> stop;
    std::exception_ptr unprinted;
    server web{io, wanted.web, judge, [&](const http_request& request, const verdict& v) {
                   try {
                       print_delivery(request, v, wanted.times);
                   } catch (...) { // standard output cannot be written: ends the program
                       unprinted = std::current_exception();
                       stop();
                   }
               }};
    statistics_signal statistics{io.get_executor(), [&] { return web.summary(); }};
    asio::signal_set signals{io, SIGINT, SIGTERM};
    cogwheel::timer_wheel ends{io};
    stop = [&] {
        std::error_code ignored;
        signals.clear(ignored); // a second signal ends the process at once
        signals.cancel(ignored);
        statistics.stop();
        ends.stop();
        web.stop();
    };
    signals.async_wait([&](std::error_code ec, int) {
        if (!ec) stop();
    });
    if (wanted.seconds.count() > 0) ends.schedule(wanted.seconds, stop);

    web.start();
    fmt::print("listening on {}\n", web.endpoint());
    if (makes_key) fmt::print("secret {}\n", secret);
    output::flush();
    io.run();
    if (unprinted) std::rethrow_exception(unprinted);
    fmt::print("{}", web.summary());
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    return command_line::run("webhooks", [&] {
        const std::string_view role = argc > 1 ? argv[1] : "";
        if (role.starts_with("--schedule") || role == "--work") return deliver(argc, argv);
        const options wanted = parse_options(argc, argv);
        if (!wanted.help) return serve(wanted);
        fmt::print("{}", usage);
        return 0;
    });
}
