// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What the clients are told, what they saw, and the judgement on it.
#pragma once

#include <asio/ip/address.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace load {

struct options {
    asio::ip::address address = asio::ip::address_v4::loopback();
    std::uint16_t port = 0;
    std::size_t connections = 2000;
    std::chrono::nanoseconds idle = std::chrono::seconds{2};
    std::chrono::nanoseconds chat = std::chrono::milliseconds{500};
    std::chrono::nanoseconds seconds{0}; // 0: as long as the timetable needs
    int server_pid = 0;                  // 0: the server's CPU time is not measured
    bool help = false;

    /// The silent connections fall silent one after the other within this time from the start.
    std::chrono::nanoseconds silence_spread = std::chrono::seconds{3};
};

/// How a silent connection was closed, by the client's clock.
///
/// The server's last activity lies between the client's last send and its receipt of that echo. So the time from just
/// *before the last send* is never shorter than what the server measured: "at least the idle limit" is a sound demand
/// on it. How late the server was is counted from the receipt: the round trip of the message is not its lateness.
struct kick {
    std::chrono::nanoseconds after_last_send;
    std::chrono::nanoseconds after_last_receipt;
};

struct results {
    std::uint64_t connected = 0;
    std::uint64_t waiting = 0; // silent, not closed yet
    std::uint64_t messages_sent = 0;
    std::uint64_t messages_intact = 0;
    std::uint64_t bytes_echoed = 0;
    std::uint64_t kicked_while_chatting = 0; // of those that chat to the end
    std::uint64_t kicked_before_silent = 0;  // of those that were to fall silent
    std::uint64_t stray_bytes = 0;           // received while silent
    std::uint64_t resets = 0;                // silent ones closed by a reset instead of an orderly end
    std::uint64_t never_kicked = 0;          // silent ones still open at the end
    std::uint64_t failed = 0;                // of which nobody knows what became
    std::vector<kick> kicks;
    std::string first_connect_error;
};

/// User and system time of a process so far; below zero if it cannot be read.
std::chrono::duration<double> cpu_time_of(int pid);

/// The table at the end. `cpu`: of the server, below zero if it is not known.
std::string table(const options& wanted, results seen, std::chrono::duration<double> cpu,
                  std::chrono::duration<double> elapsed);

/// A line for each promise that was not kept; empty if all were.
std::string broken_promises(const options& wanted, const results& seen);

} // namespace load
