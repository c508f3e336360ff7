// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// One client: what it has asked, what it has not been told yet, and when it is read from.
//
// - All that the client costs belongs to its session, and goes with it: a timer knows the place of a request, not its
//   body.
// - A client that costs too much is not read from, and so has to wait with its next request, until its answers are on
//   their way and taken. The same holds when all clients together cost too much.
// - Meanwhile its idle limit rests. That it takes its answers is watched by the channel, that it is still there once a
//   second. For one thread.
#pragma once

#include "channel.hpp"
#include "load.hpp"

#include <list>
#include <random>

namespace rpc {

struct statistics {
    std::uint64_t connections = 0, requests = 0, answered = 0;
    std::uint64_t idle = 0, slow_frames = 0, bad_frames = 0, not_reading = 0, failed = 0; // dropped
};

class session : public std::enable_shared_from_this<session> {
public:
    session(cogwheel::timer_wheel& wheel, const server_options& limits, load& all, statistics& counts,
            std::mt19937_64& random, tcp::socket socket);
    session(const session&) = delete;
    session& operator=(const session&) = delete;
    ~session();

    /// Once, before serve().
    void prepare();

    /// Until the client leaves, a limit, or close(). The coroutine keeps `self`, which is this object, alive.
    /// Errors: std::system_error, the reason for the end.
    asio::awaitable<void> serve(std::shared_ptr<session> self);

    /// No request is taken any more. Those under way are answered; then the client is told the end, and serve() waits
    /// for its.
    void drain();

    /// Ends serve().
    void close();
    bool is_open() const { return channel_->is_open(); }
    bool does_not_read() const { return channel_->gave_up(); }

private:
    struct pending {
        frame request;
        cogwheel::timer_token ready;
    };
    using place = std::list<pending>::iterator;

    asio::awaitable<void> room();
    void handle(frame request);
    void answer(place p);
    void written(std::error_code ec, std::size_t answers);
    void account();
    void finish_if_drained();

    bool costs_too_much() const {
        return in_flight_.size() >= limits_.in_flight || in_flight_bytes_ + channel_->unsent() >= limits_.backlog;
    }
    bool may_go_on() const {
        return draining_ || (!costs_too_much() && all_.admits_request() &&
                             (channel_->frame_is_complete() || all_.admits_bytes(gate_, channel_->arrived() != 0)));
    }

    cogwheel::timer_wheel& wheel_;
    const server_options& limits_;
    load& all_;
    statistics& counts_;
    std::mt19937_64& random_;
    const std::shared_ptr<channel> channel_;
    const std::shared_ptr<gate> gate_;
    std::list<pending> in_flight_;
    std::size_t in_flight_bytes_ = 0;
    load::amount accounted_;
    bool draining_ = false;
};

} // namespace rpc
