// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What clients may cost, what all of them together cost at the moment, and which of them wait until it is less.
#pragma once

#include <cogwheel/asio/wheel_timer.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

namespace rpc {

struct server_options {
    std::uint16_t port = 0;
    std::chrono::nanoseconds delay{0};
    std::chrono::nanoseconds idle = std::chrono::seconds{30};
    std::chrono::nanoseconds frame{0}; // 0: as idle
    std::chrono::nanoseconds write_timeout = std::chrono::seconds{10};
    std::chrono::nanoseconds grace = std::chrono::seconds{5};
    std::size_t connections = 10'000;
    std::size_t in_flight = 1'000; // of a client
    std::size_t backlog = 256 << 10;
    std::size_t all_in_flight = 100'000;
    std::size_t bytes = 64 << 20;
    std::uint64_t seed = 1;
    bool help = false;
};

/// Where a client waits. Cancelled: look again.
struct gate {
    cogwheel::wheel_timer timer;
    bool queued = false;
};

/// For one thread.
class load {
public:
    struct amount {
        std::size_t bytes = 0, requests = 0;
    };

    explicit load(const server_options& o) : limit_{o.bytes, o.all_in_flight} {}

    bool admits_request() const { return now_.requests < limit_.requests; }

    /// Frames that have begun could take all the bytes there are, and none would ever be complete: so one client may go
    /// beyond the limit with its frame. The next one may when that client has all its answers, or has left.
    bool admits_bytes(const std::shared_ptr<gate>& who, bool frame_has_begun) {
        if (now_.bytes < limit_.bytes) return true;
        if (frame_has_begun && favoured_.expired()) favoured_ = who;
        return frame_has_begun && favoured_.lock() == who;
    }

    /// The part of `who` is another one than before.
    void change(const std::shared_ptr<gate>& who, const amount& before, const amount& after) {
        if (after.bytes == 0 && favoured_.lock() == who) favoured_.reset();
        now_.bytes += after.bytes - before.bytes;
        now_.requests += after.requests - before.requests;
        most_.bytes = std::max(most_.bytes, now_.bytes);
        most_.requests = std::max(most_.requests, now_.requests);
        wake();
    }

    /// `who` is woken when there is room: first come, first served. It calls wake() when it has looked.
    void queue(const std::shared_ptr<gate>& who) {
        if (!std::exchange(who->queued, true)) waiting_.push_back(who);
    }

    /// Wakes the first who waits, if there is room. One only: it may fill it.
    void wake() {
        while (!waiting_.empty() && admits_request() && now_.bytes < limit_.bytes) {
            const auto first = waiting_.front().lock();
            waiting_.pop_front();
            if (first == nullptr) continue;
            first->queued = false;
            if (first->timer.cancel() != 0) return;
        }
    }

    const amount& most() const { return most_; }

private:
    const amount limit_;
    amount now_, most_;
    std::deque<std::weak_ptr<gate>> waiting_;
    std::weak_ptr<gate> favoured_;
};

} // namespace rpc
