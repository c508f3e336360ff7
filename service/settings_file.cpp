// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "settings.hpp"
#include "support/address.hpp"
#include "support/command_line.hpp"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <set>
#include <stdexcept>

#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace cogwheeld {

namespace {

/// Reads the keys of a table. finish() refuses those that nobody asked for.
class table_reader {
public:
    table_reader(const toml::table& table, std::string name, const std::string& file)
        : table_{table}, name_{std::move(name)}, file_{file} {}

    void text(std::string_view key, std::string& to) { read<std::string>(key, "a text", to); }
    void path(std::string_view key, std::filesystem::path& to) {
        std::string text = to.string();
        read<std::string>(key, "a text", text);
        to = text;
    }
    void flag(std::string_view key, bool& to) { read<bool>(key, "true or false", to); }

    template <class Number>
    void number(std::string_view key, Number& to, std::int64_t least, std::int64_t most) {
        const auto wanted = fmt::format("a whole number from {} to {}", least, most);
        auto value = std::numeric_limits<std::int64_t>::min();
        if (!read<std::int64_t>(key, wanted, value)) return;
        if (value < least || value > most) wrong(key, wanted);
        to = static_cast<Number>(value);
    }

    template <class Duration>
    void duration(std::string_view key, Duration& to) {
        std::string text;
        if (!read<std::string>(key, "a duration such as \"500ms\", \"30s\" or \"1h\"", text)) return;
        const auto read = command_line::reader::parse_duration(text, where(key));
        to = std::chrono::ceil<Duration>(read);
    }

    void texts(std::string_view key, const std::function<void(const std::string&)>& take) {
        known_.insert(std::string(key));
        const toml::node* const node = table_.get(key);
        if (node == nullptr) return;
        const toml::array* const all = node->as_array();
        if (all == nullptr) wrong(key, "a list of texts");
        for (const toml::node& one : *all) {
            const auto value = one.value_exact<std::string>();
            if (!value) wrong(key, "a list of texts");
            try {
                take(*value);
            } catch (const std::invalid_argument& error) {
                throw std::invalid_argument(fmt::format("{}: {}", where(key), error.what()));
            }
        }
    }

    const toml::table* table(std::string_view key) {
        known_.insert(std::string(key));
        const toml::node* const node = table_.get(key);
        if (node == nullptr) return nullptr;
        if (node->as_table() == nullptr) wrong(key, "a table");
        return node->as_table();
    }

    void finish() const {
        for (const auto& [key, node] : table_) {
            if (known_.contains(std::string(key.str()))) continue;
            std::string all;
            for (const auto& k : known_) all += (all.empty() ? "" : ", ") + k;
            throw std::invalid_argument(
                fmt::format("{}: there is no key '{}'; there are {}", place(node), full(key.str()), all));
        }
    }

    [[noreturn]] void wrong(std::string_view key, std::string_view wanted) const {
        throw std::invalid_argument(fmt::format("{}: give {}", where(key), wanted));
    }
    /// "FILE, line 7, limits.rate"
    std::string where(std::string_view key) const {
        const toml::node* const node = table_.get(key);
        return fmt::format("{}, {}", node != nullptr ? place(*node) : file_, full(key));
    }

private:
    template <class T, class To>
    bool read(std::string_view key, std::string_view wanted, To& to) {
        known_.insert(std::string(key));
        const toml::node* const node = table_.get(key);
        if (node == nullptr) return false;
        const auto value = node->value_exact<T>();
        if (!value) wrong(key, wanted);
        to = *value;
        return true;
    }
    std::string full(std::string_view key) const {
        return name_.empty() ? std::string(key) : fmt::format("{}.{}", name_, key);
    }
    std::string place(const toml::node& node) const {
        return fmt::format("{}, line {}", file_, node.source().begin.line);
    }

