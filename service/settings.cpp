// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "settings.hpp"

#include "support/address.hpp"
#include "support/command_line.hpp"

#include <cogwheel/durable/redis_options.hpp>

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace cogwheeld {

const std::string_view usage = R"(usage: cogwheeld [options] | cogwheeld audit [options]
Durable timers as a service: schedule over HTTP, be called back over HTTP, lose nothing.

  --redis URL         redis://127.0.0.1:6379 | rediss://.. | unix:///PATH | sentinel://HOST:PORT,../NAME | cluster://..
  --data DIR          without --redis: the directory of the journal (default: cogwheeld-data)
  --listen ADDR:PORT  (default: 127.0.0.1:8090)
  --namespace N       the name of the queue (default: default)
  --config FILE       TOML; options win. docs/service.md has all keys
  --token-file F      bearer tokens, one a line; needed unless --listen is a loopback address
  --key-file F        keys that sign callbacks (whsec_..), one a line; none: callbacks are not signed
  --allow-host H      callbacks may reach this host, whatever its address; may be repeated
  --allow-network N   callbacks may reach these addresses, such as 10.1.0.0/16; may be repeated
  --allow-private     callbacks may reach every address: for a service whose callers are all trusted
  --max-in-flight N   callbacks at once (default: 256)
  --api-only          serves the interface, sends no callbacks; needs --redis
  --worker-only       sends callbacks, serves only health and metrics; needs --redis
  --version, --help

audit looks at each stored task, repairs what a hand or a damaged server left, and prints what it found.
SIGTERM finishes what is under way, and ends. SIGHUP reads files again: tokens, keys, allowed hosts, rate.
)";

namespace {

using command_line::usage_error;

// A member of a class, because options are read twice.
class options {
public:
    explicit options(settings& to) : to_{to} {}

    void read(command_line::reader& line) {
        const auto name = line.name();
        if (name == "--redis") {
            to_.redis = line.value();
        } else if (name == "--data") {
            to_.data = line.value();
            if (to_.data.empty()) throw usage_error("--data is empty: give a directory");
        } else if (name == "--listen") {
            to_.listen = command_line::read_endpoint(line);
        } else if (name == "--namespace") {
            to_.queue.name = line.value();
        } else if (name == "--token-file") {
            to_.token_file = line.value();
        } else if (name == "--key-file") {
            to_.key_file = line.value();
        } else if (name == "--allow-host") {
            to_.callbacks.guard.hosts.emplace_back(line.value());
        } else if (name == "--allow-network") {
            to_.callbacks.guard.networks.push_back(cogwheel::ip_network::from_text(line.value()));
        } else if (name == "--allow-private") {
            to_.callbacks.guard.allow_private = true;
        } else if (name == "--max-in-flight") {
            to_.max_in_flight = static_cast<std::uint32_t>(line.count(1, 100'000));
        } else if (name == "--api-only") {
            to_.works = false;
        } else if (name == "--worker-only") {
            to_.serves_api = false;
        } else {
            line.unknown();
        }
    }

private:
    settings& to_;
};

std::vector<cogwheel::webhook_key> read_keys(const std::filesystem::path& file) {
    std::ifstream in(file);
    if (!in) throw std::system_error(errno, std::generic_category(), "key file " + file.string());
    std::vector<cogwheel::webhook_key> keys;
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
        if (line.ends_with('\r')) line.pop_back();
        if (line.empty() || line.front() == '#') continue;
        try {
            keys.push_back(cogwheel::webhook_key::from_text(line));
        } catch (const std::invalid_argument& error) {
            throw std::invalid_argument(fmt::format("key file {}, line {}: {}", file.string(), number, error.what()));
        }
    }
    if (keys.empty()) throw std::invalid_argument(fmt::format("key file {} has no key", file.string()));
    return keys;
}

} // namespace

void complete(settings& s) {
    if (!s.token_file.empty()) s.tokens = credentials::from_file(s.token_file);
    if (!s.key_file.empty()) s.keys = read_keys(s.key_file);
    if (s.tokens.empty() && !s.listen.address().is_loopback())
        throw std::invalid_argument(
            fmt::format("{} is no loopback address: give --token-file FILE, so that not everybody can schedule "
                        "callbacks",
                        s.listen.address().to_string()));
    // Else those beyond would be opened anew for each callback.
    s.callbacks.max_idle_connections = std::max<std::size_t>(s.callbacks.max_idle_connections, s.max_in_flight);
    if (!s.serves_api && !s.works)
        throw std::invalid_argument("--api-only and --worker-only exclude each other: give one of them, or none");
    if (s.redis.empty() && !(s.serves_api && s.works))
        throw std::invalid_argument(
            "--api-only and --worker-only need --redis: a journal belongs to one process, which does both");
    s.callbacks.keys = s.keys;
    s.callbacks.max_in_flight = s.max_in_flight;
    s.callbacks.validate();
    s.queue.validate();
    if (!s.redis.empty()) s.queue.redis = cogwheel::redis_options::from_url(s.redis);
}

invocation read_arguments(int argc, char** argv) {
    invocation result;
    result.arguments.assign(argv, argv + argc);
    int first = 1;
    if (argc > 1 && std::string_view(argv[1]) == "audit") {
        result.what = invocation::command::audit;
        first = 2;
    }
    // The file comes first, so that options can replace its values.
    std::string config;
    settings ignored;
    for (command_line::reader line(argc - first + 1, argv + first - 1); line.next();) {
        if (line.name() == "--help" || line.name() == "-h") {
            result.what = invocation::command::help;
            return result;
        }
        if (line.name() == "--version") {
            result.what = invocation::command::version;
            return result;
        }
        if (line.name() == "--config")
            config = line.value();
        else
            options(ignored).read(line);
    }
    if (!config.empty()) read_config(config, result.wanted);
    for (command_line::reader line(argc - first + 1, argv + first - 1); line.next();) {
        if (line.name() == "--config")
            line.value();
        else
            options(result.wanted).read(line);
    }
    complete(result.wanted);
    return result;
}

} // namespace cogwheeld
