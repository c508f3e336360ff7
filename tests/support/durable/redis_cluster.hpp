// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A Redis cluster of masters for tests.
#pragma once

#include "support/durable/redis_server.hpp"

#include <memory>

namespace cogwheel_tests {

class redis_cluster {
public:
    static constexpr int slots = 16'384;

    explicit redis_cluster(int masters = 3) {
        for (int i = 0; i < masters; ++i)
            nodes_.push_back(std::make_unique<redis_server>(redis_server_options{
                .arguments = {"--cluster-enabled", "yes", "--cluster-port", std::to_string(reserved_tcp_port()),
                              "--cluster-node-timeout", "1500", "--cluster-require-full-coverage", "no"},
                .port = reserved_tcp_port()}));
        for (int i = 0; i < masters; ++i) {
            const int first = slots * i / masters, last = slots * (i + 1) / masters - 1;
            expect(i, {"CLUSTER", "ADDSLOTSRANGE", std::to_string(first), std::to_string(last)});
            if (i == 0) continue;
            // The bus port of a node is known to itself only.
            expect(0, {"CLUSTER", "MEET", "127.0.0.1", std::to_string(node(i).tcp_address().port), bus_port(i)});
        }
        for (int i = 0; i < masters; ++i)
            if (!eventually([&] { return knows_all(i); }, std::chrono::seconds(30)))
                throw std::runtime_error("the cluster does not form: " + node(i).call({"CLUSTER", "INFO"}));
    }

    redis_server& node(int i) { return *nodes_.at(static_cast<std::size_t>(i)); }
    int size() const { return static_cast<int>(nodes_.size()); }
    std::string id(int i) { return node(i).call({"CLUSTER", "MYID"}); }
    /// Returns the node that had the slot at first.
    int owner(int slot) const {
        int i = 0;
        while (slot >= slots * (i + 1) / size()) ++i;
        return i;
    }
    cogwheel::redis_options client() {
        cogwheel::redis_options o;
        o.topology = cogwheel::redis_topology::cluster;
        for (int i = 0; i < size(); ++i) o.addresses.push_back(node(i).tcp_address());
        return o;
    }

    /// Between these two calls the slot migrates: a key that is not at `from` any more is asked for at `to`.
    void begin_migration(int slot, int from, int to) {
        expect(to, {"CLUSTER", "SETSLOT", std::to_string(slot), "IMPORTING", id(from)});
        expect(from, {"CLUSTER", "SETSLOT", std::to_string(slot), "MIGRATING", id(to)});
    }
    void move_key(const std::string& key, int from, int to) {
        expect(from, {"MIGRATE", "127.0.0.1", std::to_string(node(to).tcp_address().port), key, "0", "5000"});
    }
    void end_migration(int slot, int from, int to) {
        for (const int i : {to, from}) expect(i, {"CLUSTER", "SETSLOT", std::to_string(slot), "NODE", id(to)});
    }

private:
    void expect(int i, const std::vector<std::string>& command) {
        const auto reply = node(i).call(command);
        if (reply != "OK") throw std::runtime_error(command[0] + " " + command[1] + ": " + reply);
    }
    std::string bus_port(int i) {
        // id host:port@bus flags ...
        const auto text = node(i).call({"CLUSTER", "NODES"});
        const auto at = text.find('@');
        return text.substr(at + 1, text.find_first_not_of("0123456789", at + 1) - at - 1);
    }
    bool knows_all(int i) {
        const auto info = node(i).call({"CLUSTER", "INFO"});
        return info.find("cluster_state:ok") != std::string::npos &&
               info.find("cluster_slots_assigned:16384") != std::string::npos &&
               info.find("cluster_known_nodes:" + std::to_string(size())) != std::string::npos;
    }

    std::vector<std::unique_ptr<redis_server>> nodes_;
};

} // namespace cogwheel_tests