    const toml::table& table_;
    const std::string name_;
    const std::string& file_;
    std::set<std::string> known_;
};

cogwheel::durable_durability read_durability(const std::string& text) {
    if (text == "memory") return cogwheel::durable_durability::memory();
    if (text == "aof") return cogwheel::durable_durability::aof();
    constexpr std::string_view replicas = "replicas:";
    std::uint32_t n = 0;
    if (text.starts_with(replicas)) {
        const auto [end, failed] = std::from_chars(text.data() + replicas.size(), text.data() + text.size(), n);
        if (failed == std::errc{} && end == text.data() + text.size() && n >= 1 && n <= 100)
            return cogwheel::durable_durability::replicas(n);
    }
    throw std::invalid_argument(fmt::format("bad durability '{}': give memory, aof, or replicas:1 (to 100)", text));
}

void read_tasks(table_reader in, settings& to) {
    std::string durability;
    in.text("durability", durability);
    if (!durability.empty()) {
        try {
            to.queue.durability = read_durability(durability);
        } catch (const std::invalid_argument& error) {
            throw std::invalid_argument(fmt::format("{}: {}", in.where("durability"), error.what()));
        }
    }
    in.duration("replica_timeout", to.queue.replica_timeout);
    in.number("shards", to.queue.shards, 1, 1'024);
    in.duration("retention", to.queue.retention);
    in.number("max_done", to.queue.max_done, 1, 1'000'000'000);
    in.duration("dead_retention", to.queue.dead_retention);
    in.number("max_dead", to.queue.max_dead, 1, 1'000'000'000);
    in.flag("sync", to.sync);
    in.finish();
}

void read_callbacks(table_reader in, settings& to) {
    in.number("max_in_flight", to.max_in_flight, 1, 100'000);
    in.number("max_per_host", to.callbacks.max_per_host, 1, 100'000);
    in.duration("connect_timeout", to.callbacks.connect_timeout);
    in.duration("request_timeout", to.callbacks.request_timeout);
    in.duration("max_retry_after", to.callbacks.max_retry_after);
    in.duration("backoff_first", to.backoff_first);
    in.duration("backoff_cap", to.backoff_cap);
    in.duration("max_wait", to.max_wait);
    in.duration("lease", to.lease);
    in.text("ca_file", to.callbacks.ca_file);
    in.path("key_file", to.key_file);
    in.texts("allow_hosts", [&](const std::string& host) { to.callbacks.guard.hosts.push_back(host); });
    in.texts("allow_networks", [&](const std::string& network) {
        to.callbacks.guard.networks.push_back(cogwheel::ip_network::from_text(network));
    });
    in.flag("allow_private", to.callbacks.guard.allow_private);
    in.finish();
}

void read_limits(table_reader in, settings& to) {
    std::int64_t rate = std::llround(to.rate.rate), burst = std::llround(to.rate.burst);
    in.number("rate", rate, 0, 10'000'000);
    in.number("burst", burst, 1, 10'000'000);
    to.rate = {static_cast<double>(rate), static_cast<double>(burst)};
    in.number("connections", to.http.connections, 1, 1'000'000);
    in.number("head", to.http.request.head, 1'024, 65'536);
    in.number("body", to.http.request.body, 1'024, 64 << 20);
    in.number("bodies", to.http.bodies, 1'024, std::int64_t{1} << 40);
    in.duration("idle", to.http.idle);
    in.duration("head_within", to.http.head);
    in.duration("body_within", to.http.body);
    in.duration("progress_within", to.http.progress);
    in.finish();
}

} // namespace

void read_config(const std::filesystem::path& file, settings& to) {
    const std::string name = file.string();
    toml::table table;
    if (!std::ifstream(file)) throw std::system_error(errno, std::generic_category(), "config file " + name);
    try {
        table = toml::parse_file(name);
    } catch (const toml::parse_error& error) {
        throw std::invalid_argument(fmt::format("{}, line {}, column {}: {}", name, error.source().begin.line,
                                                error.source().begin.column, error.description()));
    }
    table_reader in(table, {}, name);
    in.text("redis", to.redis);
    in.path("data", to.data);
    in.text("namespace", to.queue.name);
    std::string listen;
    in.text("listen", listen);
    if (!listen.empty()) {
        try {
            to.listen = command_line::parse_endpoint(listen, in.where("listen"));
        } catch (const command_line::usage_error& error) {
            throw std::invalid_argument(error.what());
        }
    }
    in.path("token_file", to.token_file);
    std::string role = to.serves_api ? to.works ? "all" : "api" : "worker";
    in.text("role", role);
    if (role != "all" && role != "api" && role != "worker") in.wrong("role", "all, api or worker");
    to.serves_api = role != "worker";
    to.works = role != "api";
    in.duration("drain", to.drain);
    if (const auto* t = in.table("tasks")) read_tasks({*t, "tasks", name}, to);
    if (const auto* t = in.table("callbacks")) read_callbacks({*t, "callbacks", name}, to);
    if (const auto* t = in.table("limits")) read_limits({*t, "limits", name}, to);
    in.finish();
}

} // namespace cogwheeld
