// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// durable_demo: callbacks that survive the death of their workers and of Redis. One role schedules them, one delivers.
#include "roles.hpp"
#include "support/command_line.hpp"

namespace {

constexpr std::string_view usage = R"(usage: durable_demo --schedule N | --work [options]
The programs of `./dev demo durable`: callbacks that survive the death of their workers and of Redis.

  --schedule N  schedules N callbacks in Redis, and prints their due times
  --work        delivers callbacks until SIGTERM

  --redis URL   the server, such as unix:///tmp/redis.sock
  --name NAME   of the worker (default: host name and process id)
  --secret S    of the signature: whsec_ and base64 of 24 to 64 bytes
  --to URL      where callbacks go
  --first D     when the first callback is due (default 1s)
  --over D      time from the first to the last (default 10s)

A duration D is a number and a unit: 500ms, 1.5s, 2m, 1h.
)";

} // namespace

int main(int argc, char** argv) {
    return command_line::run("durable_demo", [&] {
        durable_demo::options wanted{.first = std::chrono::seconds(1), .over = std::chrono::seconds(10)};
        int (*role)(const durable_demo::options&) = nullptr;
        for (command_line::reader line(argc, argv); line.next();) {
            if (line.name() == "--schedule") {
                role = durable_demo::schedule;
                wanted.count = line.count(1, 1'000'000);
            } else if (line.name() == "--work") {
                role = durable_demo::work;
            } else if (line.name() == "--redis") {
                wanted.redis = line.value();
            } else if (line.name() == "--name") {
                wanted.name = line.value();
            } else if (line.name() == "--secret") {
                wanted.secret = line.value();
            } else if (line.name() == "--to") {
                wanted.to = line.value();
            } else if (line.name() == "--first") {
                wanted.first = line.duration();
            } else if (line.name() == "--over") {
                wanted.over = line.duration();
            } else if (line.name() == "--help" || line.name() == "-h") {
                fmt::print("{}", usage);
                return 0;
            } else {
                line.unknown();
            }
        }
        if (role == nullptr) throw command_line::usage_error("give --schedule N or --work (see --help)");
        if (wanted.redis.empty()) throw command_line::usage_error("--redis URL is missing (see --help)");
        return role(wanted);
    });
}
