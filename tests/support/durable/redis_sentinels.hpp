// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A master, a replica and three sentinels for tests.
#pragma once

#include "support/durable/redis_server.hpp"

#include <memory>

namespace cogwheel_tests {

struct redis_sentinels {
    redis_server master{{.arguments = {"--repl-diskless-sync-delay", "0"}, .port = reserved_tcp_port()}};
    redis_server replica{{.arguments = {"--replicaof", "127.0.0.1 " + std::to_string(master.tcp_address().port)},
                          .port = reserved_tcp_port()}};
    std::vector<std::unique_ptr<redis_server>> sentinels;

    /// Waits until all know each other. Errors: std::runtime_error.
    redis_sentinels() {
        const auto port = std::to_string(master.tcp_address().port);
        expect([&] { return replica.call({"ROLE"}).find("connected") != std::string::npos; });
        for (int i = 0; i < 3; ++i)
            sentinels.push_back(std::make_unique<redis_server>(
                redis_server_options{.port = reserved_tcp_port(),
                                     .sentinel = "sentinel monitor mymaster 127.0.0.1 " + port +
                                                 " 2\nsentinel down-after-milliseconds mymaster 300\n"
                                                 "sentinel failover-timeout mymaster 2000\n"}));
        for (const auto& s : sentinels)
            expect([&] {
                const auto text = s->call({"SENTINEL", "MASTER", "mymaster"});
                return text.find("num-slaves\n1\n") != text.npos && text.find("num-other-sentinels\n2\n") != text.npos;
            });
    }
    cogwheel::redis_options client() const {
        cogwheel::redis_options o;
        o.topology = cogwheel::redis_topology::sentinel;
        o.addresses.push_back({.host = "127.0.0.1", .port = 1}); // answers nothing
        for (const auto& s : sentinels) o.addresses.push_back(s->tcp_address());
        return o;
    }

private:
    template <class F>
    static void expect(F f) {
        if (!eventually(f, std::chrono::seconds(40))) throw std::runtime_error("the sentinels do not find each other");
    }
};

} // namespace cogwheel_tests
