// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// durable_node worker | client | journal: the programs that the chaos tests of durable tasks kill. See usage below. The
// programs durable_chaos.py and kill_durable_journal.py start them, and read what they say.
#include "durable_node.hpp"

#include <cstdio>
#include <exception>

namespace durable_node {
namespace {

constexpr const char* usage = R"(usage: durable_node worker|client|journal [options]
  --url URL             of the server (worker, client)
  --namespace NAME      of the queue (chaos)
  --shards N            (16)
  --durability TEXT     memory, aof (default) or replicas:N
  --replica-timeout MS  (1000)
  --id NAME             of the worker
  --socket PATH         where the worker sends a datagram for each attempt
  --lease MS            of the worker (2000)
  --in-flight N         of the worker (256)
  --directory PATH      of the journal and its log
  --life NAME           the first part of the ids that this process adds to the journal
  --finish              adds nothing, and ends when nothing is left in the journal
worker: prints "ready", and a line for each event; SIGTERM drains it.
client: reads, and does at the same time:
  add ID DELAY_MS RETRIES WORK_MS    once ID DELAY_MS RETRIES WORK_MS    every ID PERIOD_MS SPAN_MS WORK_MS
  cancel ID    counts    audit    quit
  It repeats what may be repeated, except once. It prints, for example:
  added ID DUE_MS GENERATION TRIES EXISTED    failed ID TRIES DUE_MS GENERATION WORDS
  cancelled ID cancelled|running|not_found TRIES WALL_NS    until ID MS (of every)
)";

cogwheel::durable_durability durability_named(std::string_view text) {
    if (text == "memory") return cogwheel::durable_durability::memory();
    if (text == "aof") return cogwheel::durable_durability::aof();
    constexpr std::string_view replicas = "replicas:";
    if (!text.starts_with(replicas)) throw std::invalid_argument("durability: memory, aof or replicas:N");
    return cogwheel::durable_durability::replicas(static_cast<std::uint32_t>(to_number(text.substr(replicas.size()))));
}

options parse(int argc, char** argv) {
    options o;
    for (int i = 2; i < argc; ++i) {
        const std::string_view name = argv[i];
        if (name == "--finish") {
            o.finish = true;
            continue;
        }
        if (++i == argc) throw std::invalid_argument(std::string(name) + " needs a value");
        const std::string_view value = argv[i];
        if (name == "--url")
            o.url = value;
        else if (name == "--namespace")
            o.name = value;
        else if (name == "--shards")
            o.shards = static_cast<std::uint32_t>(to_number(value));
        else if (name == "--durability")
            o.durability = durability_named(value);
        else if (name == "--replica-timeout")
            o.replica_timeout = std::chrono::milliseconds(to_number(value));
        else if (name == "--id")
            o.id = value;
        else if (name == "--socket")
            o.socket = value;
        else if (name == "--lease")
            o.lease = std::chrono::milliseconds(to_number(value));
        else if (name == "--in-flight")
            o.in_flight = static_cast<std::uint32_t>(to_number(value));
        else if (name == "--directory")
            o.directory = value;
        else if (name == "--life")
            o.life = value;
        else
            throw std::invalid_argument("unknown option " + std::string(name));
    }
    return o;
}

int run(int argc, char** argv) {
    const std::string_view command = argc > 1 ? argv[1] : "";
    if (command == "worker") return run_worker(parse(argc, argv));
    if (command == "client") return run_client(parse(argc, argv));
    if (command == "journal") return run_journal(parse(argc, argv));
    std::fputs(usage, stderr);
    return 2;
}

} // namespace
} // namespace durable_node

int main(int argc, char** argv) {
    try {
        return durable_node::run(argc, argv);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "durable_node: %s\n", e.what());
        return 2;
    }
}
