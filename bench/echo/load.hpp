// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The clients' work: requests of 64 bytes, so many in flight, each on a random connection that has none.
//
// A closed loop: the next request starts when an answer has come, so the server is always as busy as it can be, and a
// server that stalls is asked less. The latencies are those of full load, most of which is waiting behind the others in
// flight; they compare servers, and say little about one that is half idle. On epoll, edge-triggered: cheaper than the
// server, which has to be the one who is waited for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench::echo {

/// What the clients saw.
struct report {
    std::uint64_t intact = 0; ///< answers that were what had been sent
    double wall_ns = 0;       ///< from the first request to the last answer
    double p50_ns = 0;
    double p99_ns = 0;
    double max_ns = 0;
    char error[120] = {}; ///< empty: none
};

/// Errors: std::system_error, std::runtime_error.
class load {
public:
    static constexpr std::size_t most_in_flight = 64;

    load();
    load(const load&) = delete;
    load& operator=(const load&) = delete;
    ~load();

    void connect(std::size_t connections, std::uint16_t port);
    report run(std::uint64_t requests, std::uint64_t seed);

private:
    using message = std::array<char, 64>;

    struct client {
        int socket = -1;
        std::size_t received = 0;
        message sent{};
        std::int64_t sent_at = 0; // 0: nothing in flight
        bool intact = true;
    };

    void send(client& c, std::uint64_t key);
    bool receive(client& c);

    int events_;
    std::vector<client> clients_;
};

} // namespace bench::echo
