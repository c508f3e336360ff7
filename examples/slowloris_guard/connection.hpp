// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// One client: its header, an answer, and goodbye. One timer watches over whatever it is at. For one thread.
#pragma once

#include "header_due.hpp"

#include <cogwheel/asio/callback_timer.hpp>

#include <asio/awaitable.hpp>
#include <asio/ip/tcp.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace guard {

using wheel = cogwheel::local_timer_wheel;

enum class verdict { served, late, too_large, gone };

struct counts {
    std::array<std::uint64_t, 4> connections{}; // by verdict
    std::uint64_t pieces = 0;
    std::uint64_t failed = 0; // for want of memory, say

    std::uint64_t& of(verdict v) { return connections[static_cast<std::size_t>(v)]; }
};

/// Ends what a socket is doing, at a time that moves.
class socket_timer {
public:
    socket_timer(const wheel& timers, asio::ip::tcp::socket& socket) : socket_{socket}, timer_{timers, {this}} {}
    socket_timer(const socket_timer&) = delete;
    socket_timer& operator=(const socket_timer&) = delete;

    /// What is under way is cancelled then. Later than before: a store.
    void cancel_at(clock::time_point at) { move_to(at, false); }
    void close_at(clock::time_point at) { move_to(at, true); }

    /// Since it was set the last time.
    bool fired() const { return fired_; }

private:
    void move_to(clock::time_point at, bool closes) {
        fired_ = false;
        closes_ = closes;
        timer_.schedule(at);
    }
    void fire();

    asio::ip::tcp::socket& socket_;
    cogwheel::callback_timer<cogwheel::member_call<&socket_timer::fire>, wheel> timer_;
    bool fired_ = false;
    bool closes_ = false;
};

class connection {
public:
    connection(asio::ip::tcp::socket socket, wheel& timers, const demands& demanded, counts& counted)
        : socket_{std::move(socket)}, timer_{timers, socket_}, demands_{demanded}, counts_{counted} {}

    /// Until the socket is closed. The connection outlives it.
    asio::awaitable<void> serve();

    /// Ends serve().
    void close();

private:
    asio::awaitable<verdict> read_header(); // main.cpp
    asio::awaitable<std::size_t> read_piece();
    asio::awaitable<void> answer(std::string_view text);
    bool header_is_complete();
    bool is_full() const { return size_ == data_.size(); }

    asio::ip::tcp::socket socket_;
    socket_timer timer_;
    const demands& demands_;
    counts& counts_;
    std::array<char, 8192> data_;
    std::size_t size_ = 0;    // of what has come
    std::size_t scanned_ = 0; // of which this much has been looked through
};

} // namespace guard
